"""History, audit log, digests, downloads."""

import csv
import io
import json
import re

import pytest

from planner.canonical import file_sha256
from reviews.audit import Act, append
from reviews.models import AuditEntry, Decision
from tests.reviews.factories import Cast, documents, planned, sign
from tests.web.conftest import Visit


def text(people: Cast, visit: Visit, address: str) -> str:
    return visit(people.audrey).get(address).content.decode()


def test_history_shows_what_moved_between_revisions(decided: Decision, people: Cast, visit: Visit) -> None:
    first = decided.revisions.get()
    second = planned(people, pair=documents(tokens=200_000), decision=decided)
    page = text(people, visit, "/w/lab/decisions/1/history/").split('aria-label="Revision 1"')[0]
    moved = re.findall(r'scope="row">([a-z ]+) <span class="tag tag-unk">', page)
    assert moved == ["evidence", "plan", "subject", "evidence file"]
    assert (first.evidence.content_id in page, second.evidence.content_id in page) == (True, True)


def test_history_shows_sign_offs_with_their_subject(decided: Decision, people: Cast, visit: Visit) -> None:
    signed = sign(people, decided.revisions.get())
    page = text(people, visit, "/w/lab/decisions/1/history/")
    assert ("Bob approved r1" in page, page.count(signed.subject) >= 2) == (True, True)


def test_the_log_is_newest_first_in_order_of_seq(decided: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "/w/lab/audit/")
    seqs = [int(seq) for seq in re.findall(r"/w/lab/audit/(\d+)/", page)]
    assert seqs == list(range(AuditEntry.objects.count() - 1, -1, -1))


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ("?decision=D-0001", {"revision.created", "revision.planned"}),
        ("?decision=1&action=revision.planned", {"revision.planned"}),
        ("?action=revision.", {"revision.created", "revision.planned"}),
        ("?team=serving", {"roster.seat_given"}),
        ("?decision=99", set()),
        ("?decision=D-12-r1", set()),
        ("?decision=%D9%A1", set()),
        ("?decision=12345678901", set()),
    ],
)
def test_filters(query: str, actions: set[str], decided: Decision, people: Cast, visit: Visit) -> None:
    rows = visit(people.audrey).get(f"/w/lab/audit/entries.json{query}").json()
    assert {row["action"] for row in rows} == actions


def test_the_log_names_who_got_a_role_and_a_seat(decided: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "/w/lab/audit/?action=roster.")
    assert ("Role auditor given to Audrey by system" in page, "Seat for serving given to Bob by system" in page) == (
        True,
        True,
    )


def test_a_long_refusal_is_short_in_the_log_and_whole_in_its_entry(people: Cast, visit: Visit) -> None:
    reason = "Found nothing. " * 40
    entry = append(people.workspace, Act(action="submission.refused", actor=people.alice.token, reason=reason))
    assert reason.strip() not in text(people, visit, "/w/lab/audit/")
    assert "the entry has all of it" in text(people, visit, "/w/lab/audit/")
    assert reason.strip() in text(people, visit, f"/w/lab/audit/{entry.seq}/")


def test_an_entry_leads_to_the_revision_that_it_names(decided: Decision, people: Cast, visit: Visit) -> None:
    planned(people, pair=documents(tokens=200_000), decision=decided)
    page = text(people, visit, "/w/lab/audit/")
    assert '<a href="/w/lab/decisions/1/?revision=1">D-0001 r1</a>' in page


def test_the_log_is_found_by_a_subject_without_its_prefix(decided: Decision, people: Cast, visit: Visit) -> None:
    subject = decided.revisions.get().planned.subject
    page = text(people, visit, f"/w/lab/audit/?digest={subject.removeprefix('sha256:').upper()}")
    assert page.count('<tr class="tbl-row">') == 1


def test_an_entry_shows_the_bytes_that_are_hashed(decided: Decision, people: Cast, visit: Visit) -> None:
    entry = AuditEntry.objects.latest("seq")
    page = text(people, visit, f"/w/lab/audit/{entry.seq}/")
    assert (
        f"Entry {entry.seq}" in page,
        entry.sha256 in page,
        "&quot;action&quot;:&quot;revision.planned&quot;" in page,
    ) == (
        True,
        True,
        True,
    )


def test_the_log_is_downloaded_as_csv(decided: Decision, people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).get("/w/lab/audit/entries.csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert (len(rows), rows[0]["action"], rows[0]["decision"]) == (AuditEntry.objects.count(), "revision.planned", "1")
    assert [row["at"] for row in rows] == list(AuditEntry.objects.order_by("-seq").values_list("at", flat=True))


def test_a_digest_names_everything_it_stands_for(decided: Decision, people: Cast, visit: Visit) -> None:
    revision = decided.revisions.get()
    page = text(people, visit, f"/w/lab/digests/{revision.contract.content_id}/")
    assert (f'<span class="digest-full">{revision.contract.content_id}</span>' in page, "D-0001 r1" in page) == (
        True,
        True,
    )
    assert "Download the bytes" not in page
    assert "The file as uploaded has a digest of its own" in page


@pytest.mark.parametrize("kind", ["contract", "evidence"])
def test_a_digest_of_a_document_leads_to_its_page(kind: str, decided: Decision, people: Cast, visit: Visit) -> None:
    document = getattr(decided.revisions.get(), kind)
    for digest in (document.content_id, document.file_sha256):
        page = text(people, visit, f"/w/lab/digests/{digest}/")
        assert f'<a href="/w/lab/decisions/1/documents/{kind}/?revision=1">D-0001 r1</a>' in page


def test_the_bytes_behind_a_file_digest_are_saved_never_shown(decided: Decision, people: Cast, visit: Visit) -> None:
    digest = decided.revisions.get().evidence.file_sha256
    assert "Download the bytes" in text(people, visit, f"/w/lab/digests/{digest}/")
    answer = visit(people.audrey).get(f"/w/lab/digests/{digest}/raw")
    assert (file_sha256(answer.content), answer["X-Content-Type-Options"], answer["Content-Type"]) == (
        digest,
        "nosniff",
        "application/octet-stream",
    )
    assert answer["Content-Disposition"].startswith("attachment;")


def test_the_plan_is_downloaded_byte_for_byte(decided: Decision, people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).get("/w/lab/decisions/1/plan.json")
    plan = decided.revisions.get().planned.plan
    assert (file_sha256(answer.content), json.loads(answer.content)["plan_id"]) == (plan.blob_id, plan.plan_id)


def test_the_whole_matrix_is_downloaded(worked: Decision, people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).get("/w/lab/decisions/1/matrix.csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    failing = [(row["trial"], row["gate"], row["limit"]) for row in rows if row["outcome"] == "FAIL"]
    assert failing == [
        ("t-wide-16", "link_utilization", "inter_node"),
        ("t-one-node", "memory_headroom", "worst_rank"),
        ("t-one-node", "throughput", "saturated"),
    ]
