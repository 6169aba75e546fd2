"""The page of one entry: bytes, place in the chain, proof in the tree, and the ways to and from it."""

import re
from typing import Any

import pytest

from planner.canonical import file_sha256
from reviews.models import AuditEntry, SignOff
from reviews.services.checkpoints import checkpoint_sign
from reviews.transparency.checkpoints import checkpoint_opened
from reviews.transparency.keys import new_key
from reviews.transparency.merkle import inclusion_holds, leaf_hash
from reviews.transparency.notes import Verifier
from reviews.transparency.proofs import FORM
from tests.plugins.append_only import lifted
from tests.queries import cost
from tests.reviews.factories import Cast, planned, sign
from tests.web.conftest import Visit


@pytest.fixture
def key(settings: Any) -> None:
    """A key for this test alone."""
    settings.LOG_SIGNING_KEY = new_key()


def test_an_entry_shows_its_bytes_fields_and_neighbours(people: Cast, visit: Visit) -> None:
    entry = AuditEntry.objects.get(seq=2)
    who = visit(people.audrey)
    page = who.get("/w/lab/audit/2/").content.decode()
    for shown in (
        "/w/lab/audit/1/",
        "/w/lab/audit/3/",
        entry.sha256,
        entry.prev,
        '<th class="tbl-c mono nowrap" scope="row">origin</th>',
        "Not signed for yet",
        "No checkpoint covers it yet.",
    ):
        assert shown in page, shown
    raw = who.get("/w/lab/audit/2/raw")
    assert (raw.content, file_sha256(raw.content)) == (bytes(entry.data), entry.sha256)
    assert raw["Content-Disposition"] == 'attachment; filename="lab-entry-2.json"'
    assert who.get("/w/lab/audit/2/proof").status_code == 404
    last = AuditEntry.objects.count() - 1
    assert "none yet" in who.get(f"/w/lab/audit/{last}/").content.decode()
    assert "the log begins here" in who.get("/w/lab/audit/0/").content.decode()


@pytest.mark.parametrize("address", ["999/", "999999999999999/", "999/raw", "999/proof"])
def test_there_is_no_page_of_an_entry_that_is_not_there(address: str, people: Cast, visit: Visit) -> None:
    assert visit(people.audrey).get(f"/w/lab/audit/{address}").status_code == 404


def test_the_old_address_of_an_entry_leads_to_it(people: Cast, visit: Visit) -> None:
    assert visit(people.audrey).get("/w/lab/audit/?seq=2")["Location"] == "/w/lab/audit/2/"


def test_an_entry_is_proven_against_the_newest_checkpoint(key: None, people: Cast, visit: Visit) -> None:
    made = checkpoint_sign(people.workspace)
    assert made is not None
    page = visit(people.audrey).get("/w/lab/audit/4/").content.decode()
    leaf = leaf_hash(bytes(AuditEntry.objects.get(seq=4).data))
    assert ("In the signed log" in page, leaf.hex() in page) == (True, True)
    assert f'<a href="/w/lab/audit/checkpoints/{made.size}/">{made.size} entries</a>' in page
    hashes = [bytes.fromhex(found) for found in re.findall(r"<li>([0-9a-f]{64})</li>", page)]
    assert inclusion_holds(leaf, 4, made.size, hashes, bytes(made.root))
    answer = visit(people.audrey).get("/w/lab/audit/4/proof")
    head, _, note = answer.content.partition(b"\n\n")
    assert head.split(b"\n")[:2] == [FORM.encode(), b"index 4"]
    assert checkpoint_opened(note, Verifier.of(made.key))[0].size == made.size
    assert answer["Content-Disposition"] == 'attachment; filename="lab-entry-4.tlog-proof"'


def test_an_entry_that_was_changed_after_it_was_signed_for_is_not_proven(key: None, people: Cast, visit: Visit) -> None:
    checkpoint_sign(people.workspace)
    entry = AuditEntry.objects.get(seq=4)
    with lifted():
        data = bytes(entry.data).replace(b'"reason":null', b'"reason":"x"')
        AuditEntry.objects.filter(seq=4).update(data=data, sha256=file_sha256(data))
    page = visit(people.audrey).get("/w/lab/audit/4/").content.decode()
    assert ("Not proven" in page, "Its bytes are not those" in page) == (True, True)
    assert visit(people.audrey).get("/w/lab/audit/4/proof").status_code == 404


def test_a_sign_off_leads_to_its_entry_and_back(people: Cast, visit: Visit) -> None:
    revision = planned(people)
    sign(people, revision)
    again = sign(people, revision, statement="Still.")
    who = visit(people.audrey)
    first, second = (
        who.get(f"/w/lab/audit/signoffs/{row.pk}/")["Location"] for row in SignOff.objects.order_by("turn")
    )
    seqs = AuditEntry.objects.filter(action="signoff.given").order_by("seq").values_list("seq", flat=True)
    assert (first, second) == tuple(f"/w/lab/audit/{seq}/" for seq in seqs)
    for page in ("/w/lab/decisions/1/", "/w/lab/decisions/1/history/"):
        assert f'<a href="/w/lab/audit/signoffs/{again.pk}/">entry</a>' in who.get(page).content.decode()
    page = who.get(second).content.decode()
    assert '<a href="/w/lab/decisions/1/history/#r1">' in page
    assert '<dt class="kv-name">Statement</dt><dd class="kv-value">Still.</dd>' in page
    named = re.findall(r'<dt class="kv-name">(subject)</dt>', page, re.IGNORECASE)
    assert named == ["Subject"], "once, not again as a digest of the payload"
    assert who.get("/w/lab/audit/signoffs/999/").status_code == 404
    with lifted():
        AuditEntry.objects.filter(action="signoff.given").update(action="something.else")
    assert who.get(f"/w/lab/audit/signoffs/{again.pk}/").status_code == 404


def test_a_digest_leads_to_the_entries_that_name_it(people: Cast, visit: Visit) -> None:
    revision = planned(people)
    digest = revision.planned.subject
    page = visit(people.audrey).get(f"/w/lab/digests/{digest}/").content.decode()
    assert f'<a href="/w/lab/audit/?digest={digest}">Entries of the log</a>' in page
    seq = AuditEntry.objects.get(action="revision.created").seq
    assert (
        f"/w/lab/digests/{revision.contract.content_id}/"
        in visit(people.audrey).get(f"/w/lab/audit/{seq}/").content.decode()
    )


def test_the_page_takes_as_many_queries_in_a_longer_log(key: None, people: Cast, visit: Visit) -> None:
    checkpoint_sign(people.workspace)
    who = visit(people.audrey)
    before = cost(who, "/w/lab/audit/3/")
    planned(people)
    checkpoint_sign(people.workspace)
    assert cost(who, "/w/lab/audit/3/") <= before + 1
