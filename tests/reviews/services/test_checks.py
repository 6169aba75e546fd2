"""What is judged without storing anything, and the as-of time, which a check judges like a submission."""

import json
from datetime import timedelta

import pytest

from planner.canonical import content_id
from planner.times import time_text
from reviews.clock import database_now
from reviews.errors import DocumentsRefusedError
from reviews.models import AuditEntry, Decision
from reviews.services.submissions import Checked, submission_check
from tests.reviews.factories import Cast, Pair, documents, last_entry, submitted

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def in_the_future(seconds: int = 3600) -> str:
    return time_text(database_now() + timedelta(seconds=seconds))


def test_a_check_says_the_same_and_leaves_nothing(people: Cast) -> None:
    pair, before = Pair(documents(floor=600).contract, documents().evidence), AuditEntry.objects.count()
    with pytest.raises(DocumentsRefusedError) as refused:
        submitted(people, pair=pair)
    checked = submission_check(
        actor=people.alice, workspace=people.workspace, contract=pair.contract, evidence=pair.evidence
    )
    assert checked == Checked(refused.value.problems, None)
    assert AuditEntry.objects.count() == before + 1
    good = documents()
    sound = submission_check(
        actor=people.alice, workspace=people.workspace, contract=good.contract, evidence=good.evidence
    )
    assert sound.problems == ()
    assert sound.evidence is not None
    assert sound.evidence.content_id == content_id(json.loads(good.evidence))
    assert Decision.objects.count() == 0


def test_a_check_judges_the_time_too(people: Cast) -> None:
    good = documents()
    checked = submission_check(
        actor=people.alice,
        workspace=people.workspace,
        contract=good.contract,
        evidence=good.evidence,
        as_of=in_the_future(),
    )
    assert [problem.code for problem in checked.problems] == ["request/as_of"]


def test_a_time_in_the_future_is_refused_on_the_clock_of_the_database(people: Cast) -> None:
    as_of = in_the_future()
    with pytest.raises(DocumentsRefusedError) as refused:
        submitted(people, as_of=as_of)
    assert [problem.code for problem in refused.value.problems] == ["request/as_of"]
    assert refused.value.problems[0].expected.startswith("a time not after now, 20")
    assert refused.value.problems[0].found == as_of
    assert (Decision.objects.count(), last_entry(people)["action"]) == (0, "submission.refused")


def test_a_clock_that_is_a_little_ahead_is_no_future(people: Cast) -> None:
    as_of = in_the_future(50)
    assert submitted(people, as_of=as_of).as_of == as_of
