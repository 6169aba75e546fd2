"""What reports in somebody's hand say otherwise than decided: as posting them would tell it, and nothing is kept.

Rules kept: a host answers for what it says, an identity of the whole slot for every key; every key counts, also one
that ``requalify_on`` lets pass. How old a report is does not matter: it is only thought of.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError
from planner.identity_check import KeyDifference, key_differences
from planner.identity_live import Decided, placed_of, said_of
from planner.identity_report import read_report
from reviews.errors import Finding, InvalidRequestError
from reviews.models import Activation
from reviews.policies.host_reports import MAX_REPORT_BYTES, MAX_REPORTS, is_of_a_host
from reviews.selectors.decided import decided_by
from reviews.selectors.reported_changes import told_once
from reviews.selectors.slot_check import live_identity

__all__ = ["given_changes"]


def given_changes(
    documents: Sequence[bytes], contract: ContractDocument, activation: Activation | None
) -> tuple[KeyDifference, ...]:
    """Return each key that some of the reports shows otherwise, once, the rank map last.

    Without an activation there is no rank map that ranks are held against.

    Raises:
        InvalidRequestError: with what is wrong with every one of them.
        TamperedError: stored bytes of what was put into force were changed.
    """
    bound = msgspec.to_builtins(contract.record.identity)
    placed, digest = ((), "") if activation is None else (decided_by(activation).ranks, activation.rank_map_digest)
    decided = Decided.of(bound, placed, rank_map_digest=digest)
    found: list[KeyDifference] = []
    problems: list[Finding] = []
    if len(documents) > MAX_REPORTS:
        problems.append(
            _wrong("request/report_count", "identity", f"at most {MAX_REPORTS} reports", f"{len(documents)}")
        )
    for number, raw in enumerate(documents[:MAX_REPORTS]):
        try:
            found += _said(raw, "identity" if len(documents) == 1 else f"identity[{number}]", decided, bound)
        except InvalidRequestError as refused:
            problems += refused.problems
    if problems:
        raise InvalidRequestError(tuple(problems))
    return told_once(found, digest)


def _said(raw: bytes, at: str, decided: Decided, bound: dict[str, Any]) -> tuple[KeyDifference, ...]:
    if len(raw) > MAX_REPORT_BYTES:
        raise InvalidRequestError(
            (_wrong("request/report_size", at, f"at most {MAX_REPORT_BYTES:,} bytes", f"{len(raw):,} bytes"),)
        )
    if not is_of_a_host(raw):
        return key_differences(bound, live_identity(raw, at), rank_map_digest=decided.rank_map_digest)
    try:
        report = read_report(raw)
    except DocumentRefusedError as refused:
        found = tuple(Finding.of(one, "request", pointer=f"{at}{one.pointer}") for one in refused.problems)
        raise InvalidRequestError(found) from refused
    node = "" if isinstance(report.node, msgspec.UnsetType) else report.node
    return said_of(decided, report.identity, placed_of(report), node=node).differs


def _wrong(code: str, at: str, expected: str, found: str) -> Finding:
    return Finding("request", code, at, expected, found)
