"""Bars and skylines: lengths in whole units, nothing drawn for what is missing."""

from fractions import Fraction

import pytest

from reviews.web.byte_text import bytes_text, signed_bytes
from reviews.web.stacked import Segment, area, segments, skyline, stairs


def test_parts_are_laid_end_to_end() -> None:
    assert segments([("a", 25), ("b", 50)], 100) == (Segment("a", 0, 250), Segment("b", 250, 500))


def test_parts_begin_where_they_are_told_to_and_end_with_the_bar() -> None:
    assert segments([("a", 50), ("b", 50)], 100, 60) == (Segment("a", 600, 400),)


def test_what_is_too_short_to_be_seen_is_left_out() -> None:
    assert segments([("a", 0), ("b", Fraction(1, 10_000)), ("c", 1)], 1) == (Segment("c", 0, 1000),)


def test_nothing_is_drawn_on_a_scale_of_nothing() -> None:
    assert segments([("a", 5)], 0) == ()


def test_a_skyline_draws_equal_columns_once() -> None:
    assert area([300, 300, 500]) == "M0 1000V700H2V500H3V1000Z"


def test_a_ceiling_breaks_where_there_is_none() -> None:
    assert stairs([800, 800, None, 600, 700]) == "M0 200H2M3 400H4V300H5"


def test_a_skyline_stacks_its_layers_with_the_highest_first() -> None:
    found = skyline(("a", "b"), [(1, 2), None, (2, 2)], 4, [4, 4, 4])
    assert found.layers == (("b", "M0 1000V250H1V1000H2V0H3V1000Z"), ("a", "M0 1000V750H1V1000H2V500H3V1000Z"))
    assert (found.line, found.missing, found.width) == ("M0 0H3", "M0 1000V1000H1V0H2V1000H3V1000Z", 3)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (512, "512 B"), (327_680, "320.0 KiB"), (2**30, "1.0 GiB"), (3 * 2**40, "3.0 TiB")],
)
def test_bytes_are_written_in_the_unit_that_they_fill(value: int, text: str) -> None:
    assert bytes_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "±0 B"), (2**20, "+1.0 MiB"), (-(2**20), "−1.0 MiB"), (Fraction(1, 3), "±0 B")]
)
def test_a_difference_has_its_sign(value: int | Fraction, text: str) -> None:
    assert signed_bytes(value) == text
