"""The number of a decision as people write it, read and written in one place."""

import pytest

from planner.decision_numbers import decision_label, decision_number, revision_label


@pytest.mark.parametrize("text", ["12", "D-0012", "d-12", "D12", " d12 ", "0012", "D-" + "0" * 5000 + "12"])
def test_reads_every_way_of_writing_it(text: str) -> None:
    assert decision_number(text) == 12


@pytest.mark.parametrize(
    "text", ["", "0", "D-0", "-12", "+12", "1_2", "12.0", "D 12", "E-12", "\u0661\u0662", "9" * 10, "9" * 5000]
)
def test_anything_else_is_no_number(text: str) -> None:
    assert decision_number(text) is None


@pytest.mark.parametrize(("number", "written"), [(7, "D-0007"), (12345, "D-12345")])
def test_writes_at_least_four_digits(number: int, written: str) -> None:
    assert decision_label(number) == written
    assert decision_number(written) == number


def test_a_revision_stands_behind_its_decision() -> None:
    assert revision_label(12, 3) == "D-0012 r3"
