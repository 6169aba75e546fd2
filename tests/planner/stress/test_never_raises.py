"""Whatever is taken out of the evidence, every injection gives a copy or says why it does not."""

from collections.abc import Iterator
from typing import Any

import pytest

from planner.errors import DocumentRefusedError
from planner.evaluate import judge
from planner.intake import read_contract, read_evidence
from planner.order import order_expand
from planner.records.stress import FaultSizes
from planner.stress import INJECTIONS
from planner.stress.base import Case
from planner.view import views
from tests.planner.documents import ABSENT, changed, raw
from tests.planner.factories import AS_OF, a_contract, a_trial, an_evidence
from tests.planner.stress.cases import limits, traced

AT = {"load_point": "saturated"}
GATES = limits(
    memory_headroom=AT,
    throughput={**AT, "min_output_tokens_per_s": 100},
    ttft={**AT, "statistic": "p95", "max_ms": 500},
    link_utilization={**AT, "link_class": "inter_node", "max_utilization": 0.9, "max_sample_interval_s": 1},
    failure_domain={"domain": "node", "horizon": "immediate", "min_capacity_left_of_required": 0.1},
)
PLACES = [
    {"rank": rank, "node": f"node-{node}", "device": f"{node}{index}", "nic": f"{node}-nic"}
    for rank, (node, index) in enumerate((("a", 0), ("a", 1), ("b", 0), ("b", 1)))
]


def full_trial() -> dict[str, Any]:
    """Return a trial with something for every injection, its groups as an engine reports them."""
    times = {name: {"values": [9, 8, 7, 6]} for name in ("step_ms", "collective_wait_ms", "collective_move_ms")}
    pointer, trace = traced(
        per_rank={**times, "arrival_lag_ms": {"values": [0, 1, 0, 1]}},
        stages={"p": {"busy_ms": [3, 4], "cycle_ms": 5}},
        collectives={"pp": {"operation": "send_recv", "group_kind": "pp", "bus_bytes_per_s": 9}},
        experts={"e": {"layers": {"l0": {"tokens_by_rank": [5, 6, 7, 8], "tokens_by_expert": [5, 6, 7, 8]}}}},
        handoff={"route_bytes_per_s": 7, "peak_requests_per_s": 3},
    )
    trial: dict[str, Any] = changed(a_trial(), (pointer, trace), ("/rank_map", PLACES))
    trial["windows"]["w1"]["load"]["ttft_ms"]["p99"] = 650
    trial["windows"]["w1"]["per_rank"]["activations_bytes"] = {"values": [1, 1, 1, 1]}
    return trial


def pointers(tree: Any, at: str = "") -> Iterator[str]:
    members = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, value in members:
        yield f"{at}/{step}"
        yield from pointers(value, f"{at}/{step}")


CONTRACT = a_contract(gates=GATES)
READ = read_contract(raw(CONTRACT))
EVIDENCE = an_evidence(CONTRACT, trial=full_trial())
ORDER = order_expand(READ.record).keys


def put_in(evidence: dict[str, Any]) -> list[str]:
    """Put every fault into trial ``t`` and return what became of each."""
    view = views(READ, read_evidence(raw(evidence), READ), AS_OF)["t"]
    before = judge(view, ORDER)
    if before.gates["rank_count"].outcome == "FAIL" or before.gates["placement"].outcome == "FAIL":
        return []
    return [
        type(one.rule(Case(view=view, before=before, sizes=FaultSizes(), order=ORDER, target=target))).__name__
        for one in INJECTIONS
        for target in one.targets(view, ORDER)
    ]


def test_the_full_trial_takes_every_fault_but_a_hot_expert() -> None:
    assert sorted(put_in(EVIDENCE)).count("NotInjectable") == 1


@pytest.mark.parametrize("value", [ABSENT, None, 0], ids=["absent", "null", "zero"])
def test_every_injection_answers_whatever_is_taken_away(value: object) -> None:
    answers = []
    for pointer in pointers(EVIDENCE["trials"]["t"]):
        try:
            answers += put_in(changed(EVIDENCE, (f"/trials/t{pointer}", value)))
        except DocumentRefusedError:
            continue
    assert len(answers) > 500
    assert set(answers) == {"Injected", "NotInjectable"}
