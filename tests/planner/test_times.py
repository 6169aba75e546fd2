"""Durations in words."""

import pytest

from planner.times import lasting


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 days"),
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (5_400, "90 minutes"),
        (7_200, "2 hours"),
        (86_400, "1 day"),
        (1_209_600, "14 days"),
        (1_209_601, "1,209,601 seconds"),
        (86_400_000, "1,000 days"),
    ],
)
def test_a_duration_is_written_in_the_largest_unit_that_is_exact(seconds: int, expected: str) -> None:
    assert lasting(seconds) == expected
