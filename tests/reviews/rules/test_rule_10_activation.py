"""Rule 10 and activation: eligibility again at activation, requirements kept, a newer decision supersedes."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import pytest

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, ProofNeededError
from reviews.facts import Authentication
from reviews.models import (
    Activation,
    ActivationFootprint,
    AuditEntry,
    Blob,
    CountedTrial,
    Decision,
    Person,
    Revision,
    TeamSeat,
)
from reviews.planning import decode_plan
from reviews.queue import SIGN_TASK
from reviews.services.activation import decision_activate
from reviews.services.people import Trace
from reviews.services.withdrawals import signoff_withdraw as withdraw
from tests.reviews.factories import PROVEN, Cast, documents, example_pair, last_entry, planned, sign

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def approved(people: Cast, **choices: Any) -> Revision:
    """A revision that bob and carol approved."""
    revision = planned(people, **choices)
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    return revision


def activate(people: Cast, revision: Revision, actor: Person | None = None, **changes: Any) -> Activation:
    """Put a revision into force: dave of serving, unless said otherwise."""
    request: dict[str, Any] = {
        "actor": actor or people.dave,
        "workspace": people.workspace,
        "number": revision.decision.number,
        "statement": "Rolled out behind the canary.",
        "seen_subject": revision.planned.subject,
        "rollback": "none",
        "trace": Trace("req-2", PROVEN),
    }
    return decision_activate(**(request | changes))


def state(revision: Revision) -> str:
    return Decision.objects.get(pk=revision.decision_id).state


def test_an_activation_asks_for_a_checkpoint_over_it(
    people: Cast, django_capture_on_commit_callbacks: Callable[[], AbstractContextManager[list[partial[bool]]]]
) -> None:
    revision = approved(people)
    with django_capture_on_commit_callbacks() as asked:
        activate(people, revision)
    assert [one.args for one in asked] == [(people.workspace.pk, SIGN_TASK)]


def test_an_approved_revision_is_put_into_force(people: Cast) -> None:
    revision = approved(people)
    activation = activate(people, revision)
    assert (state(revision), activation.trial, activation.kind) == ("EFFECTIVE", "t-1", "review")
    assert activation.rank_map_digest == revision.planned.basis.rank_map_digest
    entry = last_entry(people)
    assert (entry["action"], entry["subject"], entry["reason"]) == (
        "decision.activated",
        revision.planned.subject,
        "Rolled out behind the canary.",
    )


def test_what_is_put_into_force_keeps_what_it_takes_and_which_trials_it_counted(people: Cast) -> None:
    revision = approved(people, pair=example_pair("blast-radius"))
    activation = activate(people, revision)
    kept = ActivationFootprint.objects.get(activation=activation)
    assert (kept.charge, kept.used, kept.spares, kept.stranded) == ("device", 16, 0, 0)
    assert (kept.types, kept.usd_per_hour, kept.unpriced) == ('{"accel-80g":16}', "48", "")
    counted = CountedTrial.objects.filter(activation=activation).values_list("trial", "content_id")
    plan = decode_plan(bytes(revision.planned.plan.blob.data))
    assert dict(counted) == {trial: candidate.trial_content_id for trial, candidate in plan.candidates.items()}


def test_the_requirements_are_kept_as_they_were_judged(people: Cast) -> None:
    revision = approved(people)
    activation = activate(people, revision)
    kept = json.loads(bytes(Blob.objects.get(pk=activation.requirements_id).data))
    assert [(row["team"], row["status"]) for row in kept["requirements"]] == [
        ("networking", "SATISFIED"),
        ("serving", "SATISFIED"),
    ]
    assert {(row["team"], row["person"], row["status"]) for row in kept["signoffs"]} == {
        ("networking", people.carol.token, "CURRENT"),
        ("serving", people.bob.token, "CURRENT"),
    }
    assert kept["authors"] == [people.alice.token]
    assert last_entry(people)["payload"]["requirements"] == kept["requirements"]


def test_a_signer_who_lost_the_seat_counts_no_more_at_activation(people: Cast) -> None:
    revision = approved(people)
    TeamSeat.objects.filter(membership__person=people.bob).delete()
    with pytest.raises(ConflictError, match=r"D-0001 r1 is not approved. Waiting on serving."):
        activate(people, revision)
    assert (state(revision), last_entry(people)["action"]) == ("IN_REVIEW", "activation.refused")


def test_what_is_not_approved_is_not_put_into_force(people: Cast) -> None:
    revision = planned(people)
    sign(people, revision)
    with pytest.raises(ConflictError, match="Waiting on networking"):
        activate(people, revision)


def test_an_author_releases_nothing(people: Cast) -> None:
    revision = approved(people)
    with pytest.raises(NotAllowedError, match="Its authors neither sign nor release it"):
        activate(people, revision, people.alice)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        pytest.param(
            {"trace": Trace("r", Authentication("password", 400))}, ProofNeededError, "Confirm", id="old proof"
        ),
        pytest.param({"trace": Trace("r", Authentication("token", 1))}, NotAllowedError, "API token", id="a token"),
        pytest.param({"rollback": ""}, InvalidRequestError, "rollback: expected where to go back to", id="no rollback"),
        pytest.param({"statement": " "}, InvalidRequestError, "statement: expected", id="no statement"),
        pytest.param({"seen_subject": "sha256:00"}, ConflictError, "moved while you read it", id="another subject"),
    ],
)
def test_what_is_refused_is_an_entry(
    people: Cast, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    revision = approved(people)
    with pytest.raises(error, match=message):
        activate(people, revision, **changes)
    assert (last_entry(people)["action"], state(revision)) == ("activation.refused", "IN_REVIEW")


def test_a_double_click_is_one_activation(people: Cast) -> None:
    revision = approved(people)
    assert activate(people, revision) == activate(people, revision)
    assert AuditEntry.objects.filter(action="decision.activated").count() == 1


def test_a_newer_decision_on_the_slot_supersedes_the_older(people: Cast) -> None:
    first = approved(people)
    activate(people, first)
    second = approved(people, pair=documents(tokens=170000))
    activate(people, second)
    assert (state(first), state(second)) == ("SUPERSEDED", "EFFECTIVE")
    entry = AuditEntry.objects.get(action="decision.superseded")
    assert entry.decision_number == 1
    assert entry.payload is not None
    assert json.loads(bytes(entry.payload.data)) == {"by": 2, "slot": "own/one-device"}


def test_another_slot_is_left_alone(people: Cast) -> None:
    first = approved(people)
    activate(people, first)
    second = approved(people, pair=documents(slot="own/other"))
    activate(people, second)
    assert (state(first), state(second)) == ("EFFECTIVE", "EFFECTIVE")


def test_an_objection_to_what_is_in_force_contests_it_and_lifting_it_restores(people: Cast) -> None:
    revision = approved(people)
    activate(people, revision)
    objection = sign(people, revision, people.dave, meaning="object")
    assert state(revision) == "CONTESTED"
    from_web: dict[str, Any] = {"actor": people.dave, "workspace": people.workspace, "signoff_id": objection.pk}
    withdraw(reason="Measured since.", **from_web)
    assert state(revision) == "EFFECTIVE"


def test_what_a_decision_in_force_rests_on_is_not_withdrawn(people: Cast) -> None:
    revision = planned(people)
    signoff = sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    activate(people, revision)
    with pytest.raises(ConflictError, match="rests on this sign-off"):
        withdraw(actor=people.bob, workspace=people.workspace, signoff_id=signoff.pk, reason="Doubts.")
