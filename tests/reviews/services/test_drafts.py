"""Drafts: whose they are, two tabs, what the log says, and what is never in it."""

from typing import Any

import pytest

from planner.canonical import file_sha256
from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, NotFoundError
from reviews.models import AuditEntry, Draft, Person
from reviews.selectors.drafts import draft_of_owner, drafts_of
from reviews.services.drafts import draft_changing, draft_create, draft_delete
from tests.reviews.factories import Cast, last_entry

pytestmark = pytest.mark.both_databases


def begun(people: Cast, actor: Person | None = None, **changes: Any) -> Draft:
    asked = {"kind": "contract", "body": b"{}", "slot": "chat/eu-west", **changes}
    return draft_create(actor=actor or people.alice, workspace=people.workspace, **asked)


def changing(people: Cast, draft: Draft, seen: int | None = 1, actor: Person | None = None, **more: Any) -> Any:
    return draft_changing(
        actor=actor or people.alice,
        workspace=people.workspace,
        draft_id=draft.pk,
        kind=draft.kind,
        seen_version=seen,
        **more,
    )


def test_a_draft_is_listed_for_its_owner_alone(people: Cast) -> None:
    draft = begun(people)
    begun(people, kind="evidence")
    rows = drafts_of(actor=people.alice, workspace=people.workspace, kind="contract")
    assert [(row.id, row.slot, row.version, row.size_bytes) for row in rows] == [(draft.pk, "chat/eu-west", 1, 2)]
    assert drafts_of(actor=people.bob, workspace=people.workspace, kind="contract") == ()


def test_nobody_else_opens_changes_or_deletes_a_draft(people: Cast) -> None:
    draft = begun(people)
    named: dict[str, Any] = {"workspace": people.workspace, "draft_id": draft.pk, "kind": "contract"}
    with pytest.raises(NotFoundError):
        draft_of_owner(actor=people.bob, **named)
    with pytest.raises(NotFoundError):
        draft_delete(actor=people.bob, **named)
    with pytest.raises(NotFoundError):
        draft_of_owner(actor=people.alice, **named | {"kind": "evidence"})
    assert Draft.objects.filter(pk=draft.pk).exists()


def test_a_change_counts_and_is_an_entry_without_the_content(people: Cast) -> None:
    draft = begun(people)
    with changing(people, draft) as change:
        change.body = b'{"slot": "secret/slot"}'
        change.payload = {"problems": 3}
    stored = draft_of_owner(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, kind="contract")
    assert (stored.version, bytes(stored.body)) == (2, b'{"slot": "secret/slot"}')
    entry = last_entry(people)
    assert (entry["action"], entry["actor"]) == ("draft.changed", people.alice.token)
    assert entry["payload"] == {
        "kind": "contract",
        "draft": draft.pk,
        "version": 2,
        "slot": "chat/eu-west",
        "body_sha256": file_sha256(b'{"slot": "secret/slot"}'),
        "problems": 3,
    }


def test_the_second_of_two_tabs_is_refused_and_loses_nothing_of_the_first(people: Cast) -> None:
    draft = begun(people)
    with changing(people, draft) as change:
        change.body = b'"first"'
    with pytest.raises(ConflictError, match="changed in another tab") as refused, changing(people, draft) as change:
        change.body = b'"second"'
    assert refused.value.moved == ("draft",)
    assert bytes(Draft.objects.get().body) == b'"first"'
    assert last_entry(people)["action"] == "draft.refused"


def test_the_same_request_again_makes_no_version_and_no_entry(people: Cast) -> None:
    draft = begun(people)
    entries = AuditEntry.objects.count()
    with changing(people, draft) as change:
        change.nothing()
    assert (Draft.objects.get().version, AuditEntry.objects.count()) == (1, entries)


def test_a_name_too_long_is_refused_and_changes_nothing(people: Cast) -> None:
    draft = begun(people)
    with (
        pytest.raises(InvalidRequestError, match="at most 200 printable characters"),
        changing(people, draft) as change,
    ):
        change.name = "x" * 201
    assert Draft.objects.get().version == 1


def test_who_may_not_submit_begins_no_draft(people: Cast) -> None:
    with pytest.raises(NotAllowedError):
        begun(people, actor=people.bob)
    assert (last_entry(people)["action"], Draft.objects.count()) == ("draft.refused", 0)


def test_a_deleted_draft_is_gone_and_its_deletion_is_recorded(people: Cast) -> None:
    draft = begun(people)
    draft_delete(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, kind="contract", seen_version=1)
    assert (Draft.objects.count(), last_entry(people)["action"]) == (0, "draft.deleted")
