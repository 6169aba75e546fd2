"""How a sampled peak stands to the true one."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from planner.readings import WindowView, peak_bound
from planner.records.evidence import PerRank, Window

START = "2026-09-20T09:40:00Z"
END = "2026-09-20T09:45:00Z"


@pytest.mark.parametrize(
    ("recorded", "most", "side"),
    [
        pytest.param({}, UNSET, "exact", id="not sampled"),
        pytest.param({"bound": "upper"}, UNSET, "upper", id="not sampled, called upper"),
        pytest.param({"sample_interval_s": 1, "samples": 300}, 1, "exact", id="close samples over the whole window"),
        pytest.param({"sample_interval_s": 1, "samples": 299}, 1, "exact", id="one sample less than intervals"),
        pytest.param({"sample_interval_s": 1, "samples": 298}, 1, "lower", id="close samples over a part"),
        pytest.param({"sample_interval_s": 1.5, "samples": 300}, 1, "lower", id="samples too far apart"),
        pytest.param({"sample_interval_s": 1, "samples": 300}, UNSET, "lower", id="no interval allowed"),
        pytest.param(
            {"bound": "upper", "sample_interval_s": 1, "samples": 300}, 1, "upper", id="close samples, called upper"
        ),
        pytest.param(
            {"bound": "upper", "sample_interval_s": 2, "samples": 300}, 1, "none", id="far samples, called upper"
        ),
        pytest.param(
            {"bound": "lower", "sample_interval_s": 2, "samples": 300}, 1, "lower", id="far samples, called lower"
        ),
    ],
)
def test_sampled_peak_bounds_the_true_one(recorded: dict[str, Any], most: Any, side: str) -> None:
    window = msgspec.convert({"purpose": "counted", "load_point": "saturated", "start": START, "end": END}, Window)
    metric = msgspec.convert({**recorded, "values": [1]}, PerRank)
    assert peak_bound(WindowView(id="w", at="/w", record=window), metric, most) == side
