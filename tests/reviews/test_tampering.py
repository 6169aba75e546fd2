"""Somebody edits the database behind the application: nothing of it is shown or signed, and the log says where."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from reviews.errors import TamperedError
from reviews.models import AuditEntry, Blob, Comment, PlannedRevision, Revision, SignOff
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import blob_of_workspace, revision_bytes
from reviews.selectors.log import CHANGED, audit_entry_bytes, audit_rows
from reviews.selectors.revision_detail import revision_file
from reviews.services.revisions import revision_create
from reviews.verification import verify
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, documents, last_entry, planned, sign
from tests.reviews.rules.test_rule_14_threads import about, publish

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

BLOBS: dict[str, Callable[[Revision], str]] = {
    "contract": lambda revision: revision.contract.blob_id,
    "evidence": lambda revision: revision.evidence.blob_id,
    "plan": lambda revision: revision.planned.plan.blob_id,
}


def change(sha256: str, data: bytes = b"{}") -> None:
    with lifted():
        Blob.objects.filter(pk=sha256).update(data=data)


def seq_of(people: Cast, action: str) -> int:
    return AuditEntry.objects.get(workspace=people.workspace, action=action).seq


@pytest.mark.parametrize("what", BLOBS)
def test_nothing_is_signed_on_changed_bytes_and_the_attempt_is_recorded(what: str, people: Cast) -> None:
    revision = planned(people)
    change(BLOBS[what](revision))
    with pytest.raises(TamperedError, match=f"The stored {what} is not what was stored"):
        sign(people, revision, is_opened=what != "plan")
    assert (SignOff.objects.count(), last_entry(people)["action"]) == (0, "signoff.refused")


def test_nothing_is_signed_on_another_subject_than_the_stored_parts_make(people: Cast) -> None:
    revision = planned(people)
    with lifted():
        PlannedRevision.objects.update(subject="sha256:" + "0" * 64)
    revision = Revision.objects.select_related("decision", "planned").get(pk=revision.pk)
    with pytest.raises(TamperedError, match="The stored subject is not what was stored"):
        sign(people, revision)


@pytest.mark.parametrize("what", BLOBS)
def test_changed_bytes_are_not_given_out(what: Any, people: Cast) -> None:
    revision = planned(people)
    sha256 = BLOBS[what](revision)
    change(sha256)
    asked: dict[str, Any] = {"actor": people.alice, "workspace": people.workspace}
    with pytest.raises(TamperedError):
        blob_of_workspace(**asked, sha256=sha256)
    with pytest.raises(TamperedError):
        revision_bytes(**asked, revision_id=revision.pk)
    with pytest.raises(TamperedError):
        revision_file(**asked, number=1, revision=1, kind=what)


def test_changed_bytes_are_not_taken_over_by_the_next_revision(people: Cast) -> None:
    change(planned(people).contract.blob_id)
    with pytest.raises(TamperedError, match="The stored contract is not what was stored"):
        revision_create(
            actor=people.alice,
            workspace=people.workspace,
            number=1,
            contract=None,
            evidence=documents(tokens=170000).evidence,
            as_of=None,
            idempotency_key=None,
        )
    assert Revision.objects.count() == 1


def test_a_changed_plan_is_not_shown(people: Cast) -> None:
    change(planned(people).planned.plan.blob_id)
    with pytest.raises(TamperedError, match="The stored plan is not what was stored"):
        decision_page(actor=people.alice, workspace=people.workspace, number=1)


@pytest.mark.parametrize(
    ("what", "action"),
    [("contract", "revision.created"), ("evidence", "revision.created"), ("plan", "revision.planned")],
)
def test_the_check_of_the_log_names_the_entry_whose_bytes_changed(what: str, action: str, people: Cast) -> None:
    revision = planned(people)
    change(BLOBS[what](revision))
    found = verify(people.workspace)
    assert found.bad_seq == seq_of(people, action)
    assert found.reason.startswith(f"The stored {what} is not what was stored")


@pytest.mark.parametrize("column", ["meaning", "statement", "subject", "scope", "displayed", "turn"])
def test_the_check_of_the_log_names_the_entry_of_a_changed_sign_off(column: str, people: Cast) -> None:
    sign(people, planned(people))
    with lifted():
        SignOff.objects.update(**{column: 7 if column == "turn" else "reject"})
    found = verify(people.workspace)
    assert (found.bad_seq, found.reason) == (
        seq_of(people, "signoff.given"),
        "no stored sign-off says what the entry recorded",
    )


def test_the_check_of_the_log_finds_a_sign_off_that_nobody_gave(people: Cast) -> None:
    given = sign(people, planned(people))
    forged = SignOff.objects.get(pk=given.pk)
    forged.pk, forged.turn, forged.meaning = None, 2, "reject"
    forged.save(force_insert=True)
    found = verify(people.workspace)
    assert not found.holds
    assert (found.bad_seq, found.reason) == (found.entries, f"no entry records the stored sign-off {forged.pk}")


def test_the_check_of_the_log_names_the_entry_of_a_changed_comment(people: Cast) -> None:
    planned(people)
    publish(people, about())
    assert verify(people.workspace).holds
    with lifted():
        Comment.objects.update(text="Something else.")
    found = verify(people.workspace)
    assert (found.bad_seq, found.reason) == (
        seq_of(people, "comments.published"),
        "the stored comments do not say what the entry recorded",
    )


def test_the_check_of_the_log_finds_a_comment_that_nobody_published(people: Cast) -> None:
    planned(people)
    (comment,) = publish(people, about())
    forged = Comment.objects.create(
        thread=comment.thread, number=2, person=people.dave, text="Agreed.", entry=0, posted_at=comment.posted_at
    )
    assert verify(people.workspace).reason == f"no entry records the stored comment {forged.pk}"


def test_the_log_of_untouched_sign_offs_holds(people: Cast) -> None:
    revision = planned(people)
    sign(people, revision)
    sign(people, revision, meaning="reject", statement="No longer.")
    assert verify(people.workspace).holds


@pytest.mark.parametrize(
    "edit",
    [
        {"data": b"\xff\xfe\x00"},
        {"data": b"[]"},
        {"data": b"{}"},
        {"sha256": "sha256:" + "0" * 64},
        {"at": "yesterday"},
        {"action": "signoff.given"},
        {"decision_number": 7},
        {"team": "serving"},
    ],
    ids=str,
)
def test_a_changed_entry_is_listed_and_says_so(edit: dict[str, Any], people: Cast) -> None:
    planned(people)
    seq = seq_of(people, "revision.planned")
    with lifted():
        AuditEntry.objects.filter(workspace=people.workspace, seq=seq).update(**edit)
    rows = audit_rows(actor=people.alice, workspace=people.workspace).rows
    assert [row.seq for row in rows if row.is_changed] == [seq]
    assert [(row.reason, row.payload) for row in rows if row.is_changed] == [(CHANGED, None)]


def test_an_entry_with_a_changed_payload_says_so(people: Cast) -> None:
    planned(people)
    entry = AuditEntry.objects.get(workspace=people.workspace, action="revision.created")
    assert entry.payload_id is not None
    change(entry.payload_id, b'{"title":"Another"}')
    row, _ = audit_entry_bytes(actor=people.alice, workspace=people.workspace, seq=entry.seq)
    assert (row.is_changed, row.payload) == (True, None)


ASKED = (
    "/w/lab/audit/",
    "/w/lab/audit/{seq}/",
    "/w/lab/audit/entries.csv",
    "/w/lab/audit/entries.json",
    "/w/lab/decisions/1/",
    "/w/lab/decisions/1/history/",
    "/api/v1/workspaces/lab/audit",
    "/api/v1/workspaces/lab/audit/{seq}",
)


@pytest.mark.parametrize("address", ASKED)
def test_every_page_of_a_changed_entry_is_served_and_names_it(address: str, people: Cast, client: Client) -> None:
    planned(people)
    seq = seq_of(people, "revision.planned")
    with lifted():
        AuditEntry.objects.filter(workspace=people.workspace, seq=seq).update(data=b"\xff\xfe\x00")
    client.force_login(people.audrey, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get(address.format(seq=seq))
    assert (answer.status_code, CHANGED in answer.content.decode()) == (200, True)
