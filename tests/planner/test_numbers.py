"""Exact numbers and the two ways back to text."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from planner.numbers import exact, plain, rounded
from planner.records.plan import Ratio


@pytest.mark.parametrize(
    ("number", "value"),
    [
        pytest.param(0.1, Fraction(1, 10), id="decimal, not the double's binary value"),
        pytest.param(0.85, Fraction(17, 20), id="a limit as written"),
        pytest.param(1e-7, Fraction(1, 10**7), id="exponent"),
        pytest.param(-2.5, Fraction(-5, 2), id="negative"),
        pytest.param(2**53 - 1, Fraction(2**53 - 1), id="integer"),
        pytest.param(Fraction(1, 3), Fraction(1, 3), id="fraction"),
        pytest.param(Ratio(num=-1, den=3), Fraction(-1, 3), id="ratio"),
        pytest.param(Ratio(num=str(2**60), den=3), Fraction(2**60, 3), id="ratio with digits as text"),
    ],
)
def test_exact_reads_the_decimal(number: Any, value: Fraction) -> None:
    assert exact(number) == value


@pytest.mark.parametrize("value", [True, "1", None, Decimal(1)], ids=repr)
def test_exact_refuses_what_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError):
        exact(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")], ids=repr)
def test_exact_refuses_what_has_no_value(value: float) -> None:
    with pytest.raises(ValueError, match="is no decimal"):
        exact(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param(Fraction(4, 2), 2, id="integer"),
        pytest.param(Fraction(17, 20), 0.85, id="decimal"),
        pytest.param(Fraction(1, 3), Ratio(num=1, den=3), id="no decimal"),
        pytest.param(Fraction(10**20), 1e20, id="large, but the decimal of a double"),
        pytest.param(Fraction(2**60), Ratio(num=str(2**60), den=1), id="a double, but not its shortest decimal"),
        pytest.param(Fraction(2**60 + 1), Ratio(num=str(2**60 + 1), den=1), id="integer beyond 2^53"),
        pytest.param(Fraction(10**400 + 1, 3), Ratio(num=str(10**400 + 1), den=3), id="beyond a double"),
    ],
)
def test_plain_is_exact_in_its_shortest_kind(value: Fraction, written: Any) -> None:
    found = plain(value)
    assert (type(found), found) == (type(written), written)
    assert exact(found) == value


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        pytest.param(Fraction(1, 3), 3, "0.333", id="third"),
        pytest.param(Fraction(2, 3), 3, "0.667", id="two thirds"),
        pytest.param(Fraction(5, 2), 0, "2", id="half to even, down"),
        pytest.param(Fraction(7, 2), 0, "4", id="half to even, up"),
        pytest.param(0.125, 2, "0.12", id="half of a decimal to even"),
        pytest.param(2.675, 2, "2.68", id="from the decimal, where the double lies below"),
        pytest.param(-0.5, 0, "0", id="no negative zero"),
        pytest.param(-1.25, 1, "-1.2", id="negative"),
        pytest.param(960, 3, "960.000", id="integer"),
        pytest.param(0.0004, 3, "0.000", id="below the last place"),
    ],
)
def test_rounded_goes_half_to_even_from_the_exact_value(value: Any, places: int, text: str) -> None:
    assert rounded(value, places) == text
