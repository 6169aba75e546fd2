"""Experts: the hottest rank and expert of the worst layer, and dropped tokens."""

from typing import Any

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters

AT = "/trials/t/windows/w1/experts/e"
RANK = {"load_point": "saturated", "max_rank_over_mean": 1.3}
EXPERT = {"load_point": "saturated", "max_expert_over_mean": 2}
DROPPED = {"load_point": "saturated", "max_dropped_share": 0.01}
MOE: tuple[Change, ...] = (
    ("/identity/model/architecture", "moe"),
    ("/identity/model/experts", 8),
    ("/identity/model/experts_per_token", 2),
    ("/identity/model/shared_experts", 0),
    ("/identity/model/expert_intermediate_size", 1024),
)
EXPERT_PARALLEL: tuple[Change, ...] = (
    ("/topology/instances/0/tp", 1),
    ("/topology/instances/0/pp", 1),
    ("/topology/instances/0/ep", 4),
)


def load(**fields: Any) -> tuple[Change, ...]:
    return (*EXPERT_PARALLEL, *((f"/windows/{w}/experts", {"e": fields}) for w in ("w1", "w2")))


def layers(*tokens: list[int | None], **more: Any) -> tuple[Change, ...]:
    return load(layers={f"l{at}": {"tokens_by_rank": values} for at, values in enumerate(tokens)}, **more)


def case(name: str, outcome: str, limit: dict[str, Any], trial: tuple[Change, ...], sentence: str, **also: Any) -> Case:
    return Case(
        name=name,
        gate="expert_balance",
        outcome=outcome,
        limit=limit,
        contract=MOE,
        trial=trial,
        sentence=sentence,
        also=also,
    )


CASES = [
    case(
        "worst layer, to the ratio",
        "PASS",
        RANK,
        layers([100, 100, 100, 100], [130, 90, 90, 90]),
        "Rank 0 takes 1.300 × the mean tokens in layer l1 in window w1; at most 1.300. Rank 0: 130 tokens, mean 100.",
        measured=1.3,
        worst={"window": "w1", "layer": "l1", "rank": "0", "node": "node-a"},
        measured_at=(f"{AT}/layers/l1/tokens_by_rank/0",),
    ),
    case(
        "a hot rank in one layer",
        "FAIL",
        RANK,
        layers([100, 100, 100, 100], [90, 90, 90, 131]),
        "Rank 3 takes 1.307 × the mean tokens in layer l1 in window w1; at most 1.300. Rank 3: 131 tokens, mean 100.2.",
    ),
    case(
        "layers left out can not pass",
        "UNKNOWN",
        RANK,
        layers([100, 100, 100, 100], bound="lower"),
        "Rank 0 takes 1.000 × the mean tokens in layer l0 in window w1; at most 1.300. Rank 0: 100 tokens, mean 100.",
        missing=tuple(f"/trials/t/windows/{w}/experts/e/layers" for w in ("w1", "w2")),
    ),
    case(
        "an average over layers can fail",
        "FAIL",
        RANK,
        load(balancedness=0.5),
        "The hottest rank takes 2.000 × the mean tokens in window w1; at most 1.300. "
        "Averaged over layers: the worst layer is at least as hot.",
    ),
    case(
        "an average over layers can not pass",
        "UNKNOWN",
        RANK,
        load(balancedness=0.95),
        "The hottest rank takes 1.053 × the mean tokens in window w1; at most 1.300. "
        "Averaged over layers: the worst layer is at least as hot.",
        missing=tuple(f"/trials/t/windows/{w}/experts/e/layers" for w in ("w1", "w2")),
    ),
    case(
        "sums over too long",
        "UNKNOWN",
        RANK | {"max_interval_s": 1},
        layers([100, 100, 100, 100], interval_s=60),
        "Expert load cannot be judged for window w1. interval_s is 60: sums over so long hide the heat of steps.",
        missing=(),
        measured_at=(f"{AT}/interval_s", "/trials/t/windows/w2/experts/e/interval_s"),
    ),
    case(
        "sums over as long as permitted",
        "PASS",
        RANK | {"max_interval_s": 1},
        layers([100, 100, 100, 100], interval_s=1),
        "Rank 0 takes 1.000 × the mean tokens in layer l0 in window w1; at most 1.300. Rank 0: 100 tokens, mean 100.",
    ),
    case(
        "a rank without a value",
        "UNKNOWN",
        RANK,
        layers([100, None, 100, 100]),
        "Expert load is not recorded for layer l0 in window w1.",
        missing=tuple(f"/trials/t/windows/{w}/experts/e/layers/l0/tokens_by_rank/1" for w in ("w1", "w2")),
    ),
    case(
        "another phase than the limit's",
        "UNKNOWN",
        RANK | {"phase": "decode"},
        layers([100, 100, 100, 100], phase="prefill"),
        "Expert load is not recorded for window w1. Only prefill is recorded.",
    ),
    case(
        "hottest expert",
        "FAIL",
        EXPERT,
        load(layers={"l0": {"tokens_by_expert": [10, 10, 10, 10, 10, 10, 10, 51]}}),
        "Expert 7 takes 3.372 × the mean tokens in layer l0 in window w1; at most 2.000. "
        "Expert 7: 51 tokens, mean 15.1.",
    ),
    case(
        "dropped tokens to the share",
        "PASS",
        DROPPED,
        load(layers={"l0": {"tokens_by_rank": [99, 99, 99, 99], "dropped_tokens": 4}}),
        "0.010 of the tokens are dropped in layer l0 in window w1; at most 0.010.",
        unit="share",
    ),
    case(
        "one dropped token more",
        "FAIL",
        DROPPED,
        load(layers={"l0": {"tokens_by_rank": [99, 99, 99, 98], "dropped_tokens": 5}}),
        "0.012 of the tokens are dropped in layer l0 in window w1; at most 0.010.",
    ),
    case(
        "not recorded",
        "UNKNOWN",
        RANK,
        EXPERT_PARALLEL,
        "Expert load is not recorded for window w1.",
        missing=("/trials/t/windows/w1/experts", "/trials/t/windows/w2/experts"),
    ),
    Case(
        name="no expert group",
        gate="expert_balance",
        outcome="NOT_APPLICABLE",
        limit=RANK,
        sentence="No expert group has more than one rank.",
    ),
]


@pytest.mark.parametrize("row", parameters(CASES))
def test_gate_gives_the_whole_answer(row: Case) -> None:
    check(row)
