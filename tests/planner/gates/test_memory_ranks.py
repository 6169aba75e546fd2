"""How unevenly ranks of one role use memory."""

import pytest

from tests.planner.documents import ABSENT
from tests.planner.factories import GIB
from tests.planner.gates.cases import Case, check, parameters

PEAK = "/windows/w1/per_rank/device_used_peak_bytes"
LIMIT = {"load_point": "saturated", "max_spread_share": 0.25}


def gib(*values: float | None) -> list[int | None]:
    return [None if value is None else int(value * GIB) for value in values]


CASES = [
    Case(
        name="to the share",
        gate="rank_balance",
        outcome="PASS",
        limit=LIMIT,
        trial=((f"{PEAK}/values", gib(60, 45, 50, 50)),),
        sentence="Ranks of the role of rank 0 on node-a, which is fullest, differ by 0.250 in window w1; "
        "at most 0.250.",
        also={"measured": 0.25, "margin": 0, "worst": {"window": "w1", "rank": "0", "node": "node-a"}},
    ),
    Case(
        name="one byte over",
        gate="rank_balance",
        outcome="FAIL",
        limit=LIMIT,
        trial=((f"{PEAK}/values", [60 * GIB, 45 * GIB - 1, 50 * GIB, 50 * GIB]),),
        sentence="Ranks of the role of rank 0 on node-a, which is fullest, differ by 0.25000000002 in window w1; "
        "at most 0.25000000000.",
    ),
    Case(
        name="stages rightly differ",
        gate="rank_balance",
        outcome="PASS",
        limit=LIMIT,
        trial=tuple(
            (f"/windows/{w}/per_rank/device_used_peak_bytes/values", gib(60, 60, 20, 20)) for w in ("w1", "w2")
        ),
        sentence="Ranks of the role of rank 0 on node-a, which is fullest, differ by 0.000 in window w1; "
        "at most 0.250.",
    ),
    Case(
        name="a rank without a value",
        gate="rank_balance",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((f"{PEAK}/values", gib(60, None, 50, 50)),),
        sentence="device_used_peak_bytes is not recorded for every rank in window w1.",
        also={"missing": ("/trials/t/windows/w1/per_rank/device_used_peak_bytes/values/1",)},
    ),
    Case(
        name="not recorded",
        gate="rank_balance",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((PEAK, ABSENT),),
        sentence="device_used_peak_bytes is not recorded for every rank in window w1.",
    ),
    Case(
        name="bounds say nothing of a difference",
        gate="rank_balance",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((f"{PEAK}/sample_interval_s", 1),),
        sentence="Ranks of the role of rank 1 on node-a, which is fullest, differ by 0.020 in window w1; "
        "at most 0.250. The recorded peak is a lower bound.",
    ),
    Case(
        name="every rank has a role of its own",
        gate="rank_balance",
        outcome="NOT_APPLICABLE",
        limit=LIMIT,
        trial=(("/topology/instances/0/tp", 1), ("/topology/instances/0/pp", 4)),
        sentence="No two ranks have the same role.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
