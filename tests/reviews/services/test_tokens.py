"""API tokens: what is stored, what is recorded, when one stops working."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from reviews.clock import when
from reviews.errors import ConflictError, NotAuthenticatedError, NotFoundError
from reviews.models import ApiToken, AuditEntry, Membership, Person
from reviews.selectors.tokens import token_rows
from reviews.services.tokens import TOKENS_PER_PERSON, MadeToken, token_create, token_revoke, token_use
from tests.reviews.factories import Cast, last_entry

pytestmark = pytest.mark.both_databases


def made(people: Cast, actor: Person | None = None, **changes: object) -> MadeToken:
    asked = {"label": "nightly", "scope": "read", "days": 7, **changes}
    return token_create(actor=actor or people.alice, workspace=people.workspace, **asked)  # type: ignore[arg-type] # see above


def test_only_a_digest_of_the_token_is_stored(people: Cast) -> None:
    secret = made(people).secret
    row = ApiToken.objects.get()
    assert row.sha256 == f"sha256:{hashlib.sha256(secret.encode()).hexdigest()}"
    stored = [str(value) for value in ApiToken.objects.values_list()[0]]
    assert not any(secret[10:] in value for value in stored)
    assert secret[10:].encode() not in b"".join(bytes(entry.data) for entry in AuditEntry.objects.all())


def test_two_tokens_are_never_the_same(people: Cast) -> None:
    assert made(people).secret != made(people).secret


def test_making_and_revoking_are_entries_of_the_log(people: Cast) -> None:
    token = made(people)
    entry = last_entry(people)
    assert (entry["action"], entry["actor"]) == ("token.created", people.alice.token)
    assert entry["payload"]["prefix"] == token.secret[:10]
    assert entry["payload"]["scopes"] == "read"
    token_revoke(actor=people.alice, workspace=people.workspace, token_id=token.id)
    assert last_entry(people)["action"] == "token.revoked"


def test_revoking_twice_is_one_entry(people: Cast) -> None:
    token = made(people)
    for _ in range(2):
        token_revoke(actor=people.alice, workspace=people.workspace, token_id=token.id)
    assert AuditEntry.objects.filter(action="token.revoked").count() == 1


def test_a_revoked_token_stops_at_once(people: Cast) -> None:
    token = made(people)
    token_revoke(actor=people.alice, workspace=people.workspace, token_id=token.id)
    with pytest.raises(NotAuthenticatedError, match="revoked"):
        token_use(token.secret)


def test_a_token_ends_at_its_time(people: Cast) -> None:
    token = made(people)
    ended = datetime.now(UTC) - timedelta(seconds=1)
    ApiToken.objects.update(expires_at=ended)
    with pytest.raises(NotAuthenticatedError) as refused:
        token_use(token.secret)
    assert refused.value.message == f"This token ended at {when(ended)} UTC. Make a new one."


def test_a_token_of_somebody_switched_off_is_refused(people: Cast) -> None:
    token = made(people)
    Person.objects.filter(pk=people.alice.pk).update(is_active=False)
    with pytest.raises(NotAuthenticatedError, match="switched off"):
        token_use(token.secret)


@pytest.mark.parametrize("change", [slice(None, -1), slice(1, None), slice(None, None, -1)], ids=repr)
def test_a_part_of_a_token_is_none(change: slice, people: Cast) -> None:
    token = made(people)
    with pytest.raises(NotAuthenticatedError, match="no token of this server"):
        token_use(token.secret[change])


def test_use_is_noted_once_a_minute(people: Cast) -> None:
    token = made(people)
    token_use(token.secret)
    first = ApiToken.objects.get().last_used_at
    token_use(token.secret)
    assert first is not None
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    token_use(token.secret)
    noted = ApiToken.objects.get().last_used_at
    assert noted is not None
    assert noted > first - timedelta(minutes=1)


def test_a_person_has_so_many_live_tokens_and_no_more(people: Cast) -> None:
    tokens = [made(people) for _ in range(TOKENS_PER_PERSON)]
    with pytest.raises(ConflictError, match="Revoke one first"):
        made(people)
    token_revoke(actor=people.alice, workspace=people.workspace, token_id=tokens[0].id)
    assert made(people).id > tokens[-1].id


def test_a_stranger_makes_none(people: Cast) -> None:
    with pytest.raises(NotFoundError):
        made(people, people.charlie)


def test_an_admin_sees_and_revokes_everybodys(people: Cast) -> None:
    token = made(people)
    Membership.objects.filter(person=people.dave).update(role="admin")
    rows = token_rows(actor=people.dave, workspace=people.workspace).rows
    assert [(row.id, row.person, row.is_mine, row.is_live) for row in rows] == [(token.id, "Alice", False, True)]
    token_revoke(actor=people.dave, workspace=people.workspace, token_id=token.id)
    assert ApiToken.objects.get().revoked_at is not None
