"""``topogate identity``: collect what a host runs, put reports of hosts together, check them against a plan.

``collect`` and ``merge`` print a report (``topogate.identity/v1``), which ``topogate check`` takes. ``check`` is the
check after a launch, without a server: exit 0 only where every key and every rank is what was decided. ``post`` sends
reports of hosts to a server (``identity_post``).
"""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from planner.command.base import (
    Command,
    Exit,
    Refused,
    UnreadableInputError,
    add_format,
    json_line,
    opened,
    print_refused,
)
from planner.command.host import host_name, process_environment
from planner.command.identity_collect import Asked, gathered
from planner.command.identity_post import configure_post, run_post
from planner.errors import DocumentRefusedError, Problem
from planner.identity_check import KeyDifference, RankDifference, key_differences, rank_differences
from planner.identity_environment import environment_of
from planner.identity_report import IdentityReport, MergeRefusedError, merged, read_report, report_tree
from planner.intake import read_contract, read_evidence, read_plan
from planner.launch import LaunchRefusedError, planned_trial
from planner.pointers import joined
from planner.records.base import stated
from planner.shown import shown
from planner.strict_json import read
from planner.times import time_text


def _configure(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    collect = commands.add_parser("collect", help="say what runs on this host, each value with its source")
    collect.add_argument("--contract", metavar="CONTRACT", help="contract whose keys and device ids are meant")
    collect.add_argument("--node", metavar="ID", help="which node of the contract this host is")
    collect.add_argument(
        "--packages", action="append", default=[], metavar="FOLDER", help="where packages are installed"
    )
    collect.add_argument("--model", metavar="FOLDER", help="files of the model")
    collect.add_argument("--tokenizer", metavar="FOLDER", help="files of the tokenizer (default: the model's)")
    collect.add_argument("--log", action="append", default=[], metavar="FILE", help="log of the engine")
    collect.add_argument("--world-size", type=int, metavar="N", help="ranks in all (default: as the log says)")
    collect.add_argument(
        "--host", action="append", default=[], type=_pair, metavar="NAME=NODE", help="a host of the log"
    )
    collect.add_argument(
        "--given", action="append", default=[], metavar="FILE", help="what a person states, as identity"
    )
    collect.add_argument("--pid", type=int, metavar="PID", help="process of the engine, for its environment")
    collect.add_argument("--timeout", type=float, default=20, metavar="SECONDS", help="for every program that is asked")
    collect.set_defaults(run_identity=_collect)
    merge = commands.add_parser("merge", help="put reports of several hosts together")
    merge.add_argument("reports", nargs="+", metavar="REPORT")
    merge.set_defaults(run_identity=_merge)
    check = commands.add_parser("check", help="compare what was launched with what was decided")
    for name in ("contract", "evidence", "plan"):
        check.add_argument(name, metavar=name.upper())
    check.add_argument("reports", nargs="+", metavar="REPORT", help="reports of all hosts")
    add_format(check)
    check.set_defaults(run_identity=_check)
    post = commands.add_parser("post", help="send reports of hosts to a server")
    configure_post(post)
    post.set_defaults(run_identity=run_post)


def _pair(text: str) -> tuple[str, str]:
    host, equals, node = text.partition("=")
    if not (host and equals and node):
        raise ArgumentTypeError(f"expected NAME=NODE, found {text!r}")
    return host, node


def _run(arguments: Namespace) -> int:
    code: int = arguments.run_identity(arguments)
    return code


def _collect(arguments: Namespace) -> int:
    refused: Refused = {}
    contract = None if arguments.contract is None else opened(read_contract, arguments.contract, refused)
    given = {name: opened(_identity_tree, name, refused) for name in arguments.given}
    if refused:
        print_refused(refused, "text")
        return Exit.BAD_INPUT
    try:
        variables = dict(os.environ) if arguments.pid is None else process_environment(arguments.pid)
        found = gathered(
            Asked(
                contract=contract,
                node=arguments.node,
                folders=tuple(arguments.packages),
                model=arguments.model,
                tokenizer=arguments.tokenizer,
                logs=tuple(arguments.log),
                nodes=dict(arguments.host),
                given={name: tree for name, tree in given.items() if tree is not None},
                world_size=arguments.world_size,
                timeout_s=arguments.timeout,
            )
        )
    except (UnreadableInputError, OSError) as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT
    report = report_tree(
        found,
        host=host_name(),
        node=arguments.node,
        collected_at=time_text(datetime.now(UTC).replace(microsecond=0)),
        environment=environment_of(variables),
        bound=None if contract is None else msgspec.to_builtins(contract.record.identity),
    )
    print(json_line(report))
    for entry in report["missing"]:
        print(f"not at hand: {entry['what']}: {entry['because']}", file=sys.stderr)
    for entry in report["conflicts"]:
        print(f"two sources differ: {entry['what']}: {entry['source']}, {entry['other_source']}", file=sys.stderr)
    return Exit.OK


def _identity_tree(raw: bytes) -> dict[str, Any]:
    """Read what a person states: an object in the shape of a contract's identity, or one that has it as a field.

    Raises:
        DocumentRefusedError: it is none.
    """
    reading = read(raw)
    tree = reading.tree
    if isinstance(tree, dict) and isinstance(tree.get("identity"), dict):
        tree = tree["identity"]
    if reading.problems or not isinstance(tree, dict):
        wrong = Problem("document/type", "", "an object in the shape of a contract's identity", shown(tree))
        raise DocumentRefusedError(reading.problems or (wrong,))
    return tree


def _merge(arguments: Namespace) -> int:
    reports = _reports(arguments.reports, "text")
    if reports is None:
        return Exit.BAD_INPUT
    try:
        print(json_line(merged(reports)))
    except MergeRefusedError as error:
        _print_torn(error)
        return Exit.NO
    return Exit.OK


def _reports(names: Sequence[str], form: str) -> list[IdentityReport] | None:
    refused: Refused = {}
    reports = [opened(read_report, name, refused) for name in names]
    if refused:
        print_refused(refused, form)
        return None
    return [report for report in reports if report is not None]


def _print_torn(error: MergeRefusedError) -> None:
    for text in error.conflicts:
        print(f"topogate: reports differ: {text}", file=sys.stderr)


def _check(arguments: Namespace) -> int:
    refused: Refused = {}
    contract = opened(read_contract, arguments.contract, refused)
    evidence = opened(lambda raw: read_evidence(raw, contract), arguments.evidence, refused)
    plan = opened(read_plan, arguments.plan, refused)
    reports = _reports(arguments.reports, arguments.format)
    if contract is None or evidence is None or plan is None or reports is None:
        print_refused(refused, arguments.format)
        return Exit.BAD_INPUT
    try:
        _, trial = planned_trial(contract, evidence, plan)
        live = read_report(json_line(merged(reports)).encode()).live
    except LaunchRefusedError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT
    except MergeRefusedError as error:
        _print_torn(error)
        return Exit.NO
    validity = stated(contract.record.validity)
    keys = key_differences(
        msgspec.to_builtins(contract.record.identity),
        live,
        rank_map_digest=plan.selected.rank_map_digest if plan.selected else "",
        requalify_on=None if validity is None else stated(validity.requalify_on),
    )
    keys += tuple(_labels(reports, plan.selected.rank_map_digest if plan.selected else ""))
    ranks = rank_differences(msgspec.to_builtins(trial.rank_map), live.get("placement", {}).get("rank_map", []))
    _print_check(keys, ranks, arguments.format)
    return Exit.NO if keys or ranks else Exit.OK


def _labels(reports: Sequence[IdentityReport], rank_map: str) -> Iterator[KeyDifference]:
    """Yield the hosts on which something runs that was launched with the label of another rank map."""
    for report in reports:
        for name, found in report.environment.items():
            # In reports of several hosts the host stands before the name.
            if name.rpartition("/")[2] == "TOPOGATE_RANK_MAP" and found != rank_map:
                yield KeyDifference(joined(("environment", report.host, name)), "differs", rank_map, found)


def _print_check(keys: Sequence[KeyDifference], ranks: Sequence[RankDifference], form: str) -> None:
    if form == "json":
        print(
            json_line(
                {
                    "schema": "topogate.launch-check/v1",
                    "matches": not (keys or ranks),
                    "keys": [{**_fields(one), "section": one.section} for one in keys],
                    "ranks": [_fields(one) for one in ranks],
                }
            )
        )
        return
    if not (keys or ranks):
        print("yes: every key and every rank is what was decided")
    for key in keys:
        found = "nothing" if key.how == "missing" else json_line(key.found)
        print(f"{key.how} {key.key} ({key.section}): decided {json_line(key.expected)}, found {found}")
    for rank in ranks:
        print(
            f"{rank.how} rank {rank.rank} {rank.what}: decided {rank.expected or 'none'}, found {rank.found or 'none'}"
        )


def _fields(one: KeyDifference | RankDifference) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


COMMAND = Command(id="identity", help="collect, merge, check and post what runs", configure=_configure, run=_run)
