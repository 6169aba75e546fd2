"""A plan as lines of text: the result for standard output, remarks for standard error.

Rules kept (spec 1.4; settled questions 1, 26, 27): for a selected topology exactly seven lines, six where the
contract is not illustrative; otherwise the decision, one line per candidate with its failing and unknown gates, and
the claim. Figures are the winner's gate readings, rounded half to even from the exact value to three decimals.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planner.figures import number
from planner.numbers import GIB, rounded
from planner.order import order_expand
from planner.records.contract import Contract
from planner.records.plan import Candidate, LimitOutcome, Plan, Selected

__all__ = ["plan_remarks", "plan_text"]

PLACES = 3
REJECTED_SHOWN = 20

NOT_DECLARED = "not_declared"
NOT_APPLICABLE = "not_applicable"
MAP_GATES = ("rank_count", "model_divisibility")
LimitTest = Callable[[Mapping[str, Any]], bool]


def plan_text(plan: Plan, contract: Contract) -> str:
    """Return the result as text, a line feed after every line. ``contract`` is the one that was planned."""
    lines = ["example=illustrative_only"] if plan.illustrative else []
    lines.append(f"decision={plan.decision}")
    if plan.selected is None:
        lines += [_candidate_line(trial, candidate) for trial, candidate in sorted(plan.candidates.items())]
    else:
        lines += _selected_lines(plan, plan.selected, contract)
    lines.append(f"claim={plan.claim}")
    return "".join(f"{line}\n" for line in lines)


def plan_remarks(plan: Plan) -> tuple[str, ...]:
    """Return what a reader of the result should know and the result has no line for."""
    return tuple(_remarks(plan))


def _selected_lines(plan: Plan, selected: Selected, contract: Contract) -> list[str]:
    winner = plan.candidates[selected.trial]
    read = _Readings(winner, contract)
    memory = read.figure("memory_headroom", GIB)
    ttft = read.figure("ttft", 1, only=read.at_main)
    rate = read.figure("throughput", 1)
    link = read.figure("link_utilization", 1, only=lambda limit: limit.get("link_class") == "inter_node")
    return [
        f"topology={_name(plan, selected)}",
        f"world_size={winner.ranks};nodes={winner.nodes};gpus_per_node={_per_node(winner)}",
        f"peak_memory_gib={memory};ttft_ms={ttft}",
        f"tokens_per_second={rate};inter_node_link_utilization={link}",
    ]


def _name(plan: Plan, selected: Selected) -> str:
    """Return the derived name, with the trial where another one shares it."""
    names = [candidate.topology for candidate in plan.candidates.values()]
    return selected.topology if names.count(selected.topology) == 1 else f"{selected.topology}@{selected.trial}"


def _per_node(candidate: Candidate) -> str:
    counts = candidate.ranks_per_node
    return str(counts[0]) if len(set(counts)) == 1 else "+".join(map(str, counts))


class _Readings:
    """The readings of one candidate's gates, chosen by what the contract's limits say."""

    def __init__(self, candidate: Candidate, contract: Contract) -> None:
        self._candidate = candidate
        self._contract = contract
        self._main = order_expand(contract).load_point

    def at_main(self, limit: Mapping[str, Any]) -> bool:
        """Say whether a limit is read at the order's load point, ``saturated`` where that is declared."""
        return limit.get("load_point") == self._main

    def figure(self, gate: str, unit: int, *, only: LimitTest | None = None) -> str:
        """Return the reading of the first limit by id that ``only`` takes, at the main load point if one is there."""
        declared = sorted(self._contract.gates.get(gate, {}).items())
        wanted = [(limit_id, limit) for limit_id, limit in declared if only is None or only(limit)]
        at_main = [limit_id for limit_id, limit in wanted if self.at_main(limit)]
        chosen = next(iter([*at_main, *(limit_id for limit_id, _ in wanted)]), None)
        if chosen is None:
            return NOT_DECLARED
        return _figure(self._candidate.gates[gate].limits[chosen], unit)


def _figure(outcome: LimitOutcome, unit: int) -> str:
    measured = number(outcome.measured)
    return NOT_APPLICABLE if measured is None else rounded(measured / unit, PLACES)


def _candidate_line(trial: str, candidate: Candidate) -> str:
    parts = [
        f"candidate={trial}",
        f"topology={candidate.topology}",
        f"state={candidate.state}",
        f"failing={_listed(candidate.failing)}",
        f"unknown={_listed(candidate.unknown)}",
    ]
    if candidate.missing_keys:
        parts.append(f"missing_keys={_listed(candidate.missing_keys)}")
    return ";".join(parts)


def _listed(names: tuple[str, ...]) -> str:
    return ",".join(names) if names else "none"


def _map_remarks(plan: Plan) -> Iterator[str]:
    """Say of the selected trial where its engine differs from its rule, and what an accepted split costs."""
    if plan.selected is None:
        return
    gates = plan.candidates[plan.selected.trial].gates
    for gate in MAP_GATES:
        for outcome in gates[gate].limits.values() if gate in gates else ():
            for note in outcome.notes:
                yield f"map {plan.selected.trial}: {note}"


def _rejected(plan: Plan) -> Iterator[str]:
    """Name the rejected beside a winner, each with every gate it fails; without a winner the result has them."""
    rejected = [(trial, found) for trial, found in sorted(plan.candidates.items()) if found.state == "REJECTED"]
    for trial, found in rejected[:REJECTED_SHOWN]:
        yield f"rejected {trial} ({found.topology}): fails {', '.join(found.failing)}"
    if len(rejected) > REJECTED_SHOWN:
        yield f"rejected: {len(rejected) - REJECTED_SHOWN} more; --explain lists every gate of every candidate"


def _remarks(plan: Plan) -> Iterator[str]:
    for entry in plan.undeclared:
        yield f"undeclared {entry.kind} {entry.name}: {entry.sentence}"
    if plan.selected is not None:
        yield from _rejected(plan)
    for contender in plan.contenders:
        yield f"contender {contender.trial} ({contender.topology}): {contender.sentence}"
    if plan.decisive is False:
        yield "decisive: false. The lead is not larger than the spread of the windows."
    for note in plan.order_notes:
        yield f"order: {note}"
    yield from _map_remarks(plan)
    yield f"as-of: {plan.as_of}"
