"""A tool that mirrors slots hears every change of what holds, over a real receiver, with enough to act upon."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from reviews.clock import when
from reviews.models import Activation, Blob, Decision, Delivery, Membership, Revision, Role, SignOff, Waiver
from reviews.services.deliveries import delivery_send
from reviews.services.identity_reports import identity_report
from reviews.services.notices import notices_sweep
from reviews.services.people import Trace
from reviews.services.retractions import evidence_retract
from reviews.services.sweeps import decisions_sweep
from reviews.services.webhooks import webhook_add
from reviews.services.withdrawals import signoff_withdraw
from tests.api.test_validity import EMERGENCY, waived
from tests.plugins.append_only import lifted
from tests.reviews.factories import PROVEN, Cast, documents, planned, sign
from tests.reviews.receiver import Receiver, receiving
from tests.reviews.rules.board import board, countersign, propose, someone
from tests.reviews.rules.test_rule_10_activation import activate
from tests.reviews.rules.test_rule_11_validity import SLOT, in_force, limited, live, pass_time
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


@pytest.fixture
def mirror(people: Cast, settings: Settings) -> Iterator[Receiver]:
    """A real receiver that an admin added before anything happened."""
    with receiving() as receiver:
        settings.WEBHOOK_HOSTS = frozenset({receiver.url.removesuffix("/hook?a=b")})
        Membership.objects.filter(person=someone("ada")).update(role=Role.ADMIN)
        webhook_add(actor=someone("ada"), workspace=people.workspace, url=receiver.url)
        notices_sweep()
        yield receiver


def turn(mirror: Receiver) -> list[dict[str, Any]]:
    """What one turn of the worker's sweep sends."""
    mirror.calls.clear()
    decisions_sweep()
    notices_sweep()
    for pk in (
        Delivery.objects.filter(state="waiting", webhook__isnull=False).order_by("pk").values_list("pk", flat=True)
    ):
        assert delivery_send(pk) == "sent"
    return [json.loads(body) for _, _, body in mirror.calls]


def test_what_is_put_into_force_is_told_with_all_that_a_mirror_keeps(people: Cast, mirror: Receiver) -> None:
    revision = in_force(people, pair=limited(decision_expires_after_s=86400))
    (said,) = [one for one in turn(mirror) if one["event"] == "decision.activated"]
    activation = Activation.objects.get()
    assert activation.valid_until is not None
    kept = said["slot"]
    assert kept.pop("as_of") >= said["happened_at"]
    until = when(activation.valid_until)
    assert kept.pop("because") == f"D-0001 r1 (tp1-pp1-ep1-dp1) is in force until {until} UTC."
    assert kept == {
        "name": SLOT,
        "holds": True,
        "decision": 1,
        "state": "EFFECTIVE",
        "revision": 1,
        "subject": revision.planned.subject,
        "topology": "tp1-pp1-ep1-dp1",
        "trial": "t-1",
        "rank_map_digest": activation.rank_map_digest,
        "is_emergency": False,
        "valid_from": f"{activation.activated_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "valid_until": f"{activation.valid_until:%Y-%m-%dT%H:%M:%S.%fZ}",
        "waivers": [],
    }


def expired(people: Cast) -> None:
    pass_time(days=2)


def superseded(people: Cast) -> None:
    in_force(people, pair=documents(tokens=170_000))


def stale(people: Cast) -> None:
    tree = live(Revision.objects.get(), model__revision="r2")
    identity_report(actor=people.bob, workspace=people.workspace, slot=SLOT, live=tree)


def objected(people: Cast) -> None:
    sign(people, Revision.objects.get(), people.dave, meaning="object")


def retracted(people: Cast) -> None:
    content_id = Revision.objects.get().evidence.content_id
    evidence_retract(
        actor=people.alice,
        workspace=people.workspace,
        content_id=content_id,
        reason="The clock was wrong.",
        trace=Trace("r", PROVEN),
    )


def revoked(people: Cast) -> None:
    objected(people)
    countersign(people, propose(people, "revocation", "erin", {}), "ivan")


def rolled_back(people: Cast) -> None:
    superseded(people)
    countersign(people, propose(people, "rollback", "bob", {"to": 1}, number=2), "ivan")


def emergency(people: Cast) -> None:
    planned(people, pair=documents(floor=600))
    countersign(people, propose(people, "emergency", "ivan", EMERGENCY, number=2), "bob")


def restored(people: Cast) -> None:
    objected(people)
    objection = SignOff.objects.get(meaning="object")
    signoff_withdraw(
        actor=people.dave,
        workspace=people.workspace,
        signoff_id=objection.pk,
        reason="Measured again.",
        authentication=PROVEN,
    )


@pytest.mark.parametrize(
    ("act", "event", "holds", "state", "decision"),
    [
        pytest.param(superseded, "decision.superseded", True, "EFFECTIVE", 2, id="superseded"),
        pytest.param(stale, "identity.differs", False, "STALE", 1, id="stale"),
        pytest.param(expired, "decision.expired", False, "EXPIRED", 1, id="expired"),
        pytest.param(objected, "signoff.given", False, "CONTESTED", 1, id="contested by an objection"),
        pytest.param(retracted, "decision.contested", False, "CONTESTED", 1, id="contested by a retraction"),
        pytest.param(restored, "signoff.withdrawn", True, "EFFECTIVE", 1, id="restored"),
        pytest.param(revoked, "decision.revoked", False, "REVOKED", 1, id="revoked"),
        pytest.param(rolled_back, "decision.rolled_back", True, "EFFECTIVE", 3, id="rolled back"),
        pytest.param(emergency, "emergency.declared", True, "EMERGENCY", 2, id="emergency begun"),
    ],
)
def test_every_change_is_told_within_one_turn_of_the_sweep(
    act: Callable[[Cast], None],
    event: str,
    holds: bool,
    state: str,
    decision: int,
    people: Cast,
    mirror: Receiver,
) -> None:
    in_force(people, pair=limited(decision_expires_after_s=86400))
    turn(mirror)
    act(people)
    said = [one for one in turn(mirror) if one["event"] == event][-1]
    kept = said["slot"]
    assert (kept["holds"], kept["state"], kept["decision"]) == (holds, state, decision)


def test_the_keys_that_differ_are_told_with_their_team(people: Cast, mirror: Receiver) -> None:
    in_force(people)
    turn(mirror)
    stale(people)
    (said,) = turn(mirror)
    assert said["differences"] == [{"key": "/model/revision", "how": "differs", "team": "serving"}]


def test_the_end_of_an_emergency_is_told(people: Cast, mirror: Receiver) -> None:
    revision = planned(people, pair=documents(floor=600))
    countersign(people, propose(people, "emergency", "ivan", EMERGENCY), "bob")
    assert turn(mirror)[-1]["slot"]["is_emergency"] is True
    pass_time(days=3)
    (said,) = turn(mirror)
    assert (said["event"], said["slot"]["holds"], said["slot"]["state"]) == ("decision.ran_out", False, "REVOKED")
    assert said["slot"]["subject"] == revision.planned.subject


def test_a_waiver_that_lapses_is_told(people: Cast, mirror: Receiver) -> None:
    waived(people)
    turn(mirror)
    with lifted():
        row = Waiver.objects.get()
        past = {name: getattr(row, name) - timedelta(days=60) for name in ("granted_at", "ends_at")}
        Waiver.objects.update(**past)
    (said,) = turn(mirror)
    assert (said["event"], said["slot"]["holds"], said["slot"]["state"]) == ("decision.stale", False, "STALE")


def test_what_is_put_into_force_again_and_differs_again_is_told_again(people: Cast, mirror: Receiver) -> None:
    first = in_force(people)
    stale(people)
    turn(mirror)
    again = planned(people, decision=first.decision)
    sign(people, again)
    sign(people, again, people.carol, team="networking")
    activate(people, again)
    turn(mirror)
    tree = live(again, model__revision="r3")
    identity_report(actor=people.bob, workspace=people.workspace, slot=SLOT, live=tree)
    assert [one["event"] for one in turn(mirror)] == ["identity.differs"]


def test_a_mirror_hears_of_an_end_though_stored_bytes_were_changed(people: Cast, mirror: Receiver) -> None:
    revision = in_force(people, pair=limited(decision_expires_after_s=86400))
    turn(mirror)
    pass_time(days=2)
    with lifted():
        Blob.objects.filter(pk=revision.policy.blob_id).update(data=b"{}")
    assert [(one["event"], one["slot"]["holds"]) for one in turn(mirror)] == [("decision.expired", False)]


def test_a_message_that_was_late_says_what_holds_when_it_is_sent(people: Cast, mirror: Receiver) -> None:
    in_force(people)
    notices_sweep()
    Decision.objects.update(state="STALE")
    assert {(one["event"], one["slot"]["state"]) for one in turn(mirror)} >= {("decision.activated", "STALE")}
