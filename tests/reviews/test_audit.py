"""The audit log: what an entry holds, that it shares its act's fate, and that every kind of tampering is found."""

import hashlib
import json
import re
from collections.abc import Callable

import pytest
from django.db import transaction

from planner.canonical import canonical_bytes, file_sha256
from reviews.audit import Act, append, refusals_recorded, without_names
from reviews.errors import ConflictError, NotFoundError
from reviews.facts import Authentication
from reviews.models import AuditEntry, Blob, Person, Workspace
from reviews.models.people import token_label
from reviews.services.people import workspace_create
from reviews.verification import Verification, verify
from tests.plugins.append_only import lifted
from tests.reviews.factories import POLICY

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def workspace(db: None) -> Workspace:
    """A workspace whose log holds two entries: its creation and its policy."""
    return workspace_create(slug="lab", title="Lab", policy=POLICY)


def entries(workspace: Workspace) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(workspace=workspace).order_by("seq"))


def test_an_entry_holds_exactly_the_fields_of_the_format(workspace: Workspace) -> None:
    act = Act(
        action="signoff.given",
        actor="sha256:" + "a" * 64,
        decision=4,
        revision=2,
        subject="sha256:" + "b" * 64,
        team="serving",
        meaning="approve",
        reason="Zürich ✓",
        authentication=Authentication("password", 12),
        request_id="req-1",
        payload_type="topogate.signoff/v1",
        payload={"b": 1, "a": None},
    )
    entry = append(workspace, act)
    fields = json.loads(bytes(entry.data))
    at = fields.pop("at")
    assert fields == {
        "v": 1,
        "origin": workspace.log_origin,
        "seq": 2,
        "prev": entries(workspace)[1].sha256,
        "action": "signoff.given",
        "decision": 4,
        "revision": 2,
        "subject": "sha256:" + "b" * 64,
        "actor": "sha256:" + "a" * 64,
        "team": "serving",
        "meaning": "approve",
        "reason": "Zürich ✓",
        "auth_method": "password",
        "auth_age_s": 12,
        "request_id": "req-1",
        "payload_type": "topogate.signoff/v1",
        "payload_sha256": "sha256:" + hashlib.sha256(b'{"a":null,"b":1}').hexdigest(),
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", at)


def test_an_entry_is_stored_as_its_canonical_bytes(workspace: Workspace) -> None:
    entry = append(workspace, Act(action="test.act"))
    data = bytes(entry.data)
    assert data == canonical_bytes(json.loads(data))
    assert entry.sha256 == file_sha256(data)


def test_the_first_entry_follows_nothing(workspace: Workspace) -> None:
    assert (entries(workspace)[0].seq, entries(workspace)[0].prev) == (0, "sha256:" + "0" * 64)


def test_each_workspace_has_a_log_of_its_own(workspace: Workspace) -> None:
    other = workspace_create(slug="other", title="Other", policy=POLICY)
    assert [entry.seq for entry in entries(other)] == [0, 1]
    assert other.log_origin != workspace.log_origin


def test_an_entry_goes_when_its_act_is_rolled_back(workspace: Workspace) -> None:
    with transaction.atomic():
        append(workspace, Act(action="test.act"))
        transaction.set_rollback(True)
    assert len(entries(workspace)) == 2


@transaction.atomic
def act_and_refuse(workspace: Workspace) -> None:
    append(workspace, Act(action="test.act"))
    raise ConflictError("It moved.")


def test_a_refusal_stays_when_what_it_refused_is_rolled_back(workspace: Workspace) -> None:
    with pytest.raises(ConflictError), refusals_recorded(workspace, Act(action="test.refused", decision=7)):
        act_and_refuse(workspace)
    last = entries(workspace)[-1]
    assert (len(entries(workspace)), last.action, last.decision_number) == (3, "test.refused", 7)
    assert json.loads(bytes(last.data))["reason"] == "It moved."


def test_a_refusal_names_people_by_their_tokens(workspace: Workspace) -> None:
    bob = Person.objects.create_user("bob", display_name="Bob B.")
    Person.objects.create_user("ob", display_name="ember")
    label = f"person-{bob.token[7:23]}"
    with pytest.raises(ConflictError), refusals_recorded(workspace, Act(action="test.refused")):
        raise ConflictError("Bob B. (bob) is a member already; bobby is none.")
    said = json.loads(bytes(entries(workspace)[-1].data))["reason"]
    assert said == f"{label} ({label}) is a member already; bobby is none."


def test_a_login_that_is_the_word_of_a_role_or_a_team_leaves_the_word_alone(workspace: Workspace) -> None:
    admin, serving = (Person.objects.create_user(login, display_name=login) for login in ("admin", "serving"))
    for said in ("Your role is admin. Changing needs the role admin.", "You are not a member of serving."):
        assert without_names(said) == said
    labels = [token_label(person.token) for person in (admin, serving)]
    assert without_names("admin lends it to serving.") == f"{labels[0]} lends it to {labels[1]}."


def test_a_stranger_writes_nothing_in_the_log(workspace: Workspace) -> None:
    with pytest.raises(NotFoundError), refusals_recorded(workspace, Act(action="test.refused")):
        raise NotFoundError("There is nothing.")
    assert len(entries(workspace)) == 2


def test_an_untouched_log_holds(workspace: Workspace) -> None:
    assert verify(workspace) == Verification(2, entries(workspace)[1].sha256)


def rewritten(entry: AuditEntry, **changes: object) -> None:
    """Change fields of an entry and make its own digest and columns fit again, as a careful forger would."""
    fields = {**json.loads(bytes(entry.data)), **changes}
    data = canonical_bytes(fields)
    AuditEntry.objects.filter(pk=entry.pk).update(data=data, sha256=file_sha256(data), action=fields["action"])


def flip_byte(log: list[AuditEntry]) -> None:
    data = bytearray(bytes(log[1].data))
    data[20] ^= 1
    AuditEntry.objects.filter(pk=log[1].pk).update(data=bytes(data))


def respace(log: list[AuditEntry]) -> None:
    data = json.dumps(json.loads(bytes(log[1].data))).encode()
    AuditEntry.objects.filter(pk=log[1].pk).update(data=data, sha256=file_sha256(data))


def not_json(log: list[AuditEntry]) -> None:
    AuditEntry.objects.filter(pk=log[1].pk).update(data=b"\xff{", sha256=file_sha256(b"\xff{"))


def swap(log: list[AuditEntry]) -> None:
    second, third = log[1], log[2]
    AuditEntry.objects.filter(pk=second.pk).update(seq=99)
    AuditEntry.objects.filter(pk=third.pk).update(seq=1)
    AuditEntry.objects.filter(pk=second.pk).update(seq=2)


def forge_payload(log: list[AuditEntry]) -> None:
    Blob.objects.filter(pk=log[1].payload_id).update(data=b"{}")


def edit_column(column: str, value: object) -> Callable[[list[AuditEntry]], None]:
    def tamper(log: list[AuditEntry]) -> None:
        AuditEntry.objects.filter(pk=log[1].pk).update(**{column: value})

    return tamper


@pytest.mark.parametrize(
    ("tamper", "seq", "reason"),
    [
        pytest.param(flip_byte, 1, "the stored bytes do not hash to the stored digest", id="a byte flipped"),
        pytest.param(respace, 1, "the stored bytes are not a JSON object in its canonical form", id="respaced"),
        pytest.param(not_json, 1, "the stored bytes are not a JSON object in its canonical form", id="not JSON"),
        pytest.param(
            lambda log: rewritten(log[1], action="policy.forged"),
            2,
            "the entry does not follow the one before it",
            id="rewritten with its digest",
        ),
        pytest.param(
            lambda log: rewritten(log[1], origin="topogate/other/1"),
            1,
            "the entry belongs to another log",
            id="spliced from another log",
        ),
        pytest.param(
            lambda log: AuditEntry.objects.filter(pk=log[1].pk).delete(),
            1,
            "entry 1 is missing; the next one is 2",
            id="one deleted",
        ),
        pytest.param(swap, 1, "the entry does not follow the one before it", id="two swapped"),
        pytest.param(forge_payload, 1, "the payload's bytes do not hash to its digest", id="payload replaced"),
        pytest.param(
            edit_column("action", "policy.other"), 1, "the column action differs from the stored bytes", id="action"
        ),
        pytest.param(
            edit_column("decision_number", 9),
            1,
            "the column decision_number differs from the stored bytes",
            id="decision number",
        ),
        pytest.param(
            edit_column("payload_id", None), 1, "the column payload_id differs from the stored bytes", id="payload cut"
        ),
        pytest.param(
            edit_column("at", "2020-01-01T00:00:00.000000Z"),
            1,
            "the column at differs from the stored bytes",
            id="time moved",
        ),
    ],
)
def test_tampering_is_found_where_it_is(
    workspace: Workspace, tamper: Callable[[list[AuditEntry]], None], seq: int, reason: str
) -> None:
    append(workspace, Act(action="test.act"))
    sound = entries(workspace)
    with lifted():
        tamper(sound)
    found = verify(workspace)
    assert (found.entries, found.bad_seq, found.reason) == (seq, seq, reason)


def test_every_byte_of_an_entry_counts(workspace: Workspace) -> None:
    entry = entries(workspace)[1]
    sound = bytes(entry.data)
    missed = []
    with lifted():
        for place in range(len(sound)):
            data = sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :]
            AuditEntry.objects.filter(pk=entry.pk).update(data=data)
            if verify(workspace).bad_seq != 1:
                missed.append(place)
        AuditEntry.objects.filter(pk=entry.pk).update(data=sound)
    assert missed == []
    assert verify(workspace).holds


def test_a_cut_tail_is_not_found_by_the_log_alone_but_by_a_kept_head(workspace: Workspace) -> None:
    append(workspace, Act(action="test.act"))
    kept = verify(workspace).head
    with lifted():
        entries(workspace)[2].delete()
    assert verify(workspace).holds
    assert verify(workspace).head != kept
