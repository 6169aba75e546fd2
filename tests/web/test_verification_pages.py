"""Verifying and exporting on pages: asking, following, results, downloads; the auditor does it all."""

import io
import zipfile
from typing import Any

import pytest

from reviews.models import AuditEntry, Export, JobState, Verification
from reviews.services.export_runs import export_run
from reviews.services.verification_runs import verification_run
from reviews.transparency.keys import new_key
from tests.plugins.append_only import lifted
from tests.queries import cost
from tests.reviews.factories import Cast, planned
from tests.web.conftest import Visit
from tests.web.reading import read

VERIFY = "/w/lab/audit/verifications/"
EXPORT = "/w/lab/audit/exports/"


@pytest.fixture(autouse=True)
def key(settings: Any) -> None:
    """A key for this test alone."""
    settings.LOG_SIGNING_KEY = new_key()


def test_the_auditor_verifies_the_log(people: Cast, visit: Visit) -> None:
    planned(people)
    who = visit(people.audrey)
    assert "Not verified yet" in who.get("/w/lab/audit/").content.decode()
    href = who.post(VERIFY)["Location"]
    assert who.post(VERIFY)["Location"] == href, "one at a time"
    waiting = read(who.get(href))
    assert ("Waiting for a worker." in waiting, "js/progress" in waiting) == (True, True)
    row = Verification.objects.get()
    Verification.objects.update(entries_total=40, entries_done=25)
    assert "Writing the bundle and replaying the rules in it: 62.5 % of 40 entries." in read(who.get(href))
    Verification.objects.update(entries_done=10)
    assert "Comparing what is stored: 25 % of 40 entries." in read(who.get(href))
    verification_run(row.pk)
    row.refresh_from_db()
    for address in (href, "/w/lab/audit/"):
        page = who.get(address).content.decode()
        assert ("Verified, with the key of the worker" in page, row.headline in page) == (True, True)
        assert "verify.py bundle.zip --key 'topogate/lab/" in page
    listed = who.get(VERIFY).content.decode()
    assert (row.headline in listed, f'href="{href}"' in listed) == (True, True)
    assert "came after this verification" in who.get("/w/lab/audit/").content.decode(), "its own entry did"


def test_a_broken_log_says_where(people: Cast, visit: Visit) -> None:
    with lifted():
        AuditEntry.objects.filter(seq=3).update(action="something.else")
    who = visit(people.bob)
    href = who.post(VERIFY)["Location"]
    verification_run(Verification.objects.get().pk)
    page = read(who.get(href))
    assert ("Broken at seq 3" in page, "BROKEN at seq 3: the column action differs" in page) == (True, True)
    assert '<a href="/w/lab/audit/3/">entry 3</a>' in page


def test_a_verification_without_a_result_says_so(people: Cast, visit: Visit) -> None:
    who = visit(people.audrey)
    href = who.post(VERIFY)["Location"]
    Verification.objects.update(state=JobState.FAILED, error_detail="It ended 3 times without a result.")
    page = read(who.get(href))
    assert ("The verification stopped" in page, "js/progress" in page) == (True, False)
    assert "No result" in who.get(VERIFY).content.decode()
    assert who.get(f"{VERIFY}99/").status_code == 404


def test_the_auditor_exports_and_takes_a_bundle_away(people: Cast, visit: Visit) -> None:
    planned(people)
    who = visit(people.audrey)
    assert who.post(EXPORT, {"decision": "d-0001"})["Location"] == EXPORT
    waiting = who.get(EXPORT).content.decode()
    assert ("Waiting" in waiting, 'id="progress"' in waiting, "js/progress" in waiting) == (True, True, True)
    export = Export.objects.get()
    assert who.get(f"{EXPORT}{export.pk}/bundle.zip").status_code == 409
    export_run(export.pk)
    page = who.get(EXPORT).content.decode()
    assert (">Download</a>" in page, "js/progress" in page, "D-0001" in page) == (True, False, True)
    answer = who.get(f"{EXPORT}{export.pk}/bundle.zip")
    export.refresh_from_db()
    name = f"topogate-D-0001-{export.sha256[7:19]}.zip"
    said = [f"unzip -qj {one} verify.py" for one in ("bundle.zip", name)]
    assert (said[0] in waiting, said[1] in page) == (True, True)
    data = b"".join(answer.streaming_content)  # type: ignore[attr-defined] # a streamed answer
    assert (len(data), answer["Content-Type"]) == (int(answer["Content-Length"]), "application/zip")
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert "verify.py" in zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert AuditEntry.objects.latest("seq").action == "export.downloaded"


@pytest.mark.parametrize("decision", ["D-99", "99"])
def test_a_decision_that_is_not_there_is_not_exported(decision: str, people: Cast, visit: Visit) -> None:
    assert visit(people.audrey).post(EXPORT, {"decision": decision}).status_code == 404


def test_what_is_no_decision_is_named(people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).post(EXPORT, {"decision": "one"})
    assert (answer.status_code, "decision: expected a number as D-0001" in answer.content.decode()) == (422, True)


def test_everything_is_exported_when_no_decision_is_named(people: Cast, visit: Visit) -> None:
    visit(people.bob).post(EXPORT, {"decision": ""})
    assert Export.objects.get().decision_number is None
    assert "All decisions" in visit(people.bob).get(EXPORT).content.decode()


def test_the_files_behind_evidence_are_exported_where_that_is_ticked(people: Cast, visit: Visit) -> None:
    who = visit(people.audrey)
    assert "With files" not in who.get(EXPORT).content.decode()
    who.post(EXPORT, {"decision": "", "files": "yes"})
    assert Export.objects.get().with_files
    assert "With files" in who.get(EXPORT).content.decode()


@pytest.mark.parametrize("address", [VERIFY, EXPORT])
def test_strangers_neither_verify_nor_export(address: str, people: Cast, visit: Visit) -> None:
    assert visit(people.charlie).post(address).status_code == 404
    assert (Verification.objects.count(), Export.objects.count()) == (0, 0)


@pytest.mark.parametrize("address", [VERIFY, EXPORT])
def test_the_lists_take_as_many_queries_however_long_they_are(address: str, people: Cast, visit: Visit) -> None:
    who = visit(people.audrey)
    who.post(address)
    before = cost(who, address)
    Verification.objects.update(state=JobState.FAILED)
    who.post(address, {"decision": ""})
    visit(people.bob).post(address)
    assert cost(who, address) == before
