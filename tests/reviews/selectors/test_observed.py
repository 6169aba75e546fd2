"""What production says of decisions, before anything was reported."""

from datetime import UTC, datetime
from typing import Any

import pytest

from reviews.errors import InvalidRequestError, NotFoundError
from reviews.selectors.observed import FindingCount, compared_span, observed, open_findings, value_history
from reviews.selectors.observed_rows import batch_rows, findings_page, source_rows
from tests.reviews.factories import Cast
from tests.reviews.rules.test_rule_11_validity import in_force

pytestmark = pytest.mark.django_db
NOON, LATER = datetime(2026, 11, 30, 12, tzinfo=UTC), datetime(2026, 11, 30, 13, tzinfo=UTC)


def test_nothing_is_out_of_its_envelope_where_nothing_was_reported(people: Cast) -> None:
    decision = in_force(people).decision
    assert open_findings(people.workspace, [decision.pk]) == {decision.pk: FindingCount(0, 0, None)}
    asked: dict[str, Any] = {"actor": people.bob, "workspace": people.workspace, "number": 1}
    assert (findings_page(**asked).total, source_rows(**asked), batch_rows(**asked)) == (0, ((), 0), ((), 0))
    assert value_history(**asked, metric="step_ms", place=0) == ()


def test_what_a_topology_was_qualified_for_is_known_from_its_activation_on(people: Cast) -> None:
    revision = in_force(people)
    found = observed(actor=people.bob, workspace=people.workspace, number=1)
    assert found.activation is not None
    assert found.qualified is not None
    assert (found.activation.revision, found.feed, found.qualified.ranks) == (revision, None, 1)


def test_a_span_of_which_nothing_was_reported_is_not_found(people: Cast) -> None:
    in_force(people)
    asked: dict[str, Any] = {
        "actor": people.bob,
        "workspace": people.workspace,
        "number": 1,
        "start": NOON,
        "end": LATER,
    }
    with pytest.raises(NotFoundError, match="Nothing was reported yet of what D-0001 put into force"):
        compared_span(**asked, metric="step_ms")


def test_a_metric_that_there_is_not_is_refused(people: Cast) -> None:
    in_force(people)
    with pytest.raises(InvalidRequestError):
        value_history(actor=people.bob, workspace=people.workspace, number=1, metric="speed", place=0)


def test_a_stranger_learns_of_nothing(people: Cast) -> None:
    in_force(people)
    with pytest.raises(NotFoundError):
        observed(actor=people.charlie, workspace=people.workspace, number=1)
