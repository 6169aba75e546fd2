"""Utilisation of links: which owe evidence, what bounds a peak, and what is subtracted."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT
from tests.planner.gates.cases import Case, check, parameters

UP = "/windows/w1/links/a-up"
AT = "/trials/t/windows/w1/links/a-up"
RESERVED = "Declared ceiling 0.750; a reserve of 0.100 leaves 0.675."
NO_HEADROOM = "Low utilisation is not headroom: read it beside waiting time."


def link(ceiling: float = 0.75, interval: float = 1, **more: Any) -> dict[str, Any]:
    return {
        "link_class": "inter_node",
        "load_point": "saturated",
        "max_utilization": ceiling,
        "max_sample_interval_s": interval,
        **more,
    }


ONE_NODE = (
    ("/topology/instances/0/pp", 1),
    ("/topology/instances/0/world_size", 2),
    ("/rank_map/3", ABSENT),
    ("/rank_map/2", ABSENT),
    *((f"/windows/{window}/per_rank/device_used_peak_bytes/values", [1, 1]) for window in ("w1", "w2")),
)

CASES = [
    Case(
        name="busiest link and window, reserve subtracted",
        gate="link_utilization",
        outcome="PASS",
        limit=link(),
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.675.",
        also={
            "measured": 0.6,
            "limit": 0.675,
            "margin": 0.075,
            "worst": {"window": "w2", "link": "a-up", "phase": "mixed"},
            "notes": (RESERVED, NO_HEADROOM),
        },
    ),
    Case(
        name="exactly at the ceiling without a reserve",
        gate="link_utilization",
        outcome="PASS",
        limit=link(0.6),
        contract=(("/headroom/bandwidth", ABSENT),),
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.600.",
        also={"notes": ("No bandwidth reserve is declared: 0 is used.", NO_HEADROOM)},
    ),
    Case(
        name="the reserve makes it fail",
        gate="link_utilization",
        outcome="FAIL",
        limit=link(0.65),
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.585.",
    ),
    Case(
        name="the busier direction decides",
        gate="link_utilization",
        outcome="FAIL",
        limit=link(),
        trial=((f"{UP}/mixed/peak_rx_bytes", 9 * 10**9),),
        sentence="Link a-up (mixed) peaks at 0.900 of its rate in window w1; at most 0.675.",
    ),
    Case(
        name="a longer interval hides peaks",
        gate="link_utilization",
        outcome="UNKNOWN",
        limit=link(interval=0.5),
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.675. "
        "Sampled every 1 s, at most 0.5 s: a lower bound.",
    ),
    Case(
        name="a longer interval may still fail",
        gate="link_utilization",
        outcome="FAIL",
        limit=link(0.5, interval=0.5),
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.450.",
    ),
    Case(
        name="samples that do not cover the window",
        gate="link_utilization",
        outcome="UNKNOWN",
        limit=link(),
        trial=((f"{UP}/mixed/samples", 98),),
        sentence="Link a-up (mixed) peaks at 0.500 of its rate in window w1; at most 0.675. "
        "The recorded peak is a lower bound.",
    ),
    Case(
        name="just enough samples",
        gate="link_utilization",
        outcome="PASS",
        limit=link(),
        trial=((f"{UP}/mixed/samples", 99),),
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.675.",
    ),
    Case(
        name="one direction only",
        gate="link_utilization",
        outcome="UNKNOWN",
        limit=link(),
        trial=((f"{UP}/mixed/peak_rx_bytes", None),),
        sentence="Link a-up (mixed) peaks at 0.500 of its rate in window w1; at most 0.675. "
        "Only one direction is recorded: a lower bound.",
        also={"missing": (f"{AT}/mixed/peak_rx_bytes",)},
    ),
    Case(
        name="a link of a crossing rank without a record",
        gate="link_utilization",
        outcome="UNKNOWN",
        limit=link(),
        trial=((UP, ABSENT),),
        sentence="Link a-up (mixed) is not recorded in window w1.",
        also={
            "missing": tuple(f"{AT}/mixed/{name}" for name in ("peak_tx_bytes", "peak_rx_bytes", "sample_interval_s"))
        },
    ),
    Case(
        name="a phase limit with mixed figures only",
        gate="link_utilization",
        outcome="UNKNOWN",
        limit=link(phase="prefill"),
        sentence="Link a-up (prefill) is not recorded in window w1.",
    ),
    Case(
        name="an upper bound passes",
        gate="link_utilization",
        outcome="PASS",
        limit=link(),
        trial=((f"{UP}/mixed/bound", "upper"),),
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.675.",
    ),
    Case(
        name="a crossing rank names no NIC",
        gate="link_utilization",
        outcome="UNKNOWN",
        limit=link(),
        trial=(("/rank_map/0/nic", ABSENT),),
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.675. "
        "Ranks that cross a node name no NIC with a link of class inter_node.",
        also={"missing": ("/trials/t/rank_map/0/nic",)},
    ),
    Case(
        name="total above what the link carries",
        gate="link_utilization",
        outcome="UNKNOWN",
        limit=link(),
        trial=((f"{UP}/mixed/tx_bytes_total", 10**12),),
        sentence="Link a-up (mixed) peaks at 0.500 of its rate in window w1; at most 0.675. "
        "peak_tx_bytes is 5,000,000,000; the mean interval carries 10,000,000,000.",
        also={"would": "PASS"},
    ),
    Case(
        name="nothing crosses and nothing is recorded",
        gate="link_utilization",
        outcome="NOT_APPLICABLE",
        limit=link(),
        trial=(*ONE_NODE, ("/windows/w1/links", ABSENT), ("/windows/w2/links", ABSENT)),
        sentence="No group crosses a node and no inter_node link is recorded.",
    ),
    Case(
        name="nothing crosses and a recorded link still counts",
        gate="link_utilization",
        outcome="FAIL",
        limit=link(0.5),
        trial=ONE_NODE,
        sentence="Link a-up (mixed) peaks at 0.600 of its rate in window w2; at most 0.450.",
    ),
    Case(
        name="load point not measured",
        gate="link_utilization",
        outcome="UNKNOWN",
        limit=link() | {"load_point": "open"},
        sentence="No counted window at open.",
        also={"missing": ("/trials/t/windows",)},
    ),
]


@pytest.mark.parametrize("case", parameters(CASES))
def test_gate_gives_the_whole_answer(case: Case) -> None:
    check(case)
