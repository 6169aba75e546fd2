"""Steps: how much collectives take, and which rank keeps its group waiting."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates.cases import Case, check, parameters

W1, AT = "/windows/w1", "/trials/t/windows/w1"
SHARE = {"load_point": "saturated", "max_share": 0.2}
RATIO = {"load_point": "saturated", "max_over_median": 1.1}
LAG = {"load_point": "saturated", "max_arrival_lag_ms": 5}
ALONE: tuple[Change, ...] = (
    ("/topology/instances/0/tp", 1),
    ("/topology/instances/0/pp", 1),
    ("/topology/instances/0/dp", 4),
)
WHOLE_TENSOR: tuple[Change, ...] = (("/topology/instances/0/tp", 4), ("/topology/instances/0/pp", 1))
TRACE = {
    "purpose": "instrumented",
    "load_point": "saturated",
    "start": "2026-10-01T12:30:00Z",
    "end": "2026-10-01T12:31:00Z",
}


def times(**metrics: list[float | None]) -> tuple[Change, ...]:
    """Record metrics of every rank in an instrumented window ``i1``."""
    per_rank = {name: {"values": values} for name, values in metrics.items()}
    return (("/windows/i1", {**TRACE, "per_rank": per_rank}),)


def every(value: float, **other: float) -> list[float | None]:
    """The same for four ranks, but for those named ``r<rank>``."""
    return [other.get(f"r{rank}", value) for rank in range(4)]


CASES = [
    Case(
        name="worst rank, to the share",
        gate="communication_share",
        outcome="PASS",
        limit=SHARE | {"part": "total"},
        trial=times(step_ms=every(10), collective_ms=every(1, r2=2)),
        sentence="Rank 2 on node-b spends 0.200 of its step in collectives in window i1; at most 0.200.",
        also={
            "measured": 0.2,
            "margin": 0,
            "worst": {"window": "i1", "rank": "2", "node": "node-b", "device": "b0"},
            "measured_at": (
                "/trials/t/windows/i1/per_rank/collective_ms/values/2",
                "/trials/t/windows/i1/per_rank/step_ms/values/2",
            ),
        },
    ),
    Case(
        name="waiting and moving are shown apart",
        gate="communication_share",
        outcome="FAIL",
        limit=SHARE | {"part": "total"},
        trial=times(step_ms=every(10), collective_wait_ms=every(1, r1=2), collective_move_ms=every(0.5)),
        sentence="Rank 1 on node-a spends 0.250 of its step in collectives in window i1; at most 0.200.",
        also={"notes": ("Rank 1 waits 0.200 of its step and moves bytes 0.050.",)},
    ),
    Case(
        name="exposed time alone",
        gate="communication_share",
        outcome="PASS",
        limit=SHARE | {"part": "exposed"},
        trial=times(step_ms=every(10), collective_ms=every(9), collective_exposed_ms=every(1)),
        sentence="Rank 0 on node-a spends 0.100 of its step in exposed collectives in window i1; at most 0.200.",
    ),
    Case(
        name="waiting alone",
        gate="communication_share",
        outcome="FAIL",
        limit=SHARE | {"part": "waiting"},
        trial=times(step_ms=every(10), collective_wait_ms=every(1, r3=3)),
        sentence="Rank 3 on node-b spends 0.300 of its step in waiting in window i1; at most 0.200.",
    ),
    Case(
        name="the least over the group bounds moving",
        gate="communication_share",
        outcome="PASS",
        limit=SHARE | {"part": "moving"},
        trial=times(step_ms=every(10), collective_ms=every(6, r3=2)),
        sentence="Rank 0 on node-a spends 0.200 of its step in moving bytes in window i1; at most 0.200.",
        also={"notes": ("Waiting and moving are not split: the least over the group bounds moving from above.",)},
    ),
    Case(
        name="a bound of moving never fails",
        gate="communication_share",
        outcome="UNKNOWN",
        limit=SHARE | {"part": "moving"},
        trial=times(step_ms=every(10), collective_ms=every(6)),
        sentence="Rank 0 on node-a spends 0.600 of its step in moving bytes in window i1; at most 0.200. "
        "Waiting and moving are not split: the least over the group bounds moving from above.",
    ),
    Case(
        name="another phase than the limit's",
        gate="communication_share",
        outcome="UNKNOWN",
        limit=SHARE | {"part": "total", "phase": "decode"},
        trial=times(step_ms=every(10), collective_ms=every(1)),
        sentence="Rank 0 on node-a has no recorded time of collectives and step in window i1. "
        "collective_ms is recorded for mixed, the limit is for decode.",
    ),
    Case(
        name="a rank without a value",
        gate="communication_share",
        outcome="UNKNOWN",
        limit=SHARE | {"part": "total"},
        trial=times(step_ms=[10, 10, None, 10], collective_ms=every(1)),
        sentence="Rank 2 on node-b has no recorded time of collectives and step in window i1.",
        also={"missing": ("/trials/t/windows/i1/per_rank/step_ms/values/2",)},
    ),
    Case(
        name="counted windows owe it where no trace has it",
        gate="communication_share",
        outcome="UNKNOWN",
        limit=SHARE | {"part": "total"},
        sentence="Rank 0 on node-a has no recorded time of collectives and step in window w1.",
        also={
            "missing": tuple(
                f"/trials/t/windows/{w}/per_rank/{metric}"
                for w in ("w1", "w2")
                for metric in ("step_ms", "collective_ms")
            )
        },
    ),
    Case(
        name="one rank to a group",
        gate="communication_share",
        outcome="NOT_APPLICABLE",
        limit=SHARE | {"part": "total"},
        trial=ALONE,
        sentence="No serving group has more than one rank.",
    ),
    Case(
        name="own work over the median, to the ratio",
        gate="straggler",
        outcome="PASS",
        limit=RATIO,
        trial=(*WHOLE_TENSOR, *times(step_ms=every(12), collective_ms=every(2, r3=1))),
        sentence="Rank 3 on node-b (b1) works 1.100 × the median of its group and stage in window i1; at most 1.100.",
        also={"measured": 1.1, "unit": "ratio"},
    ),
    Case(
        name="one rank is behind and stays behind",
        gate="straggler",
        outcome="FAIL",
        limit=RATIO,
        trial=(
            *WHOLE_TENSOR,
            *times(
                step_ms=every(12),
                collective_ms=every(2, r3=0.5),
                slowest_sample_share=every(0.05, r3=0.85),
            ),
        ),
        sentence="Rank 3 on node-b (b1) works 1.150 × the median of its group and stage in window i1; at most 1.100.",
        also={
            "worst": {"window": "i1", "rank": "3", "node": "node-b", "device": "b1"},
            "notes": (
                "One rank is behind: look at its placement, device and host.",
                "Slowest in 0.850 of the samples: it stays on this rank.",
            ),
        },
    ),
    Case(
        name="stages are not compared with each other",
        gate="straggler",
        outcome="PASS",
        limit=RATIO,
        trial=times(step_ms=every(12), collective_ms=[10, 10, 2, 2]),
        sentence="Rank 0 on node-a (a0) works 1.000 × the median of its group and stage in window i1; at most 1.100.",
    ),
    Case(
        name="step time alone",
        gate="straggler",
        outcome="UNKNOWN",
        limit=RATIO,
        trial=times(step_ms=every(12, r3=20)),
        sentence="Rank 0 on node-a (a0): its own work apart from its group's collectives is not recorded in window i1.",
        also={"missing": ("/trials/t/windows/i1/per_rank/collective_ms",)},
    ),
    Case(
        name="more time in collectives than in the step",
        gate="straggler",
        outcome="UNKNOWN",
        limit=RATIO,
        trial=times(step_ms=every(12), collective_ms=every(2, r0=13)),
        sentence="Rank 0 on node-a (a0): its own work apart from its group's collectives cannot be judged in window i1."
        " Rank 0 spends more time in collectives than in its step.",
        also={"missing": ()},
    ),
    Case(
        name="arrival lag of most ranks",
        gate="straggler",
        outcome="FAIL",
        limit=LAG,
        trial=times(arrival_lag_ms=[6, 7, 8, 0]),
        sentence="Rank 2 on node-b (b0) arrives 8 ms late in window i1; at most 5 ms.",
        also={
            "unit": "ms",
            "notes": ("Most ranks are behind: look at a link they share or at the shape of the collective.",),
        },
    ),
    Case(
        name="arrival lag to the millisecond",
        gate="straggler",
        outcome="PASS",
        limit=LAG,
        trial=times(arrival_lag_ms=[5, 4, 3, 0]),
        sentence="Rank 0 on node-a (a0) arrives 5 ms late in window i1; at most 5 ms.",
    ),
    Case(
        name="no rank has a peer",
        gate="straggler",
        outcome="NOT_APPLICABLE",
        limit=RATIO,
        trial=(("/topology/instances/0/tp", 1), ("/topology/instances/0/pp", 4)),
        sentence="No rank has a peer of its group and stage.",
    ),
    Case(
        name="the hand-off holds up what no rank does",
        gate="straggler",
        outcome="PASS",
        limit=LAG,
        trial=(
            *times(arrival_lag_ms=every(1)),
            (
                "/windows/w1/handoff",
                {"queued_first_third_mean": 4, "queued_last_third_mean": 9, "decode_idle_share": 0.4},
            ),
        ),
        sentence="Rank 0 on node-a (a0) arrives 1 ms late in window i1; at most 5 ms.",
        also={"notes": ("Transfers pile up in window w1 while the decode pool idles: look at the hand-off.",)},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)


def test_a_counted_window_with_the_metric_is_read_beside_traces() -> None:
    metrics: Any = {"step_ms": {"values": every(10)}, "collective_ms": {"values": every(1, r1=4)}}
    check(
        Case(
            name="both",
            gate="communication_share",
            outcome="FAIL",
            limit=SHARE | {"part": "total"},
            trial=(
                *times(step_ms=every(10), collective_ms=every(1)),
                (f"{W1}/per_rank", metrics),
                ("/windows/w2/per_rank", ABSENT),
            ),
            sentence="Rank 1 on node-a spends 0.400 of its step in collectives in window w1; at most 0.200.",
            also={"measured_at": (f"{AT}/per_rank/collective_ms/values/1", f"{AT}/per_rank/step_ms/values/1")},
        )
    )
