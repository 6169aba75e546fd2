"""Peaks against each rank's own device, and everything that keeps a recorded peak from being the peak."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT
from tests.planner.factories import GIB
from tests.planner.gates.cases import Case, check, parameters

W1 = "/windows/w1"
AT = "/trials/t/windows/w1"
PEAK = f"{W1}/per_rank/device_used_peak_bytes"
COMPONENTS = (
    "weights_bytes",
    "kv_cache_bytes",
    "activations_bytes",
    "communication_buffers_bytes",
    "graph_and_kernel_workspaces_bytes",
    "allocator_reserve_bytes",
)
LIMIT = {"load_point": "saturated"}
FULLEST = "Rank 3 on node-b uses 54.0 GiB of 64.0 GiB."
TWO_GROUPS = (
    ("/topology/instances/0/pp", 1),
    ("/topology/instances/0/dp", 2),
)


def gib(*values: float | None) -> list[int | None]:
    return [None if value is None else int(value * GIB) for value in values]


def breakdown(each_gib: float, names: tuple[str, ...] = COMPONENTS) -> tuple[tuple[str, Any], ...]:
    return tuple((f"{W1}/per_rank/{name}", {"values": gib(*[each_gib] * 4)}) for name in names)


def replicas(first: int, second: int) -> tuple[tuple[str, Any], ...]:
    record = {
        "r0": {"ranks": [0, 1], "longest_sequence_tokens": first},
        "r1": {"ranks": [2, 3], "longest_sequence_tokens": second},
    }
    return tuple((f"/windows/{window}/replicas", record) for window in ("w1", "w2"))


CASES = [
    Case(
        name="fullest rank in its worst window",
        gate="memory_headroom",
        outcome="PASS",
        limit=LIMIT,
        sentence=FULLEST,
        also={
            "measured": 54 * GIB,
            "limit": 64 * GIB,
            "margin": 10 * GIB,
            "unit": "bytes",
            "worst": {"window": "w2", "rank": "3", "node": "node-b", "device": "b1"},
            "measured_at": ("/trials/t/windows/w2/per_rank/device_used_peak_bytes/values/3",),
            "limit_at": "/gates/memory_headroom/limit",
        },
    ),
    Case(
        name="to the byte",
        gate="memory_headroom",
        outcome="PASS",
        limit=LIMIT,
        trial=((f"{PEAK}/values/2", 64 * GIB),),
        sentence="Rank 2 on node-b uses 64.0 GiB of 64.0 GiB.",
        also={"margin": 0},
    ),
    Case(
        name="one byte over, and the sentence can tell",
        gate="memory_headroom",
        outcome="FAIL",
        limit=LIMIT,
        trial=((f"{PEAK}/values/2", 64 * GIB + 1),),
        sentence="Rank 2 on node-b uses 64.000000001 GiB of 64.000000000 GiB.",
        also={"margin": -1},
    ),
    Case(
        name="one rank over although the mean fits",
        gate="memory_headroom",
        outcome="FAIL",
        limit=LIMIT,
        trial=((f"{PEAK}/values", gib(74.1, 20, 20, 20)),),
        sentence="Rank 0 on node-a uses 74.1 GiB of 64.0 GiB.",
    ),
    Case(
        name="each rank has its own device",
        gate="memory_headroom",
        outcome="FAIL",
        limit=LIMIT,
        contract=(("/identity/hardware/devices/a0/memory_bytes", 60 * GIB),),
        sentence="Rank 0 on node-a uses 50.0 GiB of 48.0 GiB.",
    ),
    Case(
        name="reserve in bytes",
        gate="memory_headroom",
        outcome="PASS",
        limit=LIMIT,
        contract=(("/headroom/memory", {"reserved_bytes": 26 * GIB}),),
        sentence="Rank 3 on node-b uses 54.0 GiB of 54.0 GiB.",
    ),
    Case(
        name="the smaller of reserve and ceiling counts",
        gate="memory_headroom",
        outcome="FAIL",
        limit=LIMIT | {"max_used_bytes": 53 * GIB},
        sentence="Rank 3 on node-b uses 54.0 GiB of 53.0 GiB.",
    ),
    Case(
        name="a rank without a value",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((f"{PEAK}/values/2", None),),
        sentence="Rank 2 on node-b has no recorded peak in window w1.",
        also={"missing": (f"{AT}/per_rank/device_used_peak_bytes/values/2",)},
    ),
    Case(
        name="metric not recorded in a window",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((f"{W1}/per_rank", ABSENT),),
        sentence="device_used_peak_bytes is not recorded in window w1.",
        also={"missing": (f"{AT}/per_rank/device_used_peak_bytes",)},
    ),
    Case(
        name="context not reached",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((f"{W1}/load/longest_sequence_tokens", 4095),),
        sentence="Rank 3 on node-b uses 53.0 GiB of 64.0 GiB. "
        "Longest sequence 4,095 of 4,096 tokens: the peak is a lower bound.",
        also={"missing": (f"{AT}/load/longest_sequence_tokens",)},
    ),
    Case(
        name="context not reached and over all the same",
        gate="memory_headroom",
        outcome="FAIL",
        limit=LIMIT | {"max_used_bytes": 52 * GIB},
        trial=((f"{W1}/load/longest_sequence_tokens", 4095), (f"{PEAK}/values/3", 56 * GIB)),
        sentence="Rank 3 on node-b uses 56.0 GiB of 52.0 GiB.",
    ),
    Case(
        name="longest sequence not recorded",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((f"{W1}/load/longest_sequence_tokens", ABSENT),),
        sentence="Rank 3 on node-b uses 53.0 GiB of 64.0 GiB. The longest sequence reached is not recorded.",
        also={"missing": (f"{AT}/load/longest_sequence_tokens",)},
    ),
    Case(
        name="a deployment figure says nothing of several groups",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=TWO_GROUPS,
        sentence="Rank 3 on node-b uses 54.0 GiB of 64.0 GiB. The longest sequence reached is not recorded.",
        also={"missing": (f"{AT}/replicas", "/trials/t/windows/w2/replicas")},
    ),
    Case(
        name="every group reached it",
        gate="memory_headroom",
        outcome="PASS",
        limit=LIMIT,
        trial=(*TWO_GROUPS, *replicas(4096, 5000)),
        sentence=FULLEST,
    ),
    Case(
        name="one group did not reach it",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=(*TWO_GROUPS, *replicas(4096, 1000)),
        sentence="Rank 3 on node-b uses 54.0 GiB of 64.0 GiB. "
        "Longest sequence 1,000 of 4,096 tokens: the peak is a lower bound.",
    ),
    Case(
        name="sampled without an interval in the limit",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((f"{PEAK}/sample_interval_s", 1),),
        sentence="Rank 3 on node-b uses 53.0 GiB of 64.0 GiB. The recorded peak is a lower bound.",
    ),
    Case(
        name="sampled as often as the limit wants",
        gate="memory_headroom",
        outcome="PASS",
        limit=LIMIT | {"max_sample_interval_s": 1},
        trial=((f"{PEAK}/sample_interval_s", 1), (f"{PEAK}/samples", 100)),
        sentence=FULLEST,
    ),
    Case(
        name="a peak of the whole run is an upper bound and passes",
        gate="memory_headroom",
        outcome="PASS",
        limit=LIMIT,
        trial=((f"{PEAK}/bound", "upper"),),
        sentence=FULLEST,
    ),
    Case(
        name="recorded per replica",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=((f"{PEAK}/scope", "replica"),),
        sentence="Rank 3 on node-b uses 53.0 GiB of 64.0 GiB. Recorded per replica, which says nothing of one device.",
    ),
    Case(
        name="components leave memory unexplained",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=breakdown(8.5),
        sentence="Rank 3 on node-b uses 53.0 GiB of 64.0 GiB. "
        "Components of rank 3 sum to 51.0 GiB; its peak is 53.0 GiB.",
        also={"would": "PASS"},
    ),
    Case(
        name="components within tolerance of the peak",
        gate="memory_headroom",
        outcome="PASS",
        limit=LIMIT,
        trial=breakdown(8.75),
        sentence=FULLEST,
    ),
    Case(
        name="a partial breakdown is not tested",
        gate="memory_headroom",
        outcome="PASS",
        limit=LIMIT,
        trial=breakdown(1, COMPONENTS[:2]),
        sentence=FULLEST,
        also={"notes": ("The breakdown is partial, so the sum of components is not tested.",)},
    ),
    Case(
        name="a breakdown that is said to be complete is tested",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit=LIMIT,
        trial=(*breakdown(1, COMPONENTS[:2]), (f"{W1}/breakdown_complete", True)),
        sentence="Rank 3 on node-b uses 53.0 GiB of 64.0 GiB. "
        "Components of rank 3 sum to 2.0 GiB; its peak is 53.0 GiB.",
    ),
    Case(
        name="no counted window",
        gate="memory_headroom",
        outcome="UNKNOWN",
        limit={"load_point": "open"},
        sentence="No counted window at open.",
        also={"missing": ("/trials/t/windows",)},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
