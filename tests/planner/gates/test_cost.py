"""Charged devices and their price."""

import pytest

from planner.records.plan import Ratio
from tests.planner.documents import ABSENT
from tests.planner.gates.cases import Case, check, parameters


def per_million(usd: float) -> dict[str, object]:
    return {"load_point": "saturated", "max_usd_per_million_output_tokens": usd}


HALF = (
    ("/topology/instances/0/pp", 1),
    ("/topology/instances/0/world_size", 2),
    ("/rank_map/3", ABSENT),
    ("/rank_map/2", ABSENT),
    ("/rank_map/1", {"rank": 1, "node": "node-b", "device": "b0", "nic": "b-nic"}),
)

CASES = [
    Case(
        name="per million tokens of the slowest window",
        gate="cost",
        outcome="PASS",
        limit=per_million(17),
        sentence="4 charged devices cost 12.00 USD per hour, 16.67 USD per million output tokens at saturated in "
        "window w1; at most 17.00 USD.",
        also={
            "measured": Ratio(num=50, den=3),
            "margin": Ratio(num=1, den=3),
            "margin_share": Ratio(num=1, den=51),
            "unit": "USD/M tokens",
            "worst": {"window": "w1"},
            "notes": ("4 used, 0 spare, 0 stranded.",),
            "limit_at": "/gates/cost/limit/max_usd_per_million_output_tokens",
        },
    ),
    Case(
        name="above the ceiling by less than a cent",
        gate="cost",
        outcome="FAIL",
        limit=per_million(16.666),
        sentence="4 charged devices cost 12.00 USD per hour, 16.667 USD per million output tokens at saturated in "
        "window w1; at most 16.666 USD.",
    ),
    Case(
        name="per hour, exactly at the ceiling",
        gate="cost",
        outcome="PASS",
        limit={"max_usd_per_hour": 12},
        sentence="4 charged devices cost 12.00 USD per hour; at most 12.00 USD.",
        also={"unit": "USD/h", "margin": 0},
    ),
    Case(
        name="whole nodes are charged",
        gate="cost",
        outcome="FAIL",
        limit={"max_usd_per_hour": 11},
        contract=(("/fleet/charge", "node"),),
        trial=HALF,
        sentence="4 charged devices cost 12.00 USD per hour; at most 11.00 USD.",
        also={"notes": ("2 used, 0 spare, 2 stranded.",)},
    ),
    Case(
        name="spares are charged",
        gate="cost",
        outcome="FAIL",
        limit={"max_usd_per_hour": 8},
        contract=(("/fleet/spare_devices", ["b1"]),),
        trial=HALF,
        sentence="3 charged devices cost 9.00 USD per hour; at most 8.00 USD.",
        also={"notes": ("2 used, 1 spare, 0 stranded.",)},
    ),
    Case(
        name="a rank in no declared rack",
        gate="cost",
        outcome="UNKNOWN",
        limit={"max_usd_per_hour": 8},
        contract=(("/fleet/charge", "rack"), ("/fleet/failure_domains/rack/rack-1", ["node-a"])),
        sentence="Device b0 stands in no rack that the contract declares.",
    ),
    Case(
        name="total not recorded",
        gate="cost",
        outcome="UNKNOWN",
        limit=per_million(17),
        trial=(("/windows/w1/load/output_tokens_total", ABSENT),),
        sentence="4 charged devices cost 12.00 USD per hour; the output rate at saturated is not recorded in "
        "window w1.",
        also={"missing": ("/trials/t/windows/w1/load/output_tokens_total",)},
    ),
    Case(
        name="no output",
        gate="cost",
        outcome="UNKNOWN",
        limit=per_million(17),
        trial=(("/windows/w1/load/output_tokens_total", 0),),
        sentence="The price per token at saturated cannot be judged in window w1. output_tokens_total is 0: no price "
        "follows from it.",
        also={"missing": (), "measured_at": ("/trials/t/windows/w1/load/output_tokens_total",)},
    ),
    Case(
        name="broken identity",
        gate="cost",
        outcome="UNKNOWN",
        limit=per_million(16),
        trial=(
            ("/windows/w1/load/requests_per_s", {"value": 9, "scope": "deployment"}),
            ("/windows/w2/load/requests_per_s", {"value": 9, "scope": "deployment"}),
        ),
        sentence="4 charged devices cost 12.00 USD per hour, 16.67 USD per million output tokens at saturated in "
        "window w1; at most 16.00 USD. requests_per_s over the deployment is stated as 9; totals give 2.",
        also={"would": "FAIL"},
    ),
    Case(
        name="no counted window",
        gate="cost",
        outcome="UNKNOWN",
        limit=per_million(17) | {"load_point": "open"},
        sentence="No counted window at open.",
        also={"missing": ("/trials/t/windows",)},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
