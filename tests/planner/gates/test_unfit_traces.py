"""Figures of ranks, stages, experts, links, pools and failures that are recorded and cannot be judged."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.gates import test_failure, test_failure_recovery, test_handoff
from tests.planner.gates.cases import Case, check, parameters
from tests.planner.gates.test_balance import RATIO, every, times
from tests.planner.gates.test_balance import SHARE as OF_STEP
from tests.planner.gates.test_balance_experts import DROPPED, EXPERT, MOE, RANK, layers, load
from tests.planner.gates.test_balance_stages import FLOOR, IDLE, stages
from tests.planner.gates.test_fabric_links import link

WINDOWS = ("w1", "w2")
UP = "/windows/w1/links/a-up/mixed"


def case(
    gate: str,
    name: str,
    limit: dict[str, Any],
    trial: tuple[Change, ...],
    sentence: str,
    holds: Iterable[str] = (),
    missing: Iterable[str] = (),
) -> Case:
    """One row that is UNKNOWN; ``holds`` are the fields below the trial that are pointed at as read."""
    return Case(
        name=name,
        gate=gate,
        outcome="UNKNOWN",
        limit=limit,
        contract=MOE if gate == "expert_balance" else (),
        trial=trial,
        sentence=sentence,
        also={
            "missing": tuple(f"/trials/t{field}" for field in missing),
            "measured_at": tuple(f"/trials/t{field}" for field in holds),
        },
    )


def in_both(field: str) -> tuple[str, ...]:
    """The field in both windows."""
    return tuple(f"/windows/{window}/{field}" for window in WINDOWS)


BALANCE = [
    case(
        "stage_balance",
        "stages that take no time",
        FLOOR,
        stages(0, 0),
        "Stage times cannot be judged in window w1. busy_ms is 0 for every stage: no balance follows from it.",
        in_both("stages/s0/busy_ms"),
    ),
    case(
        "stage_balance",
        "a cycle of no length is no cycle that is not recorded",
        IDLE,
        stages(6, 10, cycle_ms=0),
        "Stage times cannot be judged in window w1. cycle_ms is 0 ms, stage 1 is busy for 10 ms: a cycle is no shorter "
        "than its slowest stage.",
        (
            *(f"/windows/w1/stages/s0/{field}" for field in ("cycle_ms", "busy_ms/1")),
            *(f"/windows/w2/stages/s0/{field}" for field in ("cycle_ms", "busy_ms/1")),
        ),
    ),
    case(
        "stage_balance",
        "more stages than the pipeline has",
        FLOOR,
        stages(6, 6, 6),
        "Stage times cannot be judged in window w1. busy_ms has 3 stages: the pipeline has 2.",
        in_both("stages/s0/busy_ms"),
    ),
    case(
        "communication_share",
        "a step of no length",
        OF_STEP | {"part": "total"},
        times(step_ms=every(10, r1=0), collective_ms=every(1)),
        "Rank 1 on node-a: its share of collectives cannot be judged in window i1. step_ms of rank 1 is 0: no share "
        "follows from it.",
        ("/windows/i1/per_rank/collective_ms/values/1", "/windows/i1/per_rank/step_ms/values/1"),
    ),
    case(
        "straggler",
        "ranks that do no work of their own",
        RATIO,
        times(step_ms=every(10), collective_ms=[10, 10, 5, 5]),
        "Rank 0 on node-a (a0): its own work apart from its group's collectives cannot be judged in window i1. "
        "The median of its group and stage is 0 ms: no ratio follows from it.",
        (
            *(f"/windows/i1/per_rank/{name}/values/0" for name in ("step_ms", "collective_ms")),
            *(f"/windows/i1/per_rank/{name}/values/1" for name in ("step_ms", "collective_ms")),
        ),
    ),
    case(
        "straggler",
        "a rank without a time is missed, and not those beside it",
        RATIO,
        times(step_ms=[10, None, 10, 10], collective_ms=every(1)),
        "Rank 1 on node-a (a1): its own work apart from its group's collectives is not recorded in window i1.",
        missing=("/windows/i1/per_rank/step_ms/values/1",),
    ),
    case(
        "expert_balance",
        "a layer without tokens",
        RANK,
        layers([0, 0, 0, 0]),
        "Expert load cannot be judged for layer l0 in window w1. tokens_by_rank is 0: no share of the mean follows "
        "from it.",
        in_both("experts/e/layers/l0/tokens_by_rank"),
    ),
    case(
        "expert_balance",
        "experts without tokens",
        EXPERT,
        load(layers={"l0": {"tokens_by_expert": [0] * 8}}),
        "Expert load cannot be judged for layer l0 in window w1. tokens_by_expert is 0: no share of the mean follows "
        "from it.",
        in_both("experts/e/layers/l0/tokens_by_expert"),
    ),
    case(
        "expert_balance",
        "nothing to drop",
        DROPPED,
        load(layers={"l0": {"tokens_by_rank": [0, 0, 0, 0], "dropped_tokens": 0}}),
        "Expert load cannot be judged for layer l0 in window w1. tokens_by_rank and dropped_tokens are 0: no share "
        "follows from them.",
        tuple(
            f"/windows/{window}/experts/e/layers/l0/{field}"
            for window in WINDOWS
            for field in ("tokens_by_rank", "dropped_tokens")
        ),
    ),
    case(
        "expert_balance",
        "dropped tokens of nobody knows how many",
        DROPPED,
        load(layers={"l0": {"dropped_tokens": 5}}),
        "Expert load is not recorded for layer l0 in window w1.",
        missing=in_both("experts/e/layers/l0/tokens_by_rank"),
    ),
    case(
        "expert_balance",
        "a balancedness of 0",
        RANK,
        load(balancedness=0),
        "Expert load cannot be judged for window w1. balancedness is 0: no heat follows from it.",
        in_both("experts/e/balancedness"),
    ),
]

LINKS = [
    case(
        "link_utilization",
        "an interval of no length",
        link(),
        ((f"{UP}/sample_interval_s", 0),),
        "Link a-up (mixed) cannot be judged in window w1. sample_interval_s is 0: no utilisation follows from it.",
        (f"{UP}/sample_interval_s",),
    ),
    case(
        "link_utilization",
        "neither direction of a link that has an entry",
        link(),
        ((f"{UP}/peak_tx_bytes", None), (f"{UP}/peak_rx_bytes", ABSENT)),
        "Link a-up (mixed): peak_tx_bytes and peak_rx_bytes are not recorded in window w1.",
        missing=(f"{UP}/peak_tx_bytes", f"{UP}/peak_rx_bytes"),
    ),
    case(
        "link_utilization",
        "peaks over nobody knows how long",
        link(),
        ((f"{UP}/sample_interval_s", ABSENT),),
        "Link a-up (mixed): sample_interval_s is not recorded in window w1.",
        missing=(f"{UP}/sample_interval_s",),
    ),
]


def handed(
    limit: dict[str, Any], sentence: str, name: str, holds: Iterable[str], completed: int = 0, **record: Any
) -> Case:
    """One row of a hand-off in w1 alone."""
    trial = (
        *test_handoff.POOLS,
        ("/windows/w1/handoff", record),
        (COMPLETED, completed),
        ("/windows/w2/purpose", "soak"),
    )
    return case("kv_handoff", name, limit, trial, f"The hand-off cannot be judged in window w1. {sentence}", holds)


ROUTED = tuple(f"/windows/w1/handoff/{name}" for name in ("bytes_total", "peak_requests_per_s", "route_bytes_per_s"))
COMPLETED = "/windows/w1/load/requests/completed"

HANDOFF = [
    handed(
        test_handoff.SHARE,
        "completed is 0: no share follows from it.",
        "nothing completed",
        ("/windows/w1/handoff/transfers", COMPLETED),
        transfers=5,
        counted_per="request",
    ),
    handed(
        test_handoff.ROUTE,
        "completed is 0: no size of a request follows from it.",
        "bytes of no request",
        (*ROUTED, COMPLETED),
        bytes_total=10,
        peak_requests_per_s=4,
        route_bytes_per_s=100,
    ),
    handed(
        test_handoff.ROUTE,
        "route_bytes_per_s is 0: no utilisation follows from it.",
        "a route that carries nothing",
        (*ROUTED, COMPLETED),
        completed=200,
        bytes_total=10,
        peak_requests_per_s=4,
        route_bytes_per_s=0,
    ),
    handed(
        test_handoff.BALANCE,
        "prefill_requests_per_s and decode_requests_per_s are 0: no balance follows from them.",
        "pools at rest",
        tuple(f"/windows/w1/handoff/{pool}_requests_per_s" for pool in ("prefill", "decode")),
        completed=200,
        prefill_requests_per_s=0,
        decode_requests_per_s=0,
    ),
]

SHARE_LOST = test_failure.lost(max_capacity_share_lost=0.9)
TAKES_DOWN = "Node node-a takes down 1 of 2 serving groups; the capacity of each is not known."
FAILURE = [
    case(
        "failure_domain",
        "replicas of a window of no length",
        SHARE_LOST,
        (*test_failure.replicas(12_000, 8_000), ("/windows/w1/load/duration_s", 0)),
        f"{TAKES_DOWN} duration_s is 0: no rate follows from it.",
        ("/windows/w1/load/duration_s",),
    ),
    case(
        "failure_domain",
        "a window of no length",
        SHARE_LOST,
        (*test_failure.TWO_GROUPS, ("/windows/w1/load/duration_s", 0)),
        f"{TAKES_DOWN} duration_s is 0: no rate follows from it.",
        ("/windows/w1/load/duration_s",),
    ),
    case(
        "failure_domain",
        "a share of no capacity",
        SHARE_LOST,
        (
            *test_failure.replicas(0, 0),
            ("/windows/w1/load", {"duration_s": 100, "output_tokens_total": 0}),
        ),
        f"{TAKES_DOWN} output_tokens_total is 0: no share of capacity follows from it.",
        ("/windows/w1/replicas/r0/output_tokens_total", "/windows/w1/replicas/r1/output_tokens_total"),
    ),
    case(
        "recovery",
        "nobody counted the others",
        {"injection": "rank_loss", "max_survivor_ttft_ms": 2000},
        test_failure_recovery.injected(survivors={"ttft_ms": {"p99": 1500}}),
        "Injection loss (rank_loss) left the others a TTFT of 1,500 ms; at most 2,000 ms. "
        "How many went on is not recorded.",
        ("/failures/loss/survivors/ttft_ms/p99",),
        ("/failures/loss/survivors/ttft_ms/n",),
    ),
]

CASES = [*BALANCE, *LINKS, *HANDOFF, *FAILURE]


@pytest.mark.parametrize("row", parameters(CASES))
def test_what_is_recorded_and_gives_no_value_says_what_it_holds(row: Case) -> None:
    check(row)
