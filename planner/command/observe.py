"""``topogate observe``: production's metrics as a batch, and batches against what was qualified.

``convert`` prints a batch (``topogate.observations/v1``) of Prometheus texts, ``post`` sends one to a server;
``compare`` holds batches against the evidence and limits of a plan's topology, rank by rank: exit 1 where a limit is
broken; ``slowest`` names the rank that the others wait for.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

from planner.command.base import (
    Command,
    Exit,
    Refused,
    UnreadableInputError,
    add_format,
    input_file,
    json_line,
    opened,
    print_refused,
)
from planner.command.observe_post import configure_post
from planner.command.opening import utc_time
from planner.errors import DocumentRefusedError
from planner.importers import Source
from planner.intake import read_contract, read_evidence, read_plan
from planner.launch import LaunchRefusedError, planned_trial
from planner.observations import Batch, Compared, compared, envelope, read_batch, rolled_up, worst_first
from planner.observations.decided import Decided, decided, is_moe
from planner.observations.diagnosis import Reading, diagnosed, diagnosis_tree
from planner.observations.scrapes import MAPPINGS, Said, batch_bytes, places_of
from planner.observations.slowest import LATE_US
from planner.observations.slowest_text import diagnosis_lines
from planner.observations.words import range_text, value_text
from planner.shown import printable
from planner.times import seconds_between

SHOWN = 50
"""Lines of text that are printed; JSON holds all."""


def _configure(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    convert = commands.add_parser("convert", help="make a batch of Prometheus texts of vLLM, SGLang, DCGM, nodes")
    convert.add_argument("files", nargs="+", metavar="FILE", help="scrapes; two of one exporter make a span")
    convert.add_argument("--slot", required=True, metavar="SLOT")
    convert.add_argument("--subject", required=True, metavar="DIGEST", help="subject of the revision in force")
    convert.add_argument("--source", required=True, metavar="NAME", help="what collected it")
    convert.add_argument("--start", required=True, type=utc_time, metavar="TIME", help="of the first scrape")
    convert.add_argument("--end", required=True, type=utc_time, metavar="TIME", help="of the last scrape")
    convert.add_argument("--group", action="append", default=[], metavar=MAPPINGS["group"])
    convert.add_argument("--rank", action="append", default=[], metavar=MAPPINGS["rank"])
    convert.add_argument("--link", action="append", default=[], metavar=MAPPINGS["link"])
    convert.set_defaults(run_observe=_convert)
    configure_post(commands.add_parser("post", help="send a batch to a server, and hear what breaks a limit"))
    compare = commands.add_parser("compare", help="hold batches against what was qualified")
    for name in ("contract", "evidence", "plan"):
        compare.add_argument(name, metavar=name.upper())
    compare.add_argument("batches", nargs="+", metavar="BATCH")
    add_format(compare)
    compare.set_defaults(run_observe=_compare)
    late = commands.add_parser("slowest", help="find the rank that others wait for, in a trace of collectives")
    late.add_argument("traces", nargs="+", metavar="TRACE", help="one call of one rank a row: CSV or JSON lines")
    late.add_argument("--log", action="append", default=[], metavar="FILE", help="engine's log, for time-outs")
    late.add_argument("--ras", action="append", default=[], metavar="FILE", help="snapshots of NCCL RAS, shown beside")
    late.add_argument("--evidence", metavar="EVIDENCE", help="evidence with decided rank map, stages, measured times")
    late.add_argument("--trial", metavar="ID", help="its trial")
    late.add_argument(
        "--late-us", type=float, default=LATE_US, metavar="N", help="waiting that counts, in microseconds"
    )
    add_format(late)
    late.set_defaults(run_observe=_slowest)


def _run(arguments: Namespace) -> int:
    code: int = arguments.run_observe(arguments)
    return code


def _convert(arguments: Namespace) -> int:
    said = Said(
        slot=arguments.slot,
        subject=arguments.subject,
        source=arguments.source,
        started_at=arguments.start,
        ended_at=arguments.end,
    )
    given = {name: getattr(arguments, name) for name in MAPPINGS}
    try:
        with ExitStack() as files:
            sources = [Source(name, files.enter_context(input_file(name))) for name in arguments.files]
            found = batch_bytes(sources, said, places_of(given, said))
    except UnreadableInputError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT
    except DocumentRefusedError as error:
        print_refused({"scrapes": error.problems}, "text")
        return Exit.BAD_INPUT
    for note in found.notes:
        print(f"left out: {note}", file=sys.stderr)
    try:
        read_batch(found.raw)
    except DocumentRefusedError as error:
        print_refused({"batch": error.problems}, "text")
        return Exit.BAD_INPUT
    print(found.raw.decode())
    return Exit.OK


def _compare(arguments: Namespace) -> int:
    refused: Refused = {}
    contract = opened(read_contract, arguments.contract, refused)
    evidence = opened(lambda raw: read_evidence(raw, contract), arguments.evidence, refused)
    plan = opened(read_plan, arguments.plan, refused)
    batches = [opened(read_batch, name, refused) for name in arguments.batches]
    if contract is None or evidence is None or plan is None or refused:
        print_refused(refused, arguments.format)
        return Exit.BAD_INPUT
    try:
        trial_id, trial = planned_trial(contract, evidence, plan)
    except LaunchRefusedError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT
    given = [batch for batch in batches if batch is not None]
    strangers = sorted({batch.slot for batch in given} - {contract.record.slot})
    if strangers:
        print(f"topogate: expected batches of {contract.record.slot}, found {', '.join(strangers)}", file=sys.stderr)
        return Exit.BAD_INPUT
    found = compared(envelope(contract, trial_id, trial), rolled_up(given), _seconds(given))
    _print(found, arguments.format)
    return Exit.NO if any(one.state == "BREACH" for one in found) else Exit.OK


def _slowest(arguments: Namespace) -> int:
    refused: Refused = {}
    evidence = None if arguments.evidence is None else opened(read_evidence, arguments.evidence, refused)
    if refused:
        print_refused(refused, arguments.format)
        return Exit.BAD_INPUT
    known = Decided()
    if evidence is not None:
        trial = evidence.record.trials.get(arguments.trial)
        if trial is None:
            print(f"topogate: expected --trial of {', '.join(evidence.record.trials)}", file=sys.stderr)
            return Exit.BAD_INPUT
        known = decided(trial, moe=is_moe(evidence.record.identities.get(trial.identity_id)))
    reading = Reading()
    try:
        for kind, names in (("trace", arguments.traces), ("log", arguments.log), ("ras", arguments.ras)):
            for name in names:
                _take(reading, name, kind)
    except (UnreadableInputError, DocumentRefusedError) as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT
    found = diagnosed(reading, known, late_us=arguments.late_us)
    if arguments.format == "json":
        print(json_line(diagnosis_tree(found)))
    else:
        print("".join(f"{line}\n" for line in diagnosis_lines(found)), end="")
    return Exit.OK


KINDS = {"trace": "a trace of collectives", "ras": "snapshots of NCCL RAS", "log": "a log", None: "nothing of use"}


def _take(reading: Reading, name: str, kind: str) -> None:
    """Read one file; a log without a time-out says nothing, and is no error.

    Raises:
        UnreadableInputError: it cannot be read, or is not what it was given as.
        DocumentRefusedError: it cannot be unpacked, or is no text.
    """
    with input_file(name) as file:
        found = reading.add(Source(name, file))
    if found != kind and (kind, found) != ("log", None):
        raise UnreadableInputError(name, KINDS[found], expected=KINDS[kind])


def _seconds(batches: Sequence[Batch]) -> Fraction:
    """Return the seconds that batches cover: spans of several collectors are the same seconds."""
    by_source: dict[str, Fraction] = {}
    for batch in batches:
        seconds = seconds_between(batch.started_at, batch.ended_at) or Fraction(0)
        by_source[batch.source] = by_source.get(batch.source, Fraction(0)) + seconds
    return max(by_source.values())


def _print(found: Sequence[Compared], form: str) -> None:
    if form == "json":
        print(json_line({"schema": "topogate.compared/v1", "compared": [_tree(one) for one in found]}))
        return
    ordered = worst_first(found)
    for one in ordered[:SHOWN]:
        print(_line(one))
    if len(ordered) > SHOWN:
        print(f"and {len(ordered) - SHOWN} more")


def _tree(one: Compared) -> dict[str, Any]:
    key, entry = one.key, one.entry
    where = {"rank": key.rank, "group": key.group, "link": key.link, "shape": key.shape, "phase": key.phase}
    return {
        "metric": key.metric,
        "statistic": entry.statistic,
        **{name: value for name, value in where.items() if value not in ("", -1)},
        "state": one.state,
        "drifted": one.drifted,
        "because": one.because,
        **({"source": one.source} if one.source else {}),
        **{name: _number(getattr(one, name)) for name in ("low", "high", "used", "drift")},
        "limit": _number(entry.limit),
        "limit_at": entry.limit_at,
        "qualified": _number(entry.qualified),
        "qualified_at": entry.qualified_at,
    }


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _line(one: Compared) -> str:
    state = "DRIFT" if one.drifted and one.state != "BREACH" else one.state
    parts = [f"{state} {one.key.metric} {one.entry.statistic} of {', '.join(_where(one)) or 'all groups'}:"]
    is_known = one.low is not None
    parts.append(f"{_range(one)}," if is_known else one.because)
    for word, bound in (("limit", one.entry.limit), ("measured", one.entry.qualified)):
        if bound is not None:
            parts.append(f"{word} {_text(one, bound)},")
    if one.used is not None:
        parts.append(f"{float(one.used * 100):,.6g} % used,")
    if one.source:
        parts.append(f"said by {printable(one.source)},")
    line = " ".join(parts).rstrip(",")
    return f"{line}. {one.because}" if is_known and one.because else line


def _where(one: Compared) -> Iterator[str]:
    key = one.key
    if key.rank >= 0:
        yield f"rank {key.rank}"
    if key.group >= 0:
        yield f"group {key.group}"
    yield from (f"{name} {value}" for name, value in (("link", key.link), ("shape", key.shape)) if value)


def _range(one: Compared) -> str:
    return range_text(_number(one.low), _number(one.high), one.key.metric, one.entry.statistic)


def _text(one: Compared, value: Fraction) -> str:
    return value_text(float(value), one.key.metric, one.entry.statistic)


COMMAND = Command(id="observe", help="hold production against what was qualified", configure=_configure, run=_run)
