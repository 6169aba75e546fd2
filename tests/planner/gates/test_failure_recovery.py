"""Injected faults: how long, how many requests, what the others felt, and what was never injected."""

from typing import Any

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters

AT = "/trials/t/failures"
DETECT = {"injection": "rank_loss", "max_detect_s": 30}
ALONE: tuple[Change, ...] = (
    ("/topology/instances/0/tp", 1),
    ("/topology/instances/0/pp", 1),
    ("/topology/instances/0/dp", 4),
)


def injected(*, slow: bool = True, **loss: Any) -> tuple[Change, ...]:
    """Record the loss of a rank with these figures, and a slow rank unless told otherwise."""
    records: dict[str, Any] = {"loss": {"kind": "rank_loss", "domain_kind": "device", "domain": "a1", **loss}}
    if slow:
        records["slow"] = {"kind": "slow_rank"}
    return (("/failures", records),)


def case(name: str, outcome: str, limit: Any, trial: tuple[Change, ...], sentence: str, **also: Any) -> Case:
    return Case(name=name, gate="recovery", outcome=outcome, limit=limit, trial=trial, sentence=sentence, also=also)


CASES = [
    case(
        "to the second",
        "PASS",
        DETECT,
        injected(detect_s=30),
        "Injection loss (rank_loss) was noticed after 30 s; at most 30 s.",
        unit="s",
        margin=0,
        worst={"injection": "loss", "domain": "a1"},
        measured_at=(f"{AT}/loss/detect_s",),
        limit_at="/gates/recovery/limit/max_detect_s",
    ),
    case(
        "noticed too late",
        "FAIL",
        DETECT,
        injected(detect_s=30.5),
        "Injection loss (rank_loss) was noticed after 30.5 s; at most 30 s.",
    ),
    case(
        "floor reached again",
        "PASS",
        {"injection": "rank_loss", "max_floor_rate_s": 120},
        injected(floor_rate_s=90),
        "Injection loss (rank_loss) let the floor be reached again after 90 s; at most 120 s.",
    ),
    case(
        "answers that broke off",
        "FAIL",
        {"injection": "rank_loss", "max_requests_partial": 0},
        injected(requests_partial=2),
        "Injection loss (rank_loss): 2 requests broke off; at most 0.",
        unit="requests",
    ),
    case(
        "tails of the others",
        "FAIL",
        {"injection": "rank_loss", "max_survivor_ttft_ms": 2000},
        injected(survivors={"ttft_ms": {"n": 1000, "p99": 2500}}),
        "Injection loss (rank_loss) left the others a TTFT of 2,500 ms; at most 2,000 ms.",
        unit="ms",
    ),
    case(
        "too few others",
        "UNKNOWN",
        {"injection": "rank_loss", "max_survivor_ttft_ms": 2000},
        injected(survivors={"ttft_ms": {"n": 900, "p99": 1500}}),
        "Injection loss (rank_loss) left the others a TTFT of 1,500 ms; at most 2,000 ms. "
        "Too few requests went on for this statistic.",
        missing=(f"{AT}/loss/survivors/ttft_ms/n",),
    ),
    case(
        "a slow rank was never injected",
        "UNKNOWN",
        DETECT,
        injected(slow=False, detect_s=5),
        "Injection loss (rank_loss) was noticed after 5 s; at most 30 s. "
        "slow_rank was not injected, and no limit says why.",
        missing=(AT,),
    ),
    case(
        "the loss of a device proves nothing of a rack",
        "UNKNOWN",
        DETECT | {"domain_kind": "rack"},
        injected(detect_s=5),
        "No rank_loss of a rack was injected.",
        missing=(AT,),
    ),
    case(
        "another load point",
        "UNKNOWN",
        DETECT | {"load_point": "saturated"},
        injected(detect_s=5, load_point="open"),
        "No rank_loss was injected at saturated.",
    ),
    case(
        "how it went is not recorded",
        "UNKNOWN",
        DETECT,
        injected(),
        "Injection loss (rank_loss) does not say how it went: detect_s is not recorded.",
        missing=(f"{AT}/loss/detect_s",),
    ),
    case(
        "not tested, with a reason",
        "NOT_APPLICABLE",
        {"injection": "rank_loss", "not_tested_because": "Shared cluster."},
        (),
        "rank_loss is not tested: Shared cluster.",
    ),
    case(
        "groups of one rank",
        "NOT_APPLICABLE",
        DETECT,
        ALONE,
        "No serving group has more than one rank that rank_loss could hold up.",
    ),
    case(
        "a drain of groups of one rank",
        "FAIL",
        {"injection": "drain", "max_requests_failed": 0},
        (*ALONE, ("/failures", {"d": {"kind": "drain", "requests_failed": 1}})),
        "Injection d (drain): 1 request failed; at most 0.",
    ),
]


@pytest.mark.parametrize("row", parameters(CASES))
def test_gate_gives_the_whole_answer(row: Case) -> None:
    check(row)
