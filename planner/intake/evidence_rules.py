"""What joins the fields of evidence beyond their types, and what binds it to a contract.

A rank map that names a node, device or NIC which the contract does not have is no matter of intake: the placement
gate answers it for that trial.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from planner.documents import ContractDocument
from planner.errors import Problem
from planner.intake.likeness import look_alikes
from planner.intake.parts import array_at, missing, object_at, objects_at, referenced, value_at
from planner.pointers import child, steps
from planner.shown import shown

__all__ = ["binding_problems", "evidence_problems", "load_point_problems"]


def evidence_problems(tree: Any, bodies: Mapping[str, bytes], contract: ContractDocument | None) -> Iterator[Problem]:
    """Yield what is wrong with evidence beyond the types of its fields.

    ``bodies`` is trial id -> canonical form of the trial's body. Without a contract the binding is not looked at.
    """
    if contract is not None:
        yield from _binding(tree, contract)
    yield from chain.from_iterable(rule(tree) for rule in _RULES)
    yield from _equal_trials(bodies)


def binding_problems(contract: ContractDocument, *, bound: Any, scope: Any) -> Iterator[Problem]:
    """Yield what binds evidence to another contract or slot; a value that is no text is judged with the types."""
    slot = contract.record.slot
    if type(scope) is str and scope != slot:
        yield Problem("document/other_slot", "/scope", f"the contract's slot, {shown(slot)}", shown(scope))
    if type(bound) is str and bound != contract.content_id:
        found = f"{shown(bound)}: evidence belongs to another parallelism contract"
        yield Problem("document/other_contract", "/contract_content_id", shown(contract.content_id), found)


def _binding(tree: Any, contract: ContractDocument) -> Iterator[Problem]:
    bound = value_at(tree, "contract_content_id")
    yield from binding_problems(contract, bound=bound, scope=value_at(tree, "scope"))
    if bound == contract.content_id:
        named = ((pointer, window.get("load_point")) for pointer, _, _, window in _windows(tree))
        yield from load_point_problems(contract, named)


def load_point_problems(contract: ContractDocument, named: Iterable[tuple[str, Any]]) -> Iterator[Problem]:
    """Yield load points that the contract does not have; ``named`` are pointers of windows with theirs."""
    known = contract.record.identity.workload.load_points
    for pointer, load_point in named:
        yield from referenced(load_point, known, "a load point of the contract", f"{pointer}/load_point")


def _windows(tree: Any) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    for trial_pointer, trial_id, trial in objects_at(tree, "trials"):
        for pointer, window_id, window in objects_at(trial, "windows"):
            yield trial_pointer + pointer, trial_id, window_id, window


def _identities(tree: Any) -> Iterator[Problem]:
    known = object_at(tree, "identities")
    for pointer, _, trial in objects_at(tree, "trials"):
        yield from _named_identity(trial, known, pointer)
        yield from _named_identity(object_at(trial, "baseline"), known, f"{pointer}/baseline")
        for at, _, score in objects_at(trial, "quality"):
            yield from _named_identity(score, known, pointer + at)


def _named_identity(holder: dict[str, Any], known: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    what = "an identity of this evidence"
    yield from referenced(holder.get("identity_id"), known, what, f"{pointer}/identity_id")


def _sources(tree: Any) -> Iterator[Problem]:
    """Yield sources of values that the evidence does not have, in files that it does not name, or from nowhere."""
    known = object_at(tree, "provenance", "files")
    for pointer, at, source in objects_at(tree, "provenance", "sources"):
        if not _leads_somewhere(tree, at):
            yield Problem("document/unknown_reference", pointer, "a pointer to a value of this evidence", shown(at))
        if not _ORIGINS & source.keys():
            yield missing(f"{pointer}/file", "file, answered_by or derived_from")
        yield from referenced(source.get("file"), known, "a file of this evidence", f"{pointer}/file")
        for index, other in enumerate(array_at(source, "derived_from")):
            if type(other) is str and not _leads_somewhere(tree, other):
                expected = "a pointer to a value of this evidence"
                yield Problem("document/unknown_reference", f"{pointer}/derived_from/{index}", expected, shown(other))


_ORIGINS = {"file", "answered_by", "derived_from"}


def _leads_somewhere(tree: Any, pointer: str) -> bool:
    for step in steps(pointer):
        if type(tree) is dict and step in tree:
            tree = tree[step]
        elif type(tree) is list and _INDEX.fullmatch(step) and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            return False
    return pointer.startswith("/")


_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


def _rank_order(tree: Any) -> Iterator[Problem]:
    for pointer, _, trial in objects_at(tree, "trials"):
        for index, placed in enumerate(array_at(trial, "rank_map")):
            rank = value_at(placed, "rank")
            if type(rank) is int and rank != index:
                expected = f"{index}, the position in rank_map"
                yield Problem("document/rank_order", f"{pointer}/rank_map/{index}/rank", expected, shown(rank))


def _times(tree: Any) -> Iterator[Problem]:
    yield from _calendar(value_at(tree, "provenance", "collected_at"), "/provenance/collected_at")
    for pointer, _, _, window in _windows(tree):
        start, end = window.get("start"), window.get("end")
        wrong = [*_calendar(start, f"{pointer}/start"), *_calendar(end, f"{pointer}/end")]
        yield from wrong
        # Times of one form and one zone are ordered as text.
        if not wrong and type(start) is str and type(end) is str and len(start) == len(end) and end < start:
            yield Problem("document/time", f"{pointer}/end", f"a time not before start, {start}", shown(end))


def _calendar(value: Any, pointer: str) -> Iterator[Problem]:
    """Yield a problem for a time of the right form that no calendar has."""
    if type(value) is not str or len(value) not in (19, 20):
        return
    try:
        datetime.fromisoformat(value)
    except ValueError:
        yield Problem("document/time", pointer, "a time that exists", shown(value))


def _whole_numbers(tree: Any) -> Iterator[Problem]:
    """Yield a problem for bytes or tokens of a rank that are not whole: such a figure has another unit."""
    for pointer, _, _, window in _windows(tree):
        for at, name, metric in objects_at(window, "per_rank"):
            values = array_at(metric, "values")
            # Asked of the whole array first: evidence has very many values, and hardly ever one that is not whole.
            if name.endswith(_WHOLE) and float in map(type, values):
                yield from _not_whole(values, name, f"{pointer}{at}/values")


def _not_whole(values: Sequence[Any], name: str, pointer: str) -> Iterator[Problem]:
    for rank, value in enumerate(values):
        if type(value) is float:
            yield Problem("document/type", f"{pointer}/{rank}", f"an integer, because {name} counts", shown(value))


def _look_alikes(tree: Any) -> Iterator[Problem]:
    for first, later in look_alikes(object_at(tree, "trials")):
        expected = f"an id that does not look like {shown(first)}"
        yield Problem("document/confusable_id", child("/trials", later), expected, shown(later))


def _equal_trials(bodies: Mapping[str, bytes]) -> Iterator[Problem]:
    first: dict[bytes, str] = {}
    for trial, body in bodies.items():
        earlier = first.setdefault(body, trial)
        if earlier != trial:
            expected = f"a trial that differs from {shown(earlier)}"
            yield Problem("document/duplicate_trial", child("/trials", trial), expected, "an equal one")


_WHOLE = ("_bytes", "_tokens")
_RULES = (_identities, _sources, _rank_order, _times, _whole_numbers, _look_alikes)
