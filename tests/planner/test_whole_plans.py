"""Every case of every gate as a whole plan: what follows from a verdict (flips, reasons, demand) never raises."""

import pytest

from planner.errors import DocumentRefusedError
from planner.plan import plan_parallelism
from tests.planner.documents import Change
from tests.planner.factories import AS_OF, BECAUSE, Changes, documents
from tests.planner.gates.cases import Case
from tests.planner.gates.test_coverage import CASES

CONTRACTS: dict[str, tuple[Change, ...]] = {
    "as they are": (),
    "too old": (("/validity", {"max_evidence_age_s": 100}),),
    "recent enough, in the order of a preset": (
        ("/validity", {"max_evidence_age_s": 10**7}),
        ("/selection", {"preset": "highest_throughput"}),
    ),
}


def planned(case: Case, more: tuple[Change, ...]) -> str | None:
    """Return the decision over a case's documents; None where intake refuses them with these changes."""
    gates = None if case.limit is None else {case.gate: {"limit": {"because": BECAUSE, **case.limit}}}
    try:
        pair = documents(gates, Changes(contract=(*case.contract, *more), evidence=case.evidence, trial=case.trial))
    except DocumentRefusedError:
        return None
    return plan_parallelism(*pair, AS_OF).decision


@pytest.mark.parametrize("more", CONTRACTS.values(), ids=CONTRACTS.keys())
def test_every_case_of_every_gate_is_planned(more: tuple[Change, ...]) -> None:
    decisions = [planned(case, more) for case in CASES]
    assert sum(decision is not None for decision in decisions) > len(CASES) * 9 // 10
