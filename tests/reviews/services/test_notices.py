"""Who is told about what, once, by a real conversation with a mail server; retries, digests, workers that die."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from reviews.blobs import blob_keep
from reviews.errors import InvalidRequestError
from reviews.models import (
    Activation,
    ActivationKind,
    Decision,
    DecisionState,
    Delivery,
    LogCursor,
    Notice,
    NoticeMode,
    Person,
)
from reviews.services.deliveries import PAUSES, delivery_send
from reviews.services.notice_preferences import notice_preference_set
from reviews.services.notices import next_digest, notices_sweep
from tests.reviews.factories import Cast, cast, documents, planned, sign
from tests.reviews.mail_server import Mailbox, MailServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def mail(settings: Settings) -> Iterator[Mailbox]:
    """A mail server that the installation hands its email to."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with MailServer() as box:
        settings.EMAIL_IS_ON, settings.EMAIL_HOST, settings.EMAIL_PORT = True, "127.0.0.1", box.port
        yield box


@pytest.fixture
def people(db: None, mail: Mailbox) -> Cast:
    """The cast, each with an address; nothing that happened before is told."""
    made = cast()
    for person in Person.objects.all():
        person.email = f"{person.login}@example.org"
        person.save(update_fields=["email"])
    notices_sweep()
    return made


def told() -> dict[str, str]:
    """Who is told by the deliveries that wait, and why; they are taken away."""
    rows = Delivery.objects.order_by("pk").select_related("person")
    found = {row.person.display_name: row.why for row in rows if row.person}
    rows.delete()
    return found


def send() -> list[str | None]:
    """Send every delivery that there is."""
    return [delivery_send(pk) for pk in Delivery.objects.order_by("pk").values_list("pk", flat=True)]


def mode(people: Cast, person: Person, how: str) -> None:
    notice_preference_set(actor=person, workspace=people.workspace, mode=how)


def overdue() -> None:
    """Let every pause and lease be over."""
    past = timezone.now() - timedelta(minutes=1)
    Delivery.objects.update(due_at=past)
    Delivery.objects.filter(state="sending").update(lease_until=past)


def test_a_planned_revision_is_told_to_whom_owes_a_signature_and_to_nobody_else(people: Cast) -> None:
    planned(people)
    notices_sweep()
    assert told() == {"Bob": "turn", "Carol": "turn", "Dave": "turn"}


def test_an_entry_is_told_once_however_often_the_log_is_swept(people: Cast) -> None:
    planned(people)
    assert (notices_sweep() > 0, notices_sweep()) == (True, 0)
    assert (Notice.objects.count(), Delivery.objects.count()) == (1, 3)


def test_whose_sign_off_counts_no_more_is_told_so_and_whose_is_carried_is_not(people: Cast) -> None:
    revision = planned(people)
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    notices_sweep()
    told()
    planned(people, pair=documents(tokens=170_000), decision=revision.decision)
    notices_sweep()
    assert told() == {"Bob": "outdated", "Dave": "turn"}  # carol's sign-off is carried


@pytest.mark.parametrize("meaning", ["request_changes", "reject", "object"])
def test_what_is_asked_of_the_author_is_told_to_the_author(meaning: str, people: Cast) -> None:
    revision = planned(people)
    notices_sweep()
    told()
    sign(people, revision, meaning=meaning)
    notices_sweep()
    assert told() == {"Alice": "turn"}


def test_the_author_is_told_of_the_last_approval_only(people: Cast) -> None:
    revision = planned(people)
    notices_sweep()
    told()
    sign(people, revision)
    notices_sweep()
    first = told()
    sign(people, revision, people.carol, team="networking")
    notices_sweep()
    assert (first, told()) == ({}, {"Alice": "author"})


def test_the_author_is_told_once_that_the_end_comes_near(people: Cast) -> None:
    revision = planned(people)
    Activation.objects.create(
        revision=revision,
        kind=ActivationKind.REVIEW,
        person=people.bob,
        statement="Goes live.",
        subject=revision.planned.subject,
        trial="t-1",
        topology="tp1-pp1-ep1-dp1",
        rank_map_digest="sha256:" + "00" * 32,
        requirements=blob_keep(b"{}"),
        activated_at=timezone.now() - timedelta(days=30),
        valid_until=timezone.now() + timedelta(days=13),
    )
    Decision.objects.filter(pk=revision.decision_id).update(state=DecisionState.EFFECTIVE)
    notices_sweep()
    assert told()["Alice"] == "author"
    notices_sweep()
    assert (told(), Notice.objects.get(kind="decision.expiring").decision_id) == ({}, revision.decision_id)


@pytest.mark.parametrize("change", ["off", "no address", "closed", "email is off"])
def test_nothing_waits_for_whom_cannot_or_will_not_be_told(change: str, people: Cast, settings: Settings) -> None:
    if change == "off":
        mode(people, people.bob, NoticeMode.OFF)
    elif change == "email is off":
        settings.EMAIL_IS_ON = False
    else:
        bob = Person.objects.filter(pk=people.bob.pk)
        bob.update(email="") if change == "no address" else bob.update(is_active=False)
    planned(people)
    notices_sweep()
    assert "Bob" not in told()


def test_a_log_from_before_is_told_from_its_cursor_on(people: Cast) -> None:
    planned(people)
    head = people.workspace.audit_entries.count() - 1
    LogCursor.objects.filter(workspace=people.workspace).update(seq=head)
    assert (notices_sweep(), Notice.objects.count()) == (0, 0)


def only(mail: Mailbox, login: str) -> EmailMessage:
    (found,) = [message for message in mail.messages if message["To"] == f"{login}-lab@example.org"]
    return found


def test_a_message_says_what_why_and_where(people: Cast, mail: Mailbox) -> None:
    revision = planned(people)
    Decision.objects.filter(pk=revision.decision_id).update(title="One device\r\nBcc: all@example.org <b>")
    notices_sweep()
    assert set(send()) == {"sent"}
    message = only(mail, "bob")
    assert message["Subject"] == "[lab] D-0001 One device Bcc: all@example.org <b>: your turn"
    assert (message["Bcc"], message["Auto-Submitted"]) == (None, "auto-generated")
    assert message.get_content().splitlines() == [
        "D-0001 One device Bcc: all@example.org <b>",
        "Slot own/one-device",
        "r1 is planned and in review. It is your turn to sign.",
        "http://localhost:8000/w/lab/decisions/1/",
        "",
        "You are told because it is your turn.",
        "Change how you are told, or stop it: http://localhost:8000/w/lab/notifications/",
    ]


def test_the_author_reads_what_was_asked(people: Cast, mail: Mailbox) -> None:
    sign(people, planned(people), meaning="request_changes", statement="Measure node-b too.")
    notices_sweep()
    send()
    content = only(mail, "alice").get_content()
    assert "Bob requested changes on r1 for serving. It is your turn to answer." in content
    assert "“Measure node-b too.”" in content


def test_a_digest_is_one_message_of_everything_at_its_hour(people: Cast, mail: Mailbox) -> None:
    mode(people, people.bob, NoticeMode.DIGEST)
    for tokens in (170_000, 170_001):
        planned(people, pair=documents(tokens=tokens))
    notices_sweep()
    assert "bob-lab@example.org" not in [message["To"] for message in mail.messages if send()]
    Delivery.objects.filter(is_digest=True).update(due_at=timezone.now() - timedelta(seconds=1))
    send()
    message = only(mail, "bob")
    assert message["Subject"] == "[lab] Daily digest: 2 decisions"
    assert ("D-0001" in message.get_content(), "D-0002" in message.get_content()) == (True, True)


@pytest.mark.parametrize(("now", "day"), [("06:59", 30), ("07:00", 31), ("23:00", 31)])
def test_a_digest_is_due_at_the_next_hour_of_digests(now: str, day: int) -> None:
    found = next_digest(datetime.fromisoformat(f"2026-10-30T{now}+00:00"))
    assert found == datetime(2026, 10, day, 7, tzinfo=UTC)


def test_what_the_server_refuses_is_tried_again_and_given_up_visibly(people: Cast, mail: Mailbox) -> None:
    mail.refusing = True
    planned(people)
    notices_sweep()
    delivery = Delivery.objects.order_by("pk")[0]
    for pause in PAUSES:
        assert delivery_send(delivery.pk) == "waiting"
        delivery.refresh_from_db()
        assert abs(delivery.due_at - timezone.now() - pause) < timedelta(minutes=1)
        assert delivery_send(delivery.pk) is None
        overdue()
    assert delivery_send(delivery.pk) == "given_up"
    delivery.refresh_from_db()
    assert (delivery.attempts, "451" in delivery.error) == (len(PAUSES) + 1, True)
    overdue()
    assert delivery_send(delivery.pk) is None


def test_a_server_that_cannot_be_reached_is_tried_again(people: Cast, settings: Settings) -> None:
    settings.EMAIL_PORT = 1
    planned(people)
    notices_sweep()
    assert set(send()) == {"waiting"}


def test_a_worker_that_dies_after_sending_sends_once_more_with_the_same_id(
    people: Cast, mail: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(people)
    notices_sweep()
    delivery = Delivery.objects.order_by("pk")[0]
    with monkeypatch.context() as dying:
        dying.setattr("reviews.services.deliveries._end", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            delivery_send(delivery.pk)
    assert delivery_send(delivery.pk) is None  # the lease of the dead one still runs
    overdue()
    assert (delivery_send(delivery.pk), delivery_send(delivery.pk)) == ("sent", None)
    assert mail.ids() == [f"<{delivery.uid}@localhost>"] * 2


def test_who_left_meanwhile_is_not_written_to(people: Cast, mail: Mailbox) -> None:
    planned(people)
    notices_sweep()
    Person.objects.filter(pk=people.bob.pk).update(is_active=False)
    send()
    assert (len(mail.messages), Delivery.objects.filter(person=people.bob).count()) == (2, 0)


def test_never_means_never_also_for_what_waits(people: Cast, mail: Mailbox) -> None:
    planned(people)
    notices_sweep()
    mode(people, people.bob, NoticeMode.OFF)
    send()
    assert len(mail.messages) == 2


def test_a_way_that_there_is_not_is_refused(people: Cast) -> None:
    with pytest.raises(InvalidRequestError, match="mode: expected at_once, digest, off, found hourly"):
        mode(people, people.bob, "hourly")
