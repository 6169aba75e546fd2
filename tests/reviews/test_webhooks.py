"""Webhooks: what is sent, to a real receiver; what is never called; retries; who may add them."""

import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError
from reviews.models import Delivery, DeliveryState, Membership, Notice, Role, Webhook
from reviews.services.deliveries import PAUSES, delivery_send
from reviews.services.notices import notices_sweep
from reviews.services.webhook_messages import signature
from reviews.services.webhooks import webhook_add, webhook_remove
from reviews.webhook_call import CallRefusedError, is_public, post, target_of
from tests.reviews.factories import Cast, last_entry, planned
from tests.reviews.receiver import Receiver, receiving

LISTED = frozenset({"hooks.example.org", "hooks.example.org:8443", "http://127.0.0.1:9000", "http://10.0.0.1:9000"})


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A real HTTP server."""
    with receiving() as kept:
        yield kept


@pytest.fixture
def told(people: Cast, receiver: Receiver, settings: Settings) -> Webhook:
    """A webhook to the receiver, added by dave as an admin; nothing that happened before is told."""
    settings.WEBHOOK_HOSTS = frozenset({receiver.url.removesuffix("/hook?a=b")})
    Membership.objects.filter(person=people.dave).update(role=Role.ADMIN)
    notices_sweep()
    webhook_add(actor=people.dave, workspace=people.workspace, url=receiver.url)
    return Webhook.objects.get()


def waiting() -> Delivery:
    """The one delivery to a webhook, after a sweep."""
    notices_sweep()
    return Delivery.objects.get(webhook__isnull=False)


@pytest.mark.django_db
def test_an_act_is_told_signed_and_without_names(told: Webhook, people: Cast, receiver: Receiver) -> None:
    planned(people)
    delivery = waiting()
    assert delivery_send(delivery.pk) == "sent"
    ((path, headers, body),) = receiver.calls
    said = json.loads(body)
    assert (path, headers["Topogate-Event"], headers["Topogate-Id"]) == (
        "/hook?a=b",
        "revision.planned",
        str(delivery.uid),
    )
    assert headers["Topogate-Signature"] == signature(told.secret, headers["Topogate-Timestamp"], body)
    assert abs(int(headers["Topogate-Timestamp"]) - timezone.now().timestamp()) < 60
    assert {key: said[key] for key in ("schema", "id", "event", "workspace", "revision", "team", "meaning")} == {
        "schema": "topogate.notice/v1",
        "id": str(delivery.uid),
        "event": "revision.planned",
        "workspace": "lab",
        "revision": 1,
        "team": None,
        "meaning": None,
    }
    assert said["decision"] == {
        "number": 1,
        "slot": "own/one-device",
        "state": "IN_REVIEW",
        "url": "http://localhost:8000/w/lab/decisions/1/",
    }


def test_a_signature_is_the_hmac_of_timestamp_and_body() -> None:
    # echo -n '1700000000.{}' | openssl dgst -sha256 -hmac whsec_x
    assert signature("whsec_x", "1700000000", b"{}") == EXPECTED_SIGNATURE


EXPECTED_SIGNATURE = "v1=be8cb8325f2202445260a855532f967e30ad2a9394ce28da66ee02880ddcb661"


@pytest.mark.django_db
def test_what_is_not_accepted_is_sent_again_under_the_same_id_and_given_up(
    told: Webhook, people: Cast, receiver: Receiver
) -> None:
    receiver.status = 500
    planned(people)
    delivery = waiting()
    for _ in PAUSES:
        assert delivery_send(delivery.pk) == "waiting"
        Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
    assert delivery_send(delivery.pk) == "given_up"
    delivery.refresh_from_db()
    assert (delivery.error, {headers["Topogate-Id"] for _, headers, _ in receiver.calls}) == (
        "CallRefusedError: It answered 500.",
        {str(delivery.uid)},
    )
    assert len(receiver.calls) == len(PAUSES) + 1


@pytest.mark.django_db
def test_a_worker_that_dies_after_sending_sends_once_more_under_the_same_id(
    told: Webhook, people: Cast, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(people)
    delivery = waiting()
    with monkeypatch.context() as dying:
        dying.setattr("reviews.services.deliveries._end", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            delivery_send(delivery.pk)
    Delivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert (delivery_send(delivery.pk), delivery_send(delivery.pk)) == ("sent", None)
    assert [headers["Topogate-Id"] for _, headers, _ in receiver.calls] == [str(delivery.uid)] * 2


def test_no_redirect_is_followed(receiver: Receiver) -> None:
    receiver.status, receiver.location = 307, receiver.url
    host = receiver.url.removesuffix("/hook?a=b")
    with pytest.raises(CallRefusedError, match=r"It answered 307, a redirect\. None is followed\."):
        post(receiver.url, b"{}", {}, {host})
    assert len(receiver.calls) == 1


def test_a_host_that_is_no_longer_listed_is_not_called(receiver: Receiver) -> None:
    with pytest.raises(CallRefusedError, match="by https alone"):
        post(receiver.url, b"{}", {}, LISTED)
    assert receiver.calls == []


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/",
        "https://other.example.org/",
        "https://hooks.example.org:444/",
        "https://hooks.example.org.evil.org/",
        "https://user:pw@hooks.example.org/",
        "https://hooks.example.org@evil.org/",
        "https://hooks.example.org/#x",
        "https://hooks.example.org/a b",
        "https://hooks.example.org\\@evil.org/",
        "https://127.0.0.1:9000/",
        "http://10.0.0.1:9000/",
        "http://localhost:9000/",
        "http://127.0.0.1:9001/",
        "ftp://hooks.example.org/",
        "https://[::1",
        "https://hooks.example.org:99999/",
        "https://hooks.example.org/\r\nX-A: b",
        "https:///x",
        "",
        "https://hooks.example.org/" + "x" * 500,
    ],
)
def test_what_is_not_listed_leads_nowhere(url: str) -> None:
    with pytest.raises(CallRefusedError):
        target_of(url, LISTED)


@pytest.mark.parametrize(
    ("url", "port", "is_plain"),
    [
        ("https://hooks.example.org/x?y=z", 443, False),
        ("https://HOOKS.example.org:443/", 443, False),
        ("https://hooks.example.org:8443/", 8443, False),
        ("http://127.0.0.1:9000/", 9000, True),
    ],
)
def test_what_is_listed_leads_there(url: str, port: int, is_plain: bool) -> None:
    found = target_of(url, LISTED)
    assert (found.port, found.is_plain) == (port, is_plain)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        *((private, False) for private in ("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254")),
        *((private, False) for private in ("100.64.0.1", "0.0.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1")),
        *((private, False) for private in ("::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1")),
        *((private, False) for private in ("::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "fe80::1%eth0", "x")),
        *((wrapped, False) for wrapped in ("::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b:1::7f00:1", "fec0::1")),
        *((special, False) for special in ("192.0.0.8", "192.88.99.1", "3fff::1", "5f00::1")),
    ],
)
def test_public_addresses_are_told_from_others(address: str, expected: bool) -> None:
    assert is_public(address) == expected


class Names:
    """A name server whose answers change: each look-up gets the next."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self.answers = list(answers)
        self.connected: list[str] = []

    def look_up(self, host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in self.answers.pop(0)]

    def connect(self, address: tuple[str, int], *_: Any) -> socket.socket:
        self.connected.append(address[0])
        raise ConnectionRefusedError("nobody there")


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """A public answer first, the machine itself afterwards."""
    names = Names(("93.184.215.14",), ("127.0.0.1",))
    monkeypatch.setattr("reviews.webhook_call.socket.getaddrinfo", names.look_up)
    monkeypatch.setattr("reviews.webhook_call.socket.create_connection", names.connect)
    return names


def test_an_answer_that_changes_changes_nothing(names: Names) -> None:
    with pytest.raises(ConnectionRefusedError):
        post("https://hooks.example.org/", b"{}", {}, LISTED)
    assert (names.connected, len(names.answers)) == (["93.184.215.14"], 1)


@pytest.mark.parametrize("answer", [("10.0.0.5",), ("93.184.215.14", "127.0.0.1"), ()])
def test_a_listed_name_that_leads_inside_is_not_called(answer: tuple[str, ...], names: Names) -> None:
    names.answers.insert(0, answer)
    with pytest.raises(CallRefusedError, match="which is no public address"):
        post("https://hooks.example.org/", b"{}", {}, LISTED)
    assert names.connected == []


def test_a_body_has_an_end(receiver: Receiver) -> None:
    with pytest.raises(CallRefusedError, match="at most 65,536 bytes"):
        post(receiver.url, b"x" * 65_537, {}, LISTED)


def test_a_receiver_that_never_answers_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviews.webhook_call.CONNECT_SECONDS", 30)
    monkeypatch.setattr("reviews.webhook_call.DEADLINE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises((OSError, CallRefusedError)):
            post(f"{url}/", b"{}", {}, {url})


@pytest.mark.django_db
def test_adding_and_removing_are_entries_without_the_secret(told: Webhook, people: Cast, receiver: Receiver) -> None:
    entry = last_entry(people)
    assert (entry["action"], entry["payload"]) == ("webhook.added", {"id": told.pk, "url": receiver.url})
    webhook_remove(actor=people.dave, workspace=people.workspace, webhook_id=told.pk)
    assert last_entry(people)["action"] == "webhook.removed"


@pytest.mark.django_db
def test_what_waits_for_a_removed_webhook_is_dropped(told: Webhook, people: Cast, receiver: Receiver) -> None:
    planned(people)
    waiting()
    webhook_remove(actor=people.dave, workspace=people.workspace, webhook_id=told.pk)
    planned(people)
    notices_sweep()
    assert (Delivery.objects.filter(webhook=told).count(), Notice.objects.count() > 0) == (0, True)


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["alice", "bob", "audrey"])
def test_only_admins_add_and_the_attempt_is_an_entry(who: str, people: Cast) -> None:
    with pytest.raises(NotAllowedError):
        webhook_add(actor=getattr(people, who), workspace=people.workspace, url="https://hooks.example.org/")
    assert (last_entry(people)["action"], Webhook.objects.count()) == ("webhook.refused", 0)


@pytest.mark.django_db
def test_what_cannot_be_called_is_not_added(told: Webhook, people: Cast, receiver: Receiver) -> None:
    with pytest.raises(
        InvalidRequestError, match=r"url: expected an https address on a listed host, found https://x/\."
    ):
        webhook_add(actor=people.dave, workspace=people.workspace, url="https://x/")
    with pytest.raises(ConflictError, match="told already"):
        webhook_add(actor=people.dave, workspace=people.workspace, url=receiver.url)


@pytest.mark.django_db
def test_a_webhook_waits_for_its_own_lease(told: Webhook, people: Cast, receiver: Receiver) -> None:
    planned(people)
    delivery = waiting()
    Delivery.objects.filter(pk=delivery.pk).update(
        state=DeliveryState.SENDING, lease_token=delivery.uid, lease_until=timezone.now() + timedelta(minutes=1)
    )
    assert (delivery_send(delivery.pk), receiver.calls) == (None, [])
