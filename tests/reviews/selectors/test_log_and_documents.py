"""The log, a decision's history, what digests name, and stored bytes: never across workspaces."""

import pytest

from planner.canonical import file_sha256
from reviews.errors import NotFoundError
from reviews.models import AuditEntry, Person
from reviews.selectors.documents import DigestUse, blob_of_workspace, digest_uses, revision_bytes
from reviews.selectors.log import audit_entry_bytes, audit_rows, history_rows
from reviews.selectors.log_filters import EntryFilter
from reviews.selectors.people import standing_of, workspace_named, workspace_rows
from tests.reviews.factories import Cast, cast, documents, planned, sign, submitted

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def test_a_history_is_every_act_on_the_decision_newest_first(people: Cast) -> None:
    revision = planned(people)
    sign(people, revision, statement="Fine.")
    submitted(people)
    rows = history_rows(actor=people.audrey, workspace=people.workspace, number=1)
    assert [(row.action, row.who, row.revision, row.team) for row in rows] == [
        ("signoff.given", "Bob", 1, "serving"),
        ("revision.planned", "system", 1, ""),
        ("revision.created", "Alice", 1, ""),
    ]
    assert rows[0].payload is not None
    assert rows[0].payload["statement"] == "Fine."


def test_the_log_is_read_page_by_page(people: Cast) -> None:
    everything = audit_rows(actor=people.audrey, workspace=people.workspace, page_size=500)
    first = audit_rows(actor=people.audrey, workspace=people.workspace, page_size=3)
    assert (first.entries, first.rows) == (len(everything.rows), everything.rows[:3])
    assert first.older_than == first.rows[-1].seq
    second = audit_rows(actor=people.audrey, workspace=people.workspace, page_size=3, older_than=first.older_than)
    assert second.rows == everything.rows[3:6]


@pytest.mark.parametrize(
    ("wanted", "actions"),
    [
        pytest.param(EntryFilter(action="revision."), ["revision.planned", "revision.created"], id="prefix"),
        pytest.param(EntryFilter(action="revision.planned"), ["revision.planned"], id="exact"),
        pytest.param(EntryFilter(action="revision"), [], id="no prefix without its full stop"),
        pytest.param(EntryFilter(decision=1, team="serving"), ["signoff.given"], id="team on a decision"),
        pytest.param(EntryFilter(decision=9), [], id="another decision"),
        pytest.param(EntryFilter(action="\0"), [], id="NUL, which PostgreSQL cannot hold"),
        pytest.param(EntryFilter(digest="\ud800"), [], id="half a character"),
    ],
)
def test_the_log_is_filtered(people: Cast, wanted: EntryFilter, actions: list[str]) -> None:
    sign(people, planned(people))
    rows = audit_rows(actor=people.audrey, workspace=people.workspace, wanted=wanted).rows
    assert [row.action for row in rows] == actions


def test_the_log_is_filtered_by_digest(people: Cast) -> None:
    signoff = sign(people, planned(people))
    rows = audit_rows(actor=people.audrey, workspace=people.workspace, wanted=EntryFilter(digest=signoff.subject)).rows
    assert [row.action for row in rows] == ["signoff.given", "revision.planned"]


def test_an_entry_comes_with_the_bytes_of_the_chain(people: Cast) -> None:
    row, data = audit_entry_bytes(actor=people.audrey, workspace=people.workspace, seq=1)
    assert (row.seq, row.sha256) == (1, file_sha256(data))
    with pytest.raises(NotFoundError, match="There is no entry 999"):
        audit_entry_bytes(actor=people.audrey, workspace=people.workspace, seq=999)


def test_an_erased_name_leaves_the_token(people: Cast) -> None:
    planned(people)
    Person.objects.filter(pk=people.alice.pk).update(display_name="", salt=None)
    rows = history_rows(actor=people.audrey, workspace=people.workspace, number=1)
    assert rows[-1].who == people.alice.token


def test_a_digest_names_everything_that_has_it(people: Cast) -> None:
    revision = planned(people)
    signoff = sign(people, revision)
    entry = AuditEntry.objects.get(action="signoff.given")

    def named(digest: str) -> list[tuple[str, int | None, int | None]]:
        uses = digest_uses(actor=people.audrey, workspace=people.workspace, digest=digest)
        return [(use.what, use.decision, use.revision) for use in uses]

    assert named(revision.contract.content_id) == [("contract", 1, 1)]
    assert named(revision.evidence.file_sha256) == [("evidence file", 1, 1)]
    assert named(signoff.subject) == [("subject", 1, 1)]
    assert named(revision.planned.plan.plan_id) == [("plan", 1, 1)]
    assert ("policy version", None, None) in named(revision.policy.content_id)
    assert digest_uses(actor=people.audrey, workspace=people.workspace, digest=entry.sha256) == (
        DigestUse(what="audit entry", decision=1, revision=1, seq=entry.seq),
    )
    assert named("sha256:" + "0" * 64) == []


def test_stored_bytes_come_back_as_they_were_sent(people: Cast) -> None:
    pair = documents()
    revision = planned(people, pair=pair)
    stored = revision_bytes(actor=people.bob, workspace=people.workspace, revision_id=revision.pk)
    assert (stored.contract, stored.evidence) == (pair.contract, pair.evidence)
    assert stored.plan == bytes(revision.planned.plan.blob.data)
    assert blob_of_workspace(actor=people.bob, workspace=people.workspace, sha256=file_sha256(pair.evidence)) == (
        pair.evidence
    )


def test_another_workspace_sees_nothing_of_it(people: Cast) -> None:
    revision = planned(people)
    others = cast(slug="other")
    workspace, reader = others.workspace, others.audrey
    with pytest.raises(NotFoundError):
        revision_bytes(actor=reader, workspace=workspace, revision_id=revision.pk)
    with pytest.raises(NotFoundError):
        blob_of_workspace(actor=reader, workspace=workspace, sha256=revision.contract.file_sha256)
    assert digest_uses(actor=reader, workspace=workspace, digest=revision.contract.content_id) == ()
    with pytest.raises(NotFoundError):
        audit_rows(actor=reader, workspace=people.workspace)


def test_people_and_their_workspaces(people: Cast) -> None:
    assert [(row.slug, row.role) for row in workspace_rows(people.audrey)] == [("lab", "auditor")]
    standing = standing_of(people.bob, workspace_named("lab"))
    assert (standing.role, standing.teams, standing.token) == ("member", frozenset({"serving"}), people.bob.token)
    with pytest.raises(NotFoundError, match="There is no workspace nowhere that you belong to"):
        workspace_named("nowhere")
