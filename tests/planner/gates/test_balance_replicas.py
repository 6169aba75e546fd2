"""Replicas: the longest queue and the fullest KV cache against the mean."""

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters

QUEUE = {"load_point": "saturated", "max_queue_over_mean": 1.5}
KV = {"load_point": "saturated", "max_kv_over_mean": 1.2}
TWO_GROUPS: tuple[Change, ...] = (("/topology/instances/0/pp", 1), ("/topology/instances/0/dp", 2))
AT = "/trials/t/windows/w1/replicas"


def replicas(first: float | None, second: float | None, field: str = "queued_requests_mean") -> tuple[Change, ...]:
    record = {"r0": {"ranks": [0, 1], field: first}, "r1": {"ranks": [2, 3], field: second}}
    return (*TWO_GROUPS, *((f"/windows/{w}/replicas", record) for w in ("w1", "w2")))


CASES = [
    Case(
        name="to the ratio",
        gate="replica_balance",
        outcome="PASS",
        limit=QUEUE,
        trial=replicas(6, 2),
        sentence="The queue of replica r0 is 1.500 × the mean in window w1; at most 1.500.",
        also={"measured": 1.5, "margin": 0, "worst": {"window": "w1", "replica": "r0"}},
    ),
    Case(
        name="a longer queue",
        gate="replica_balance",
        outcome="FAIL",
        limit=QUEUE,
        trial=replicas(1, 7),
        sentence="The queue of replica r1 is 1.750 × the mean in window w1; at most 1.500.",
    ),
    Case(
        name="use of the KV cache",
        gate="replica_balance",
        outcome="FAIL",
        limit=KV,
        trial=replicas(0.3, 0.7, "kv_used_mean_share"),
        sentence="The KV use of replica r1 is 1.400 × the mean in window w1; at most 1.200.",
        also={"measured_at": (f"{AT}/r0/kv_used_mean_share", f"{AT}/r1/kv_used_mean_share")},
    ),
    Case(
        name="a replica without a value",
        gate="replica_balance",
        outcome="UNKNOWN",
        limit=QUEUE,
        trial=replicas(6, None),
        sentence="The queue of every replica is not recorded in window w1.",
        also={"missing": tuple(f"/trials/t/windows/{w}/replicas/r1/queued_requests_mean" for w in ("w1", "w2"))},
    ),
    Case(
        name="a rank that no replica has",
        gate="replica_balance",
        outcome="UNKNOWN",
        limit=QUEUE,
        trial=(*replicas(6, 2), ("/windows/w1/replicas/r1/ranks", [2])),
        sentence="The queue of every replica cannot be judged in window w1. "
        "The recorded replicas do not cover every rank once.",
        also={"missing": (), "measured_at": (AT, "/trials/t/windows/w2/replicas")},
    ),
    Case(
        name="not recorded",
        gate="replica_balance",
        outcome="UNKNOWN",
        limit=QUEUE,
        trial=TWO_GROUPS,
        sentence="The queue of every replica is not recorded in window w1.",
        also={"missing": (AT, "/trials/t/windows/w2/replicas")},
    ),
    Case(
        name="hardly any queue",
        gate="replica_balance",
        outcome="NOT_APPLICABLE",
        limit=QUEUE,
        trial=replicas(0, 1.9),
        sentence="The mean queue stays below 1: no load to share.",
    ),
    Case(
        name="one scheduler",
        gate="replica_balance",
        outcome="NOT_APPLICABLE",
        limit=QUEUE,
        sentence="One scheduler serves all ranks.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
