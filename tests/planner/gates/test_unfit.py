"""Figures of a load that are recorded and cannot be judged: none is said to be missing, each says what it holds."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates.cases import Case, check, parameters
from tests.planner.gates.test_cost import per_million
from tests.planner.gates.test_cost_power import TOKEN, metric
from tests.planner.gates.test_evidence_steady import STEADY
from tests.planner.gates.test_evidence_workload import open_loop
from tests.planner.gates.test_memory import TWO_GROUPS, replicas
from tests.planner.gates.test_memory_kv import two
from tests.planner.gates.test_service_scale import SPEEDUP, baseline

SATURATED = {"load_point": "saturated"}
LOAD, AT = "/windows/w1/load", "/trials/t/windows/w1/load"
NOTHING_SENT = tuple((f"{LOAD}/requests/{part}", 0) for part in ("sent", "completed", "good", "refused", "retried"))
NO_TIME: tuple[Change, ...] = ((f"{LOAD}/duration_s", 0),)
NO_RATE = "duration_s is 0: no rate follows from it."
NO_SHARE = "sent is 0: no share follows from it."


def case(
    gate: str,
    name: str,
    limit: dict[str, Any],
    trial: tuple[Change, ...],
    sentence: str,
    holds: Iterable[str] = (),
    missing: tuple[str, ...] = (),
) -> Case:
    """One row that is UNKNOWN; ``holds`` are the fields below the trial that are pointed at as read."""
    also = {"missing": missing, **({"measured_at": tuple(f"/trials/t{field}" for field in holds)} if holds else {})}
    return Case(name=name, gate=gate, outcome="UNKNOWN", limit=limit, trial=trial, sentence=sentence, also=also)


GOOD: tuple[Change, ...] = (
    (f"{LOAD}/good_if", {"ttft_ms": 500}),
    ("/windows/w2/load/good_if", {"ttft_ms": 500}),
    ("/windows/w2/load/requests/good", 210),
)

SHARES = [
    case(
        "completeness",
        "nothing was sent",
        SATURATED | {"min_completed_share": 0.95},
        NOTHING_SENT,
        f"Requests sent and completed cannot be judged in window w1. {NO_SHARE}",
        (f"{LOAD}/requests/sent", f"{LOAD}/requests/completed", f"{LOAD}/requests/cut_off"),
    ),
    case(
        "completeness",
        "all that was sent was cut off",
        SATURATED | {"min_completed_share": 0.95},
        ((f"{LOAD}/requests", {"sent": 8, "completed": 0, "failed": 0, "cut_off": 8}),),
        "Requests sent and completed cannot be judged in window w1. sent is 8 and cut_off is 8: no share follows from "
        "what is left.",
        (f"{LOAD}/requests/sent", f"{LOAD}/requests/completed", f"{LOAD}/requests/cut_off"),
    ),
    case(
        "completeness",
        "nothing was sent, and what completed is not recorded",
        SATURATED | {"min_completed_share": 0.95},
        ((f"{LOAD}/requests", {"sent": 0}),),
        f"Requests sent and completed cannot be judged in window w1. {NO_SHARE}",
        missing=(f"{AT}/requests/completed",),
    ),
    case(
        "errors",
        "nothing was sent",
        SATURATED | {"max_failed_share": 0.1},
        NOTHING_SENT,
        f"Requests sent and failed cannot be judged at saturated in window w1. {NO_SHARE}",
    ),
    case(
        "errors",
        "nothing completed",
        SATURATED | {"max_preemptions_per_1000_requests": 5},
        ((f"{LOAD}/preemptions", 3), ("/windows/w2/load/preemptions", 0), (f"{LOAD}/requests/completed", 0)),
        "Preemptions cannot be judged at saturated in window w1. completed is 0: no rate per request follows from it.",
        (f"{LOAD}/preemptions", f"{LOAD}/requests/completed"),
    ),
    case(
        "overload",
        "nothing was sent",
        SATURATED | {"max_refused_share": 0.1},
        (*NOTHING_SENT, ("/windows/w2/load/requests/refused", 0)),
        f"Requests sent and refused cannot be judged at saturated in window w1. {NO_SHARE}",
    ),
    case(
        "goodput",
        "nothing was sent",
        SATURATED | {"min_good_share": 0.9, "ttft_ms": 500},
        (*NOTHING_SENT, *GOOD),
        f"Requests sent and good cannot be judged in window w1. {NO_SHARE}",
        (f"{LOAD}/requests/sent", f"{LOAD}/requests/good", f"{LOAD}/requests/cut_off"),
    ),
]

RATES = [
    case(
        "throughput",
        "the figures of two windows",
        SATURATED | {"min_output_tokens_per_s": 150},
        (*NO_TIME, ("/windows/w2/load/duration_s", 0)),
        f"Output rate at saturated cannot be judged in window w1. {NO_RATE}",
        (f"{LOAD}/requests/completed", f"{LOAD}/duration_s", "/windows/w2/load/duration_s"),
    ),
    case(
        "cost",
        "a window of no length",
        per_million(17),
        NO_TIME,
        "4 charged devices cost 12.00 USD per hour; the output rate at saturated cannot be judged in window w1. "
        f"{NO_RATE}",
        (f"{LOAD}/duration_s",),
    ),
    case(
        "scale_out",
        "a window of no length",
        SPEEDUP,
        (*baseline(10_000), *NO_TIME),
        f"Output rate at saturated cannot be judged in window w1. {NO_RATE}",
        (f"{LOAD}/duration_s",),
    ),
    case(
        "power",
        "no output",
        TOKEN,
        (*metric("energy_joules", 10, 10, 10, 10), (f"{LOAD}/output_tokens_total", 0)),
        "Energy per token cannot be judged in window w1. "
        "output_tokens_total is 0: no energy per token follows from it.",
        ("/windows/w1/per_rank/energy_joules", f"{LOAD}/output_tokens_total"),
    ),
    case(
        "workload_match",
        "an open loop of no length",
        {"load_point": "open", "max_difference_share": 0.1},
        (*open_loop(200), *NO_TIME),
        f"Sent rate cannot be judged in window w1. {NO_RATE}",
        (f"{LOAD}/duration_s",),
    ),
    case(
        "workload_match",
        "an open loop without a duration misses that, not what was sent",
        {"load_point": "open", "max_difference_share": 0.1},
        (*open_loop(200), (f"{LOAD}/duration_s", ABSENT)),
        "Sent rate is not recorded in window w1.",
        missing=(f"{AT}/duration_s",),
    ),
    case(
        "steady_state",
        "the spread of a window of no length",
        STEADY | {"max_spread_share": 0.05},
        NO_TIME,
        f"The spread of the output rate is not known. The output rate cannot be judged in window w1. {NO_RATE}",
    ),
    case(
        "steady_state",
        "the spread of rates without tokens",
        STEADY | {"max_spread_share": 0.05},
        tuple((f"/windows/{w}/load", {"duration_s": 100, "output_tokens_total": 0}) for w in ("w1", "w2")),
        "The spread of the output rate is not known. output_tokens_total is 0 in every window: no spread follows "
        "from it.",
    ),
    case(
        "steady_state",
        "the spread with a total that is not recorded",
        STEADY | {"max_spread_share": 0.05},
        ((f"{LOAD}/output_tokens_total", ABSENT),),
        "The spread of the output rate is not known. The output rate is not recorded in window w1.",
        missing=(f"{AT}/output_tokens_total",),
    ),
    case(
        "scale_out",
        "a baseline of no length",
        SPEEDUP,
        baseline(10_000, load={"saturated": {"duration_s": 0, "output_tokens_total": 10_000}}),
        "The baseline's output rate at saturated cannot be judged. duration_s is 0: no speedup follows from it.",
        ("/baseline/load/saturated/duration_s",),
    ),
    case(
        "scale_out",
        "a baseline without output",
        SPEEDUP,
        baseline(0),
        "The baseline's output rate at saturated cannot be judged. "
        "output_tokens_total is 0: no speedup follows from it.",
        ("/baseline/load/saturated/output_tokens_total",),
    ),
    case(
        "scale_out",
        "a baseline without output and without a duration",
        SPEEDUP,
        baseline(0, load={"saturated": {"output_tokens_total": 0}}),
        "The baseline's output rate at saturated is not recorded.",
        missing=("/trials/t/baseline/load/saturated/duration_s",),
    ),
]

OTHER_GROUPS: tuple[Change, ...] = tuple(
    (f"/windows/{w}/replicas/{name}/ranks", ranks)
    for w in ("w1", "w2")
    for name, ranks in (("r0", [0, 2]), ("r1", [1, 3]))
)
"""Replicas that are recorded of other ranks than the serving groups have."""
REPLICAS = ("/windows/w1/replicas", "/windows/w2/replicas")

OTHERS = [
    case(
        "workload_match",
        "a total of nobody has no mean",
        SATURATED | {"max_difference_share": 0.1},
        tuple(
            (f"{LOAD}/{field}", value)
            for field, value in (
                ("requests", {"sent": 200, "completed": 0, "failed": 200, "cut_off": 0}),
                ("output_tokens_mean", ABSENT),
                ("in_flight_mean", 8),
                ("e2e_ms", ABSENT),
                *((f"{name}_ms", ABSENT) for name in ("ttft", "tpot", "itl")),
            )
        ),
        "Output mean cannot be judged in window w1. completed is 0: no mean follows from it.",
        (f"{LOAD}/requests/completed",),
    ),
    case(
        "kv_capacity",
        "replicas of other ranks",
        SATURATED,
        (*two(40_000, 40_000), *OTHER_GROUPS),
        "KV capacity cannot be judged in window w1. The recorded replicas are not the serving groups.",
        REPLICAS,
    ),
    case(
        "memory_headroom",
        "sequences of other ranks",
        SATURATED,
        (*TWO_GROUPS, *replicas(4096, 5000), *OTHER_GROUPS),
        "Rank 3 on node-b uses 54.0 GiB of 64.0 GiB. The recorded replicas are not the serving groups.",
        ("/windows/w2/per_rank/device_used_peak_bytes/values/3", *REPLICAS),
    ),
]

CASES = [*SHARES, *RATES, *OTHERS]


@pytest.mark.parametrize("row", parameters(CASES))
def test_what_is_recorded_and_gives_no_value_says_what_it_holds(row: Case) -> None:
    check(row)
