"""What changed: between two revisions of a contract, between a decision and a machine, or by age alone."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from planner.document_diff import document_diff
from planner.documents import ContractDocument, EvidenceDocument
from planner.identity_check import KeyDifference, section_of
from planner.matrix.collection import CLIENT_FIELDS, TOOLS
from planner.pointers import is_below, joined, steps
from planner.records.base import stated
from planner.requalification.rules import kind_of
from planner.times import parsed_time, seconds_between, time_text

__all__ = ["AgesOut", "Change", "ages_out", "contract_changes", "identity_changes", "too_old"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One key that changed. ``kind`` is of ``STALE``, or ``limit`` and ``contract`` for what is no identity.

    ``counts`` says whether ``validity.requalify_on`` lets it end a decision in force. ``before`` and ``after`` are what
    messages show. ``metrics`` limits what is stale to these; ``trials`` to these, where it is not None.
    """

    key: str
    kind: str
    section: str
    before: Any
    after: Any
    counts: bool = True
    metrics: frozenset[str] | None = None
    load_point: str | None = None
    trials: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgesOut:
    """The load point of a trial that becomes too old next, and when (UTC)."""

    at: str
    trial: str
    load_point: str


def contract_changes(before: ContractDocument, after: ContractDocument) -> tuple[Change, ...]:
    """Return every leaf that two revisions of a contract say otherwise, in the order of places."""
    found = document_diff(msgspec.to_builtins(before.record), msgspec.to_builtins(after.record))
    return tuple(_change(each.pointer, each.before, each.after, after) for each in found)


def identity_changes(differences: Iterable[KeyDifference], contract: ContractDocument) -> tuple[Change, ...]:
    """Return the differences of a machine from what was decided as changes."""
    return tuple(_change(f"/identity{each.key}", each.expected, each.found, contract) for each in differences)


def _change(pointer: str, before: Any, after: Any, contract: ContractDocument) -> Change:
    kind = kind_of(pointer)
    path = steps(pointer)
    point = path[3] if path[:3] == ("identity", "workload", "load_points") and len(path) > 3 else None
    validity = stated(contract.record.validity)
    counted = None if validity is None else stated(validity.requalify_on)
    counts = kind == "placement" or counted is None or is_below(pointer, *counted)
    of_identity = path[:1] == ("identity",)
    return Change(
        key=pointer,
        kind=kind,
        section=section_of(joined(path[1:])) if of_identity else joined(path[:1]),
        before=before,
        after=after,
        counts=counts and of_identity,
        metrics=_brought(path[2:3], contract) if kind == "telemetry" else None,
        load_point=point,
    )


def _brought(path: tuple[str, ...], contract: ContractDocument) -> frozenset[str] | None:
    """Return the metrics of a collector whose name begins with that of a known tool; None for any other."""
    collector = (stated(contract.record.identity.telemetry) or {}).get("".join(path))
    tool = "" if collector is None else collector.name.split(" ")[0].lower()
    known = {**CLIENT_FIELDS, **TOOLS}
    return frozenset(known[tool]) if tool in known else None


def too_old(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> tuple[Change, ...]:
    """Return a change for every load point whose windows are older than the contract lets them be, by trial."""
    validity = stated(contract.record.validity)
    most = None if validity is None else stated(validity.max_evidence_age_s)
    if most is None:
        return ()
    old: dict[str, dict[str, str]] = {}
    for trial_id, trial in evidence.record.trials.items():
        for window in trial.windows.values():
            age = seconds_between(window.end, as_of)
            if age is None or age > most:
                ends = old.setdefault(window.load_point, {})
                ends[trial_id] = min(window.end, ends.get(trial_id, window.end))
    return tuple(
        Change(
            key="/validity/max_evidence_age_s",
            kind="age",
            section="/validity",
            before=min(ends.values()),
            after=as_of,
            load_point=point,
            trials=frozenset(ends),
        )
        for point, ends in sorted(old.items())
    )


def ages_out(contract: ContractDocument, evidence: EvidenceDocument, as_of: str) -> AgesOut | None:
    """Return what becomes too old next; None where the contract sets no age, or everything is too old already."""
    validity = stated(contract.record.validity)
    most = None if validity is None else stated(validity.max_evidence_age_s)
    if most is None:
        return None
    ends: dict[tuple[str, str], str] = {}
    for trial_id, trial in evidence.record.trials.items():
        for window in trial.windows.values():
            key = (trial_id, window.load_point)
            ends[key] = min(window.end, ends.get(key, window.end))
    coming = []
    for (trial_id, point), end in ends.items():
        measured = parsed_time(end)
        age = seconds_between(end, as_of)
        if measured is None or age is None or age > most:
            continue
        try:
            # An age of exactly the most is young enough.
            coming.append((time_text(measured + timedelta(seconds=most)), trial_id, point))
        except OverflowError:
            continue  # beyond the year 9999
    if not coming:
        return None
    at, trial_id, point = min(coming)
    return AgesOut(at=at, trial=trial_id, load_point=point)
