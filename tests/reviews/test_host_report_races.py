"""Hosts that report at the same moment, and while a decision comes into force: one outcome, one log, nothing lost."""

import json
from functools import partial

import pytest

from reviews.errors import ConflictError
from reviews.models import AuditEntry, Decision, HostReport, IdentityReport
from reviews.services.host_reports import Answer
from reviews.verification import verify
from tests.reviews.factories import Cast, cast
from tests.reviews.hosts import post, report, running, stamp, two_nodes, with_engine
from tests.reviews.racing import race
from tests.reviews.rules.test_rule_10_activation import activate, approved

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]

ROUNDS = 4


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """The cast, committed."""
    return cast()


def test_hosts_that_report_at_once_all_count(people: Cast) -> None:
    running(people)
    for round_ in range(ROUNDS):
        at = stamp(5 + round_)
        sent = [partial(post, people, report(node, collected_at=at)) for node in ("node-a", "node-b")]
        results = race([*sent, *sent])
        assert all(isinstance(result, Answer) for result in results)
    assert post(people, report("node-a", collected_at=stamp(20))).check.matches
    assert (HostReport.objects.count(), IdentityReport.objects.count()) == (2, 2)
    assert verify(people.workspace).holds


def test_of_two_reports_of_one_host_and_second_one_is_taken(people: Cast) -> None:
    running(people)
    at = stamp(5)
    both = [report("node-a", collected_at=at), report("node-a", collected_at=at, host="gpu-99")]
    results = race([partial(post, people, tree) for tree in both])
    assert sorted(type(result).__name__ for result in results) == ["Answer", "ConflictError"]
    assert list(json.loads(HostReport.objects.get().refusals)) == [ConflictError.code]
    assert verify(people.workspace).holds


def test_hosts_that_differ_at_once_turn_the_decision_stale_once(people: Cast) -> None:
    running(people)
    trees = [with_engine(report(node), "2.0") for node in ("node-a", "node-b")]
    results = race([partial(post, people, tree) for tree in trees])
    assert [result.check.matches for result in results] == [False, False]
    assert (Decision.objects.get().state, IdentityReport.objects.filter(matches=False).count()) == ("STALE", 2)
    assert AuditEntry.objects.filter(action="identity.differs").count() == 2
    assert verify(people.workspace).holds


def test_a_report_during_the_activation_is_of_before_or_of_after(people: Cast) -> None:
    revision = approved(people, pair=two_nodes())
    race([partial(activate, people, revision), partial(post, people, with_engine(report("node-a"), "2.0"))])
    differs = AuditEntry.objects.filter(action="identity.differs").count()
    assert Decision.objects.get().state == ("STALE" if differs else "EFFECTIVE")
    assert bool(HostReport.objects.get().subject) == bool(differs)
    assert verify(people.workspace).holds
