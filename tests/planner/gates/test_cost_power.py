"""Joules per output token, and watts of the hottest rank."""

from typing import Any

import pytest

from tests.planner.documents import Change
from tests.planner.gates.cases import Case, check, parameters

AT = "/trials/t/windows/w1"
TOKEN = {"load_point": "saturated", "max_joules_per_output_token": 2}
WATTS = {"load_point": "saturated", "max_watts_per_rank": 600}
CAP = {"load_point": "saturated", "cap": "fleet"}
CAPS: tuple[Change, ...] = (("/fleet/power_cap_watts", {"accel": 600}),)


def metric(name: str, *values: float | None, **more: Any) -> tuple[Change, ...]:
    return tuple((f"/windows/{w}/per_rank/{name}", {"values": list(values), **more}) for w in ("w1", "w2"))


CASES = [
    Case(
        name="to the joule",
        gate="power",
        outcome="PASS",
        limit=TOKEN,
        trial=metric("energy_joules", 10_000, 10_000, 10_000, 10_000),
        sentence="An output token takes 2 J in window w1; at most 2 J.",
        also={
            "unit": "J/token",
            "margin": 0,
            "measured_at": (f"{AT}/per_rank/energy_joules", f"{AT}/load/output_tokens_total"),
            "notes": ("Devices that hold a rank only: hosts, switches and idle devices are not in it.",),
        },
    ),
    Case(
        name="one joule more",
        gate="power",
        outcome="FAIL",
        limit=TOKEN,
        trial=metric("energy_joules", 10_000, 10_000, 10_000, 10_001),
        sentence="An output token takes 2.00005 J in window w1; at most 2 J.",
    ),
    Case(
        name="a lower bound of energy passes no ceiling",
        gate="power",
        outcome="UNKNOWN",
        limit=TOKEN,
        trial=metric("energy_joules", 1, 1, 1, 1, bound="lower"),
        sentence="An output token takes 0 J in window w1; at most 2 J.",
    ),
    Case(
        name="a rank without energy",
        gate="power",
        outcome="UNKNOWN",
        limit=TOKEN,
        trial=metric("energy_joules", 1, None, 1, 1),
        sentence="Energy or output tokens are not recorded in window w1.",
        also={"missing": tuple(f"/trials/t/windows/{w}/per_rank/energy_joules/values/1" for w in ("w1", "w2"))},
    ),
    Case(
        name="hottest rank, to the watt",
        gate="power",
        outcome="PASS",
        limit=WATTS,
        trial=metric("power_peak_watts", 500, 600, 550, 550),
        sentence="Rank 1 on node-a peaks at 600 W in window w1; at most 600 W.",
        also={"unit": "W", "limit_at": "/gates/power/limit/max_watts_per_rank"},
    ),
    Case(
        name="one hot rank behind a cool mean",
        gate="power",
        outcome="FAIL",
        limit=WATTS,
        trial=metric("power_peak_watts", 300, 300, 300, 610),
        sentence="Rank 3 on node-b peaks at 610 W in window w1; at most 600 W.",
    ),
    Case(
        name="over the cap of its type",
        gate="power",
        outcome="FAIL",
        limit=CAP,
        contract=CAPS,
        trial=metric("power_peak_watts", 300, 300, 300, 610),
        sentence="Rank 3 on node-b peaks at 610 W in window w1; at most 600 W.",
        also={"limit_at": "/fleet/power_cap_watts"},
    ),
    Case(
        name="no cap for the type",
        gate="power",
        outcome="UNKNOWN",
        limit=CAP,
        trial=metric("power_peak_watts", 300, 300, 300, 300),
        sentence="The contract has no power cap for the device type of rank 0.",
    ),
    Case(
        name="sampled watts are a lower bound",
        gate="power",
        outcome="UNKNOWN",
        limit=WATTS,
        trial=metric("power_peak_watts", 300, 300, 300, 300, sample_interval_s=10),
        sentence="Rank 0 on node-a peaks at 300 W in window w1; at most 600 W. The recorded peak is a lower bound.",
    ),
    Case(
        name="watts not recorded",
        gate="power",
        outcome="UNKNOWN",
        limit=WATTS,
        sentence="Rank 0 on node-a has no recorded peak power in window w1.",
        also={"missing": (f"{AT}/per_rank/power_peak_watts", "/trials/t/windows/w2/per_rank/power_peak_watts")},
    ),
    Case(
        name="no counted window",
        gate="power",
        outcome="UNKNOWN",
        limit=WATTS | {"load_point": "open"},
        sentence="No counted window at open.",
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
