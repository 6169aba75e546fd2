"""``topogate requalify``: what has to be measured or judged again after a change, and why.

Compared are a contract with a newer revision of it (``--to``), or with reports of machines (``--report``), as the page
*Measure again* compares them; with evidence its age counts as well. Exit 0 where nothing is to be done, 1 where
something is.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

import msgspec

from planner.command.base import Command, Exit, Refused, add_format, json_line, opened, print_refused
from planner.command.opening import as_of, utc_time
from planner.documents import ContractDocument
from planner.identity_given import given_differences
from planner.identity_report import IdentityReport, read_report
from planner.intake import read_contract, read_evidence, read_plan
from planner.records.plan import Plan
from planner.requalification import (
    Change,
    Requalification,
    contract_changes,
    identity_changes,
    requalification,
    too_old,
)
from planner.requalification.written import UNCOUNTED, because_text, change_sides, requalification_tree
from planner.shown import printable


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("contract", metavar="CONTRACT", help="contract that was decided on")
    parser.add_argument("--to", metavar="CONTRACT", help="newer revision of it")
    parser.add_argument("--report", action="append", default=[], metavar="REPORT", help="report of one host or several")
    parser.add_argument("--plan", metavar="PLAN", help="plan whose rank map the reports are held against")
    parser.add_argument("--evidence", metavar="EVIDENCE", help="evidence of the decision: its trials and their age")
    parser.add_argument("--as-of", type=utc_time, metavar="TIME", help="judge ages at this UTC time (default: now)")
    add_format(parser)


def _run(arguments: Namespace) -> int:
    refused: Refused = {}
    contract = opened(read_contract, arguments.contract, refused)
    newer = None if arguments.to is None else opened(read_contract, arguments.to, refused)
    plan = None if arguments.plan is None else opened(read_plan, arguments.plan, refused)
    reports = [opened(read_report, name, refused) for name in arguments.report]
    evidence = None
    if arguments.evidence is not None:
        evidence = opened(lambda raw: read_evidence(raw, contract), arguments.evidence, refused)
    if contract is None or refused:
        print_refused(refused, arguments.format)
        return Exit.BAD_INPUT
    changes = _changes(contract, newer, [report for report in reports if report is not None], plan)
    if evidence is not None:
        changes += too_old(newer or contract, evidence, as_of(arguments))
    answer = requalification(newer or contract, changes, evidence)
    if arguments.format == "json":
        print(json_line(requalification_tree(answer)))
    else:
        print("".join(f"{printable(line)}\n" for line in _lines(answer)), end="")
    return Exit.NO if answer.gates or answer.runs else Exit.OK


def _changes(
    contract: ContractDocument, newer: ContractDocument | None, reports: list[IdentityReport], plan: Plan | None
) -> tuple[Change, ...]:
    found = () if newer is None else contract_changes(contract, newer)
    selected = None if plan is None else plan.selected
    differences = given_differences(
        msgspec.to_builtins(contract.record.identity),
        () if selected is None else msgspec.to_builtins(selected.rank_map),
        reports,
        rank_map_digest="" if selected is None else selected.rank_map_digest,
    )
    return found + identity_changes(differences, contract)


def _lines(answer: Requalification) -> Iterator[str]:
    if not answer.changes:
        yield "nothing changed"
    for change in answer.changes:
        sides = " -> ".join(change_sides(change))
        where = "" if change.load_point is None else f" at {change.load_point}"
        rest = "" if change.counts or change.kind in UNCOUNTED else ", not in requalify_on"
        yield f"{change.kind}{where}: {change.key} {sides} ({change.section}{rest})"
    for how, words in (("measure", "measure again"), ("judge", "judge again")):
        for gate in answer.gates:
            if gate.how == how:
                limits = f" {', '.join(gate.limits)}" if gate.limits else ""
                yield f"{words}: {gate.gate}{limits}; {because_text(gate.because)}"
    for run in answer.runs:
        trials = f"; of {', '.join(run.trials)}" if run.trials else ""
        yield f"run again: {run.run}{trials}; {because_text(run.because)}"
    if answer.changes:
        kept = [" ".join((gate.gate, *gate.limits)) for gate in answer.kept] + [
            f"run {run}" for run in answer.kept_runs
        ]
        yield f"stays valid: {'; '.join(kept) or 'nothing'}"


COMMAND = Command(
    id="requalify", help="say what to measure or judge again after a change", configure=_configure, run=_run
)
