"""Numbers in sentences: never two different ones in the same text, never zero with a sign."""

from fractions import Fraction
from typing import Any

import pytest

from planner.gates.wording import apart, gib, ms, share, usd
from planner.numbers import exact


@pytest.mark.parametrize(
    ("show", "first", "second", "texts"),
    [
        pytest.param(ms, 500, 500, ("500 ms", "500 ms"), id="equal"),
        pytest.param(ms, 500.004, 500, ("500.004 ms", "500 ms"), id="a few decimals"),
        pytest.param(ms, 0.30000000000000004, 0.3, ("0.30000000000000004 ms", "0.3 ms"), id="one unit in last place"),
        pytest.param(ms, 5e-324, 0, (f"0.{'0' * 323}5 ms", "0 ms"), id="the smallest double"),
        pytest.param(share, 1, 0.9999999999999999, ("1.0000000000000000", "0.9999999999999999"), id="below one"),
    ],
)
def test_two_numbers_are_written_apart(show: Any, first: float, second: float, texts: tuple[str, str]) -> None:
    assert apart(show, exact(first), exact(second), 2) == texts


def test_what_rounds_to_zero_has_no_sign() -> None:
    assert (gib(Fraction(-1)), usd(Fraction(-1, 10**6)), usd(Fraction(-1, 100))) == ("0.0 GiB", "0.00 USD", "−0.01 USD")
