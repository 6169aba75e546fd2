"""What the gates of the contract still lack, trial by trial, in the planner's own words.

A trial is judged as it would be in the document, alone, with stand-ins where intake needs a field that a person has
not given: a proposed rank map, windows that count, times without a zone. A stand-in is only ever looked at: the gates
that rest on one are shown as waiting for it, and no document is made of it. Where not even that can be judged, every
gate lacks what its limits ask for.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planner.builder.assembly import document_tree
from planner.builder.bringing import brought_by
from planner.builder.pointing import ANY
from planner.builder.records import Draft
from planner.builder.state import Breach, Difference, GateCoverage, Lack, Question, RequiredCoverage, TrialCoverage
from planner.builder.trees import Trees
from planner.canonical import canonical_bytes
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError
from planner.evaluate import judge
from planner.gates import GATES
from planner.gates.base import Gate
from planner.identity import contract_leaves, same
from planner.intake import read_evidence
from planner.order import order_expand
from planner.pointers import joined
from planner.presence import presence, want_required
from planner.records.base import UnsetType
from planner.records.plan import Candidate, LimitOutcome
from planner.view import TrialView, views

__all__ = ["Judged", "judged_trials"]

Json = Any
NO_ZONE = "2000-01-01T00:00:00"
"""A time that no gate takes for one: without a zone, freshness is UNKNOWN and names the field."""


@dataclass(frozen=True)
class Judged:
    """What judging every trial gave."""

    coverage: tuple[TrialCoverage, ...]
    checks: tuple[Breach, ...]
    differences: tuple[Difference, ...]


def judged_trials(
    draft: Draft, contract: ContractDocument, trees: Trees, questions: Iterable[Question], as_of: str
) -> Judged:
    """Judge every trial of the draft as far as it goes; ``as_of`` as for a plan."""
    asked: dict[str, dict[str, Question]] = {name: {} for name in trees.trials}
    for question in questions:
        if question.trial in asked:
            asked[question.trial][question.field] = question
    coverage: list[TrialCoverage] = []
    checks: list[Breach] = []
    for name in trees.trials:
        view, stand_ins, problem = _view(draft, contract, trees, name, asked[name], as_of)
        coverage.append(_covered(contract, name, view, stand_ins, problem, asked[name]))
        checks += _checks(view) if view is not None else ()
    return Judged(tuple(coverage), tuple(checks), tuple(_differences(contract, trees)))


# One trial as a document of its own


def _view(
    draft: Draft, contract: ContractDocument, trees: Trees, name: str, asked: Mapping[str, Question], as_of: str
) -> tuple[TrialView | None, frozenset[str], str]:
    """Return the view of a trial, the fields that are stand-ins, and why there is no view."""
    tree, _ = document_tree(draft, contract, trees, only=name)
    stand_ins = frozenset(_stood_in(tree, name, asked))
    try:
        document = read_evidence(canonical_bytes(tree), contract)
    except DocumentRefusedError as refused:
        first = refused.problems[0]
        return None, stand_ins, f"{first.pointer or 'document'}: expected {first.expected}, found {first.found}"
    except (TypeError, ValueError, RecursionError) as error:
        return None, stand_ins, f"a value is no JSON value: {error}"
    return views(contract, document, as_of)[name], stand_ins, ""


def _stood_in(tree: dict[str, Json], name: str, asked: Mapping[str, Question]) -> Iterator[str]:
    """Fill what intake needs and nobody gave; yield the fields."""
    provenance = tree["provenance"]
    # What the sources say of fields that are stand-ins here is of no use to a gate.
    provenance.pop("sources", None)
    provenance.setdefault("collected_by", "nobody yet")
    provenance.setdefault("collected_at", NO_ZONE)
    tool = provenance.setdefault("tool", {})
    tool.setdefault("name", "unknown")
    tool.setdefault("version", "unknown")
    trial, at = tree["trials"][name], joined(("trials", name))
    topology = trial.setdefault("topology", {})
    for holder, field, to in (
        (topology, "layout", f"{at}/topology/layout"),
        (topology, "instances", f"{at}/topology/instances"),
        (trial, "rank_map", f"{at}/rank_map"),
    ):
        question = asked.get(to)
        if question is not None and question.proposals and (field not in holder or not holder[field]):
            holder[field] = question.proposals[0].value
            yield to
    yield from _windows_stood_in(trial, at)


def _windows_stood_in(trial: dict[str, Json], at: str) -> Iterator[str]:
    # A window without a load point is at none, so nothing reads it.
    trial["windows"] = {name: window for name, window in trial["windows"].items() if "load_point" in window}
    for name, window in trial["windows"].items():
        for field, value in (("purpose", "counted"), ("start", NO_ZONE), ("end", NO_ZONE)):
            if field not in window:
                window[field] = value
                yield f"{at}/windows/{name}/{field}"


# Gates


def _covered(
    contract: ContractDocument,
    name: str,
    view: TrialView | None,
    stand_ins: frozenset[str],
    problem: str,
    asked: Mapping[str, Question],
) -> TrialCoverage:
    order = order_expand(contract.record)
    topology, required = "", tuple[RequiredCoverage, ...]()
    if view is None:
        gates = tuple(_unjudged(contract, gate, name) for gate in GATES if _speaks(contract, gate))
    else:
        candidate = judge(view, order.keys)
        gates = tuple(_gate(gate, candidate, view, stand_ins, asked) for gate in GATES if _speaks(contract, gate))
        topology, required = candidate.topology, tuple(_required(view, asked))
    return TrialCoverage(
        trial=name,
        topology=topology,
        judged=view is not None,
        problem=problem,
        answered=sum(gate.state == "answered" for gate in gates),
        declared=len(gates),
        gates=gates,
        required=required,
    )


def _speaks(contract: ContractDocument, gate: Gate) -> bool:
    return gate.limit is None or bool(contract.limits.get(gate.id))


def _gate(
    gate: Gate, candidate: Candidate, view: TrialView, stand_ins: frozenset[str], asked: Mapping[str, Question]
) -> GateCoverage:
    unknown = [limit for limit in candidate.gates[gate.id].limits.values() if limit.outcome == "UNKNOWN"]
    fields = [field for limit in unknown for field in _own_gaps(limit, view)]
    waiting = sorted(stand_ins & _stands_on(gate, view))
    lacks = tuple(_lack(field, asked) for field in dict.fromkeys((*fields, *waiting)))
    sentences = tuple(dict.fromkeys(limit.sentence for limit in unknown))
    if waiting and not unknown:
        sentences = ("It is answered with values that nobody confirmed yet.",)
    return GateCoverage(
        gate=gate.id,
        family=gate.family,
        title=gate.title,
        state="lacks" if fields else "waits" if unknown or waiting else "answered",
        sentences=sentences,
        lacks=lacks,
    )


def _own_gaps(limit: LimitOutcome, view: TrialView) -> Iterable[str]:
    """Return the fields that a limit misses itself; a figure that broke an identity is there, and is in doubt."""
    doubted = {f"{view.at}/windows/{window}{field}" for window, field in _doubts(view)}
    return (field for field in limit.missing if field not in doubted)


def _doubts(view: TrialView) -> Iterator[tuple[str, str]]:
    """Yield window and field of every figure that an identity puts in doubt."""
    for window, checks in view.checks.items():
        for check in checks:
            if not check.holds:
                yield from ((window, field) for field in check.fields)


def _stands_on(gate: Gate, view: TrialView) -> frozenset[str]:
    """Return the fields of a trial that a gate rests on before it reads a measurement."""
    at = view.at
    found = set()
    if gate.needs or gate.grounds:
        found |= {f"{at}/topology/layout", f"{at}/topology/instances"}
    if "devices" in gate.needs or gate.grounds == "devices":
        found.add(f"{at}/rank_map")
    if gate.limit is not None and gate.reads:
        found |= {f"{at}/windows/{window}/purpose" for window in view.trial.windows}
    return frozenset(found)


def _unjudged(contract: ContractDocument, gate: Gate, trial: str) -> GateCoverage:
    """Say what a gate's limits ask for, where a trial cannot be judged at all."""
    asks = [ask for limit in contract.limits.get(gate.id, {}).values() for ask in limit.asks()]
    fields = dict.fromkeys(
        joined(("trials", trial, "windows", ANY, *ask.metric.split("."), *([name] if name else [])))
        for ask in asks
        for name in (ask.fields or ("",))
    )
    return GateCoverage(
        gate=gate.id,
        family=gate.family,
        title=gate.title,
        state="lacks" if fields else "waits",
        sentences=("The trial cannot be judged yet.",),
        lacks=tuple(_lack(field, {}) for field in fields),
    )


def _required(view: TrialView, asked: Mapping[str, Question]) -> Iterator[RequiredCoverage]:
    entries = view.contract.evidence_required
    for name, entry in () if isinstance(entries, UnsetType) else entries.items():
        gaps = dict.fromkeys(gap for want in want_required(entry) for gap in presence(view, want).gaps)
        yield RequiredCoverage(
            id=name, metric=entry.metric, level=entry.level, lacks=tuple(_lack(gap, asked) for gap in gaps)
        )


def _lack(field: str, asked: Mapping[str, Question]) -> Lack:
    return Lack(field=field, brought_by=brought_by(field), asked=field in asked)


# Identities and the contract's leaves


def _checks(view: TrialView) -> Iterator[Breach]:
    for window, checks in view.checks.items():
        for check in checks:
            at = joined(("trials", view.id, "windows", window))
            yield Breach(
                trial=view.id,
                window=window,
                id=check.id,
                holds=check.holds,
                fields=tuple(f"{at}{field}" for field in check.fields),
                sentence=check.sentence,
            )


def _differences(contract: ContractDocument, trees: Trees) -> Iterator[Difference]:
    leaves = contract_leaves(contract.record.identity)
    for name, tree in trees.trials.items():
        for path, expected in leaves.items():
            to = joined(("identities", name, *path))
            what = tree.values.get(to)
            if what is None or what.value == "unknown" or same(expected, what.value):
                continue
            yield Difference(
                trial=name, field=to, expected=expected, found=what.value, spelling=_spelled(expected, what.value)
            )


def _spelled(one: Json, other: Json) -> bool:
    """Say whether two texts differ in case, blanks, dashes and slashes only: a folder has dashes for a slash."""
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    plain = [text.casefold().translate(_SEPARATORS) for text in (one, other)]
    return plain[0] == plain[1]


_SEPARATORS = str.maketrans("", "", "-_ /")
