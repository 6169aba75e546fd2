"""Every statement of further acts fails once; as in test_kth_failure, fact and entry are both there or neither is."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import models

from reviews import models as tables
from reviews.models import AuditEntry
from reviews.services.activation import decision_activate
from reviews.services.erasure import member_erase
from reviews.services.exports import export_request
from reviews.services.people_accounts import person_rename
from reviews.services.people_roster import Asker, account_close, member_invite
from reviews.services.proposals import HANDLERS
from reviews.services.retractions import evidence_retract
from reviews.services.threads import comments_publish
from reviews.services.tokens import token_create
from reviews.services.two_persons import proposal_countersign
from reviews.verification import verify
from tests.reviews.factories import Cast, planned
from tests.reviews.failing import entries_after_every_failure
from tests.reviews.rules.board import BOARD, TRACE, board, propose, someone
from tests.reviews.rules.test_rule_10_activation import approved
from tests.reviews.rules.test_rule_14_threads import about

pytestmark = pytest.mark.django_db

FACTS: tuple[type[models.Model], ...] = (
    tables.Activation,
    tables.ApiToken,
    tables.Comment,
    tables.Countersignature,
    tables.Export,
    tables.Invitation,
    tables.Membership,
    tables.Mention,
    tables.Policy,
    tables.Retraction,
    tables.Thread,
)
Act = Callable[[], Any]


@pytest.fixture
def people(db: None) -> Cast:
    return board()


def state() -> dict[str, Any]:
    """Everything that the acts below state, with the log's length."""
    return {
        **{table.__name__: table._default_manager.count() for table in FACTS},
        "decisions": list(tables.Decision.objects.order_by("pk").values_list("state", flat=True)),
        "people": list(tables.Person.objects.order_by("pk").values_list("login", "display_name", "salt", "is_active")),
        "entries": AuditEntry.objects.count(),
    }


def activation(people: Cast) -> Act:
    revision = approved(people)
    return lambda: decision_activate(
        actor=people.dave,
        workspace=people.workspace,
        number=1,
        statement="Rolled out.",
        seen_subject=revision.planned.subject,
        rollback="none",
        trace=TRACE,
    )


def retraction(people: Cast) -> Act:
    activation(people)()
    faulty = tables.Revision.objects.get().evidence.content_id
    return lambda: evidence_retract(
        actor=people.bob, workspace=people.workspace, content_id=faulty, reason="Faulty.", trace=TRACE
    )


def publication(people: Cast) -> Act:
    planned(people)
    said = (about(text="Which, @erin?"), about("trial", "t-1"))
    return lambda: comments_publish(actor=people.bob, workspace=people.workspace, number=1, comments=said, trace=TRACE)


def new_policy(people: Cast) -> Act:
    base = tables.Policy.objects.get().content_id
    body = {"base": base, "policy": BOARD | {"max_age_s": 3600}}
    made = propose(people, "policy", "ada", body, number=None)
    return lambda: proposal_countersign(
        HANDLERS, actor=someone("abel"), workspace=people.workspace, proposal_id=made.pk, trace=TRACE
    )


def token(people: Cast) -> Act:
    return lambda: token_create(actor=people.alice, workspace=people.workspace, label="nightly", scope="submit", days=7)


def invitation(people: Cast) -> Act:
    asker = Asker(person=someone("ada"), workspace=people.workspace, trace=TRACE)
    return lambda: member_invite(asker=asker, login="eve", name="Eve", email="", role="member")


def erasure(people: Cast) -> Act:
    asker = Asker(person=someone("ada"), workspace=people.workspace, trace=TRACE)
    account_close(asker=asker, login="bob-lab")
    return lambda: member_erase(asker=asker, login="bob-lab", repeated="bob-lab")


def renaming(people: Cast) -> Act:
    return lambda: person_rename(actor=tables.Person.objects.get(pk=people.bob.pk), name="Robert")


def export(people: Cast) -> Act:
    return lambda: export_request(actor=people.audrey, workspace=people.workspace, trace=TRACE)


@pytest.mark.parametrize(
    ("prepare", "entries"),
    [
        pytest.param(activation, 1, id="putting into force"),
        pytest.param(retraction, 2, id="retraction that contests a decision"),
        pytest.param(publication, 1, id="comments"),
        pytest.param(new_policy, 2, id="policy of two admins"),
        pytest.param(token, 1, id="token"),
        pytest.param(invitation, 2, id="invitation"),
        pytest.param(erasure, 1, id="erasure"),
        pytest.param(renaming, 1, id="account"),
        pytest.param(export, 1, id="export"),
    ],
)
def test_an_act_that_fails_anywhere_leaves_nothing(people: Cast, prepare: Callable[[Cast], Act], entries: int) -> None:
    assert entries_after_every_failure(prepare(people), state) == entries
    assert verify(people.workspace).holds
