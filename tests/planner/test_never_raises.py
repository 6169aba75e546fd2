"""Whatever is taken out of the evidence, or nulled, every gate still answers."""

from collections.abc import Iterator
from typing import Any

import pytest

from planner.errors import DocumentRefusedError
from planner.evaluate import judge
from planner.intake import read_contract, read_evidence
from planner.order import order_expand
from planner.view import views
from tests.planner.documents import ABSENT, changed, raw
from tests.planner.factories import AS_OF, BECAUSE, a_contract, a_trial, an_evidence

AT_SATURATED = {"load_point": "saturated", "because": BECAUSE}
TAIL = AT_SATURATED | {"statistic": "p95", "max_ms": 500}
EVERY_GATE = {
    "tensor_locality": {"island": {"rule": "allowed_if_measured", "because": BECAUSE}},
    "link_utilization": {
        "up": AT_SATURATED | {"link_class": "inter_node", "max_utilization": 0.7, "max_sample_interval_s": 1}
    },
    "steady_state": {"steady": AT_SATURATED | {"max_spread_share": 0.1, "min_soak_s": 60, "min_window_s": 10}},
    "memory_headroom": {"ranks": AT_SATURATED},
    "ttft": {"tail": TAIL},
    "tpot": {"tail": TAIL},
    "itl": {"tail": TAIL},
    "e2e": {"tail": TAIL},
    "throughput": {"floor": AT_SATURATED | {"min_output_tokens_per_s": 100}},
    "failure_domain": {
        name: {"domain": "node", "horizon": "immediate", name: 1, "because": BECAUSE}
        for name in ("max_groups_lost", "max_ranks_lost", "max_capacity_share_lost", "min_capacity_left_of_required")
    },
    "cost": {"token": {"max_usd_per_million_output_tokens": 20, "because": BECAUSE}},
}
CONTRACT = a_contract(("/selection", {"preset": "highest_throughput"}), gates=EVERY_GATE)


def full_trial() -> dict[str, Any]:
    """Return a trial of two groups with replicas and a breakdown, so that there is something to take away."""
    trial = a_trial()
    trial["topology"]["instances"][0] |= {"pp": 1, "dp": 2}
    for window in trial["windows"].values():
        tokens = window["load"]["output_tokens_total"] // 2
        window["replicas"] = {
            f"r{index}": {"ranks": ranks, "output_tokens_total": tokens, "longest_sequence_tokens": 4096}
            for index, ranks in enumerate(([0, 1], [2, 3]))
        }
    return trial


def pointers(tree: Any, at: str = "") -> Iterator[str]:
    """Yield the pointer of everything below a tree."""
    members = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, value in members:
        yield f"{at}/{step}"
        yield from pointers(value, f"{at}/{step}")


READ = read_contract(raw(CONTRACT))
EVIDENCE = an_evidence(CONTRACT, trial=full_trial())
KEYS = order_expand(READ.record).keys


def states(value: object) -> dict[str, str]:
    """Judge the trial with every part in turn replaced by ``value``; parts that intake needs are left out."""
    found: dict[str, str] = {}
    for pointer in pointers(EVIDENCE["trials"]["t"]):
        try:
            evidence = read_evidence(raw(changed(EVIDENCE, (f"/trials/t{pointer}", value))), READ)
        except DocumentRefusedError:
            continue
        found[pointer] = judge(views(READ, evidence, AS_OF)["t"], KEYS).state
    return found


@pytest.mark.parametrize("value", [ABSENT, None, 0], ids=["absent", "null", "zero"])
def test_every_gate_answers_whatever_is_taken_away(value: object) -> None:
    found = states(value)
    assert len(found) > 50
    assert set(found.values()) <= {"ELIGIBLE", "REJECTED", "INCONCLUSIVE"}


@pytest.mark.parametrize("field", ["output_tokens_total", "duration_s", "ttft_ms", "longest_sequence_tokens"])
def test_taking_evidence_away_never_makes_a_trial_eligible(field: str) -> None:
    evidence = read_evidence(raw(changed(EVIDENCE, (f"/trials/t/windows/w1/load/{field}", ABSENT))), READ)
    assert judge(views(READ, evidence, AS_OF)["t"], KEYS).state != "ELIGIBLE"
