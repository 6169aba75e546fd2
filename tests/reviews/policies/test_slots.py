"""Which decision of a slot counts, and how."""

from dataclasses import dataclass

import pytest

from reviews.policies.slots import standing_for


@dataclass(frozen=True)
class Row:
    """A decision of a slot."""

    state: str
    is_activated: bool = True


@pytest.mark.parametrize(
    ("newest_first", "place", "hold"),
    [
        pytest.param([Row("EFFECTIVE"), Row("SUPERSEDED")], 0, "in_force", id="in force"),
        pytest.param([Row("IN_REVIEW", False), Row("EFFECTIVE")], 1, "in_force", id="in force before a review"),
        pytest.param([Row("EFFECTIVE"), Row("EMERGENCY")], 1, "in_force", id="an emergency before what it overrides"),
        pytest.param([Row("IN_REVIEW", False), Row("STALE")], 1, "standing", id="stale may still run"),
        pytest.param([Row("EVALUATING"), Row("REVOKED")], 0, "standing", id="revised after it was in force"),
        pytest.param([Row("CONTESTED")], 0, "standing", id="contested holds no more"),
        pytest.param(
            [Row("WITHDRAWN", False), Row("IN_REVIEW", False)], 1, "none", id="what goes on before what ended"
        ),
        pytest.param([Row("REJECTED", False), Row("REVOKED")], 0, "none", id="everything ended"),
    ],
)
def test_the_decision_that_stands_for_a_slot(newest_first: list[Row], place: int, hold: str) -> None:
    assert standing_for(newest_first) == (newest_first[place], hold)
