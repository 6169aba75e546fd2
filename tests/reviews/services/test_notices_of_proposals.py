"""Who can be the second person of an act is told of it at once, and who proposed it of what became of it."""

import json

import pytest
from django.utils import timezone

from reviews.models import Delivery, Notice, NoticeMode, Person, Webhook
from reviews.services.deliveries import delivery_send
from reviews.services.notice_preferences import notice_preference_set
from reviews.services.notices import notices_sweep
from reviews.services.proposal_ends import proposals_sweep
from reviews.services.webhook_messages import notice_body
from tests.reviews import waiting
from tests.reviews.factories import Cast
from tests.reviews.mail_server import Mailbox
from tests.reviews.rules.board import board, countersign, propose, someone
from tests.reviews.services.test_notices import mail, overdue, send, told
from tests.reviews.services.test_proposal_ends import decline

__all__ = ["mail"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def people(db: None, mail: Mailbox) -> Cast:
    """A board of which everybody has an address; nothing that happened before is told."""
    made = board()
    for person in Person.objects.all():
        person.email = f"{person.login}@example.org"
        person.save(update_fields=["email"])
    return made


@pytest.fixture(autouse=True)
def nothing_told_before(people: Cast) -> None:
    notices_sweep()


def told_of(action: str) -> dict[str, str]:
    """Who is told of an action that was not told yet, and why."""
    notices_sweep()
    Delivery.objects.exclude(notice__kind=action).delete()
    return told()


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("policy", ["Abel"]),
        ("waiver", ["Erin"]),
        ("emergency", ["Bob", "Dave"]),
        ("revocation", ["Ivan"]),
        ("rollback", ["Ivan"]),
        ("lift_objection", ["Bob"]),
    ],
)
def test_whoever_can_countersign_is_told_and_nobody_else(kind: str, seconds: list[str], people: Cast) -> None:
    waiting.KINDS[kind](people)
    assert told_of("proposal.made") == dict.fromkeys(seconds, "second")


def test_the_same_proposal_again_is_told_once(people: Cast) -> None:
    proposal = waiting.emergency(people)
    notices_sweep()
    assert propose(people, "emergency", "ivan", waiting.EMERGENCY) == proposal
    notices_sweep()
    assert Notice.objects.filter(kind="proposal.made").count() == 1


def test_who_proposed_it_hears_that_it_was_countersigned(people: Cast) -> None:
    countersign(people, waiting.emergency(people), "bob")
    assert told_of("proposal.countersigned") == {"Ivan": "proposer"}


def test_what_is_carried_out_by_then_asks_nobody(people: Cast) -> None:
    countersign(people, waiting.emergency(people), "bob")
    assert told_of("proposal.made") == {}


def test_who_proposed_it_hears_that_it_was_declined_and_why(people: Cast, mail: Mailbox) -> None:
    decline(people, waiting.emergency(people), "bob", "The other replica holds.")
    notices_sweep()
    Delivery.objects.exclude(notice__kind="proposal.declined").delete()
    assert send() == ["sent"]
    (message,) = mail.messages
    text = message.get_content()
    assert message["To"] == "ivan@example.org"
    assert "Bob declined an emergency. It is not carried out." in text
    assert "“The other replica holds.”" in text


@pytest.mark.parametrize("act", ["countersigned", "declined"])
def test_the_subject_has_the_whole_name_of_who_did_it(act: str, people: Cast, mail: Mailbox) -> None:
    Person.objects.filter(pk=people.bob.pk).update(display_name="Dr. Bob")
    proposal = waiting.emergency(people)
    if act == "declined":
        decline(people, proposal, "bob", "No.")
    else:
        countersign(people, proposal, "bob")
    notices_sweep()
    Delivery.objects.exclude(notice__kind=f"proposal.{act}").delete()
    send()
    assert str(mail.messages[0]["Subject"]).endswith(f": Dr. Bob {act} an emergency")


def test_who_proposed_it_hears_that_it_lapsed(people: Cast) -> None:
    waiting.older(waiting.emergency(people), hours=24)
    proposals_sweep()
    assert told_of("proposal.lapsed") == {"Ivan": "proposer"}


def test_the_message_says_what_is_asked_until_when_and_leads_to_where_it_is_given(people: Cast, mail: Mailbox) -> None:
    proposal = waiting.emergency(people)
    notices_sweep()
    Delivery.objects.exclude(notice__kind="proposal.made", person=people.bob).delete()
    send()
    (message,) = mail.messages
    text = message.get_content()
    assert "your countersignature, Ivan proposed an emergency" in " ".join(str(message["Subject"]).split())
    assert "Ivan proposed an emergency. It takes a second person, and you can be it." in text
    assert "Puts t-1 into force for 24 h, past throughput. Incident INC-7. It is open until " in text
    assert f"http://localhost:8000/w/lab/decisions/1/release/#proposal-{proposal.pk}" in text
    assert "You are told because you can countersign it." in text


def test_a_change_of_the_policy_leads_to_its_page(people: Cast, mail: Mailbox) -> None:
    proposal = waiting.policy(people)
    notices_sweep()
    send()
    (message,) = mail.messages
    assert f"http://localhost:8000/w/lab/settings/policy#proposal-{proposal.pk}" in message.get_content()
    assert str(message["Subject"]).startswith("[lab] Policy: your countersignature")


@pytest.mark.parametrize(("kind", "is_digest"), [("emergency", False), ("policy", True)])
def test_an_emergency_waits_for_no_digest(kind: str, is_digest: bool, people: Cast) -> None:
    for login in ("bob", "dave", "abel"):
        notice_preference_set(actor=someone(login), workspace=people.workspace, mode=NoticeMode.DIGEST)
    waiting.KINDS[kind](people)
    notices_sweep()
    found = Delivery.objects.filter(notice__kind="proposal.made").values_list("is_digest", flat=True)
    assert set(found) == {is_digest}


def test_a_digest_of_the_policy_alone_says_so(people: Cast, mail: Mailbox) -> None:
    notice_preference_set(actor=someone("abel"), workspace=people.workspace, mode=NoticeMode.DIGEST)
    waiting.policy(people)
    notices_sweep()
    overdue()
    delivery_send(Delivery.objects.get(person=someone("abel")).pk)
    assert str(mail.messages[0]["Subject"]) == "[lab] Daily digest: the policy"


@pytest.mark.parametrize("kind", ["emergency", "policy"])
def test_webhooks_hear_of_it_without_names(kind: str, people: Cast) -> None:
    now, url = timezone.now(), "https://hooks.example.org/"
    Webhook.objects.create(workspace=people.workspace, url=url, secret="s", made_by=people.bob, made_at=now)
    proposal = waiting.KINDS[kind](people)
    notices_sweep()
    body = notice_body(Delivery.objects.get(webhook__isnull=False, notice__kind="proposal.made"))
    said = json.loads(body)
    place = "decisions/1/release/" if kind == "emergency" else "settings/policy"
    assert (said["event"], said["meaning"], said["decision"] is None) == ("proposal.made", kind, kind == "policy")
    assert (said["proposal"]["id"], said["proposal"]["kind"]) == (proposal.pk, kind)
    assert said["proposal"]["url"] == f"http://localhost:8000/w/lab/{place}#proposal-{proposal.pk}"
    assert (b"Ivan" in body, b"Ada" in body) == (False, False)
