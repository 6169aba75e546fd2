"""Values of production in words: one unit for one thing."""

import pytest

from planner.observations import METRICS
from planner.observations.words import range_text, unit_of, value_text


@pytest.mark.parametrize(
    ("metric", "statistic", "value", "expected"),
    [
        ("device_used_bytes", "max", 79 * 2**30, "79 GiB"),
        ("ttft_ms", "p95", 1234.5, "1,234.5 ms"),
        ("recovery_s", "max", 30, "30 s"),
        ("power_watts", "max", 712.5, "712.5 W"),
        ("output_tokens", "rate", 960, "960 tok/s"),
        ("kv_used_share", "max", 0.913, "91.3 %"),
        ("requests_failed", "share", 0.0125, "1.25 %"),
        ("expert_peak_to_mean", "mean", 1.75, "1.75"),
    ],
)
def test_a_value_is_written_with_its_unit(metric: str, statistic: str, value: float, expected: str) -> None:
    assert value_text(value, metric, statistic) == expected


def test_a_breach_by_little_is_not_written_as_its_limit() -> None:
    assert value_text(64 * 2**30 + 2**22, "device_used_bytes", "max") == "64.004 GiB"


def test_what_is_no_share_rate_or_plain_count_has_its_unit_in_its_name() -> None:
    plain = {name for name in METRICS if not unit_of(name)}
    assert all(
        METRICS[name].kind == "count"
        for name in plain - {"running_requests", "waiting_requests", "expert_peak_to_mean"}
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(939.01, None, "939.01 ms or more"), (90, 98, "90 ms to 98 ms"), (90, 90, "90 ms"), (None, None, "unknown")],
)
def test_a_value_that_can_be_several_is_written_with_its_ends(
    low: float | None, high: float | None, expected: str
) -> None:
    assert range_text(low, high, "ttft_ms", "p95") == expected
