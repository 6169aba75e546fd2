"""Whole numbers that somebody typed: digits, and nothing that Python takes besides."""

import pytest

from planner.whole_numbers import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("12", 12), ("0012", 12), ("999999999", 999_999_999)])
def test_reads_digits(text: str, number: int) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    "text", ["", " 12", "12 ", "12\n", "+12", "-12", "1_2", "12.0", "1e3", "0x1", "\u0661\u0662", "\u00b2", "9" * 5000]
)
def test_anything_else_is_none(text: str) -> None:
    assert whole_number(text) is None


def test_says_how_many_digits_it_takes() -> None:
    assert (whole_number("1234", 4), whole_number("12345", 4)) == (1234, None)
