"""Signing: by whom, on what, once, and what happens when something moved."""

import json
from typing import Any

import pytest

from planner.canonical import content_id
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, NotFoundError, ReviewError
from reviews.facts import Authentication
from reviews.models import AuditEntry, Decision, Revision, SignOff
from reviews.selectors.decision_page import decision_page
from reviews.services.people import policy_set, seat_give
from reviews.services.withdrawals import signoff_withdraw
from tests.reviews.factories import POLICY, Cast, documents, last_entry, planned, sign, statuses, submitted

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def revision(people: Cast) -> Revision:
    """A planned first revision."""
    return planned(people)


def test_a_signoff_is_bound_to_every_digest_on_the_page(people: Cast, revision: Revision) -> None:
    signoff = sign(people, revision, authentication=Authentication("password", 31))
    assert (signoff.subject, signoff.meaning, signoff.statement, signoff.turn) == (
        revision.planned.subject,
        "approve",
        "The margins hold.",
        1,
    )
    assert json.loads(signoff.displayed) == {
        "contract": revision.contract.content_id,
        "contract_file_sha256": revision.contract.file_sha256,
        "evidence": revision.evidence.content_id,
        "evidence_file_sha256": revision.evidence.file_sha256,
        "identity": revision.identity,
        "plan": revision.planned.plan.plan_id,
        "planner_version": revision.planner_version,
        "policy": revision.policy.content_id,
        "subject": revision.planned.subject,
    }
    assert (signoff.auth_method, signoff.auth_age_s) == ("password", 31)


def test_a_subject_is_the_content_id_of_what_the_revision_states(revision: Revision) -> None:
    assert revision.planned.subject == content_id(
        {
            "contract": revision.contract.content_id,
            "evidence": revision.evidence.content_id,
            "identity": revision.identity,
            "policy": revision.policy.content_id,
            "planner_version": revision.planner_version,
            "plan": revision.planned.plan.plan_id,
        }
    )


def test_a_signoff_is_one_entry_with_the_persons_token_and_no_name(people: Cast, revision: Revision) -> None:
    before = AuditEntry.objects.count()
    signoff = sign(people, revision)
    entry = last_entry(people)
    assert AuditEntry.objects.count() == before + 1
    assert (entry["action"], entry["decision"], entry["revision"], entry["subject"]) == (
        "signoff.given",
        1,
        1,
        signoff.subject,
    )
    assert (entry["actor"], entry["team"], entry["meaning"], entry["request_id"]) == (
        people.bob.token,
        "serving",
        "approve",
        "req-1",
    )
    assert (entry["payload"]["scope"], entry["payload"]["statement"]) == (signoff.scope, "The margins hold.")
    assert people.bob.display_name not in json.dumps(entry)


@pytest.mark.parametrize(
    ("actor", "changes", "error", "message"),
    [
        pytest.param("alice", {}, NotAllowedError, "Its authors never sign it", id="the author"),
        pytest.param("carol", {}, NotAllowedError, "You are not a member of serving", id="another team"),
        pytest.param("audrey", {}, NotAllowedError, "Members with the role auditor never sign", id="an auditor"),
        pytest.param("bob", {"team": "unheard"}, NotAllowedError, "not a member of unheard", id="no such team"),
        pytest.param(
            "bob",
            {"authentication": Authentication("token")},
            NotAllowedError,
            "An API token cannot sign",
            id="by API token",
        ),
        pytest.param(
            "bob",
            {"meaning": "bless"},
            InvalidRequestError,
            "found bless.",
            id="unknown meaning",
        ),
        pytest.param(
            "bob",
            {"statement": "  "},
            InvalidRequestError,
            "statement: expected 1 to 4000 characters, found nothing.",
            id="no statement",
        ),
        pytest.param(
            "bob",
            {"statement": "NUL \0"},
            InvalidRequestError,
            "found 5 characters, among them U+0000, which nobody sees.",
            id="NUL in the statement",
        ),
        pytest.param("bob", {"statement": "\u200b"}, InvalidRequestError, "among them U+200B", id="nothing to see"),
        pytest.param("bob", {"statement": "No \u202eseY"}, InvalidRequestError, "among them U+202E", id="turned"),
        pytest.param("bob", {"team": ""}, InvalidRequestError, "team: expected the team", id="no team"),
        pytest.param("bob", {"statement": "\ud800"}, InvalidRequestError, "statement: expected", id="half a character"),
        pytest.param(
            "bob", {"meaning": "\ud800"}, InvalidRequestError, r"found '\ud800'.", id="half a character as meaning"
        ),
        pytest.param("bob", {"team": "\0"}, NotAllowedError, r"not a member of '\x00'", id="NUL as team"),
        pytest.param(
            "bob",
            {"seen_subject": "\0" * 200, "request_id": "\ud800" * 999},
            ConflictError,
            "belongs to no revision",
            id="NUL as subject",
        ),
        pytest.param(
            "bob",
            {"seen_subject": "sha256:" + "0" * 64},
            ConflictError,
            "The subject that you saw belongs to no revision of D-0001. Read the page again.",
            id="a subject of something else",
        ),
    ],
)
def test_a_refused_signoff_is_an_entry_and_nothing_else(
    people: Cast, revision: Revision, actor: str, changes: dict[str, Any], error: type[ReviewError], message: str
) -> None:
    before = AuditEntry.objects.count()
    with pytest.raises(error) as refused:
        sign(people, revision, getattr(people, actor), **changes)
    assert message in refused.value.message
    entry = last_entry(people)
    assert (SignOff.objects.count(), AuditEntry.objects.count()) == (0, before + 1)
    assert (entry["action"], entry["actor"], entry["decision"], entry["reason"]) == (
        "signoff.refused",
        getattr(people, actor).token,
        1,
        refused.value.message,
    )


def test_whoever_made_any_revision_never_signs(people: Cast, revision: Revision) -> None:
    people.bob.memberships.update(role="author")
    second = planned(people, pair=documents(tokens=170000), decision=revision.decision, actor=people.bob)
    third = planned(people, pair=documents(tokens=180000), decision=second.decision)
    with pytest.raises(NotAllowedError, match="You made a revision"):
        sign(people, third)


def test_being_a_superuser_exempts_from_nothing(people: Cast, revision: Revision) -> None:
    people.alice.is_superuser = True
    people.alice.save()
    with pytest.raises(NotAllowedError, match="Its authors never sign it"):
        sign(people, revision, people.alice)


def test_a_stranger_and_an_unknown_decision_are_not_found(people: Cast, revision: Revision) -> None:
    before = AuditEntry.objects.count()
    with pytest.raises(NotFoundError):
        sign(people, revision, people.charlie)
    with pytest.raises(NotFoundError, match="There is no decision D-0009 in lab"):
        sign(people, revision, decision_number=9)
    assert AuditEntry.objects.count() == before


def test_one_person_fills_one_teams_seat(people: Cast, revision: Revision) -> None:
    seat_give(membership=people.bob.memberships.get(), team="networking")
    first = sign(people, revision)
    with pytest.raises(NotAllowedError, match="You signed for serving in this decision"):
        sign(people, revision, team="networking")
    signoff_withdraw(actor=people.bob, workspace=people.workspace, signoff_id=first.pk, reason="Wrong team.")
    assert sign(people, revision, team="networking").team.slug == "networking"


@pytest.mark.parametrize(
    ("choices", "moved"),
    [
        pytest.param({"pair": documents(tokens=170000)}, ("evidence", "plan"), id="new evidence"),
        pytest.param({"pair": documents(floor=400)}, ("contract", "evidence", "plan"), id="new contract"),
        pytest.param({"as_of": "2026-09-22T12:00:00Z"}, ("plan",), id="another as-of time"),
    ],
)
def test_signing_a_superseded_revision_says_what_moved(
    people: Cast, revision: Revision, choices: dict[str, Any], moved: tuple[str, ...]
) -> None:
    planned(people, decision=revision.decision, **choices)
    with pytest.raises(ConflictError) as refused:
        sign(people, revision)
    assert (refused.value.moved, refused.value.revision) == (moved, 2)
    words = ", ".join(moved)
    assert refused.value.message == f"D-0001 moved while you read it: r2 replaced r1. Changed: {words}."
    assert SignOff.objects.count() == 0


def test_a_revision_that_is_still_planned_cannot_be_signed_by_its_predecessor(people: Cast, revision: Revision) -> None:
    submitted(people, pair=documents(tokens=170000), decision=revision.decision)
    with pytest.raises(ConflictError) as refused:
        sign(people, revision)
    assert refused.value.moved == ("evidence", "plan")


def test_another_policy_moves_the_next_revision(people: Cast, revision: Revision) -> None:
    policy_set(workspace=people.workspace, policy={**POLICY, "gate_owners": {}})
    planned(people, decision=revision.decision)
    with pytest.raises(ConflictError) as refused:
        sign(people, revision)
    assert refused.value.moved == ("policy",)


def test_a_decision_that_is_not_in_review_is_not_signed(people: Cast, revision: Revision) -> None:
    Decision.objects.update(state="WITHDRAWN")
    with pytest.raises(ConflictError, match="D-0001 is withdrawn, not in review"):
        sign(people, revision)


def test_a_double_click_gives_one_signoff_and_one_entry(people: Cast, revision: Revision) -> None:
    first = sign(people, revision)
    before = AuditEntry.objects.count()
    assert sign(people, revision) == first
    assert (SignOff.objects.count(), AuditEntry.objects.count()) == (1, before)


def test_a_later_signoff_replaces_the_earlier_one_which_stays_visible(people: Cast, revision: Revision) -> None:
    sign(people, revision)
    second = sign(people, revision, meaning="request_changes", statement="Rank 5 first.")
    assert second.turn == 2
    assert statuses(people) == [("CURRENT", "", ()), ("VOID", "REPLACED", ())]


def test_a_signoff_goes_stale_with_new_evidence_and_says_why(people: Cast, revision: Revision) -> None:
    sign(people, revision)
    assert statuses(people) == [("CURRENT", "", ())]
    submitted(people, pair=documents(tokens=170000), decision=revision.decision)
    assert statuses(people) == [("STALE", "SUBJECT_CHANGED", ("evidence", "plan"))]


def test_a_signer_who_left_the_team_counts_no_more(people: Cast, revision: Revision) -> None:
    sign(people, revision)
    people.bob.memberships.get().seats.all().delete()
    assert statuses(people) == [("VOID", "SIGNER_INELIGIBLE", ())]


def test_signoffs_of_all_teams_approve_a_revision(people: Cast, revision: Revision) -> None:
    sign(people, revision)
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    assert (page.approval.approved, page.approval.because) == (False, "Waiting on networking.")
    sign(people, revision, people.carol, team="networking")
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    assert page.approval.approved is True
