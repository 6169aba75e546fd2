"""Evidence that was made of files: its page, the way into a submission, and from every value to file and place."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from planner.canonical import file_sha256
from reviews.models import Attachment, Decision, StoredDocument
from reviews.web.attachment_lines import place_in_file
from tests.queries import cost
from tests.reviews.drafts import made, tool_file
from tests.reviews.factories import Cast, documents
from tests.web.conftest import Visit

FILE = file_sha256(tool_file(tensor_parallel_size=1)[1])


@pytest.fixture
def evidence(people: Cast) -> StoredDocument:
    """Evidence that alice made of one file."""
    return made(people)


def page_of(evidence: StoredDocument) -> str:
    return reverse("evidence-detail", args=["lab", evidence.file_sha256])


def test_the_page_names_the_files_and_the_ways_on(evidence: StoredDocument, people: Cast, visit: Visit) -> None:
    page = visit(people.alice).get(page_of(evidence)).content.decode()
    assert "1 file behind it" in page
    assert reverse("attachment-raw", args=["lab", FILE]) in page
    assert f"evidence_sha256={evidence.file_sha256}" in page
    assert "Submit as a new decision" in page


def test_a_reader_sees_it_and_is_offered_no_submission(evidence: StoredDocument, people: Cast, visit: Visit) -> None:
    page = visit(people.bob).get(page_of(evidence))
    assert page.status_code == 200
    assert b"Submit as a new decision" not in page.content


def test_a_stranger_learns_nothing_of_it(evidence: StoredDocument, people: Cast, visit: Visit) -> None:
    stranger = visit(people.charlie)
    addresses = [page_of(evidence), *(reverse(name, args=["lab", FILE]) for name in ("attachment", "attachment-raw"))]
    assert [stranger.get(address).status_code for address in addresses] == [404, 404, 404]


def test_what_was_made_is_submitted_without_choosing_it_again(
    evidence: StoredDocument, people: Cast, visit: Visit
) -> None:
    client = visit(people.alice)
    contract = StoredDocument.objects.get(kind="contract")
    query = f"?contract_sha256={contract.file_sha256}&evidence_sha256={evidence.file_sha256}"
    address = reverse("decision-new", args=["lab"]) + query
    assert "evidence: stored evidence" in client.get(address).content.decode()
    answer = client.post(address, {"title": "Made of files", "act": "submit"})
    assert answer.status_code == 302
    assert Decision.objects.get().revisions.get().evidence == evidence


def test_a_file_of_a_tool_on_the_page_of_documents_is_offered_to_the_builder(people: Cast, visit: Visit) -> None:
    client, new = visit(people.alice), reverse("decision-new", args=["lab"])
    for more in ([], [documents().contract]):
        sent = [SimpleUploadedFile(*tool_file()), *(SimpleUploadedFile("k.json", raw) for raw in more)]
        answer = client.post(new, {"files": sent, "act": "check"})
        page = answer.content.decode()
        assert (answer.status_code, "1 result file of known tools." in page, "h-problems" in page) == (200, True, False)
        assert f'formaction="{reverse("builder-list", args=["lab"])}"' in page
    sent = [SimpleUploadedFile(*tool_file())]
    submitted = client.post(new, {"files": sent, "act": "submit", "title": "Chat"})
    assert (submitted.status_code, "2 problems" in submitted.content.decode()) == (422, True)
    assert "a file or text with the contract" in submitted.content.decode()


def test_every_value_leads_to_the_file_and_the_place_in_it(
    evidence: StoredDocument, people: Cast, visit: Visit
) -> None:
    client = visit(people.alice)
    contract = StoredDocument.objects.get(kind="contract")
    query = f"?contract_sha256={contract.file_sha256}&evidence_sha256={evidence.file_sha256}"
    client.post(reverse("decision-new", args=["lab"]) + query, {"title": "Made of files", "act": "submit"})
    document = reverse("document", args=["lab", 1, "evidence"])
    page = client.get(f"{document}?at=/trials").content.decode()
    href = f"{reverse('attachment', args=['lab', FILE])}?line=1&amp;at=/total_output_tokens"
    assert href in page
    assert "Said by person-" in page
    place = client.get(href.replace("&amp;", "&")).content.decode()
    assert "&quot;total_output_tokens&quot;: 1000" in place
    assert "doc-on" in place


def test_a_file_is_downloaded_as_it_is_kept(evidence: StoredDocument, people: Cast, visit: Visit) -> None:
    answer = visit(people.bob).get(reverse("attachment-raw", args=["lab", FILE]))
    raw = answer.getvalue()
    assert (file_sha256(raw), answer["Content-Length"]) == (FILE, str(len(raw)))
    assert answer["Content-Disposition"].startswith('attachment; filename="c16.json"')


def test_the_page_takes_as_many_queries_for_many_files(evidence: StoredDocument, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    few = cost(client, page_of(evidence))
    kept = {"document": evidence, "size_bytes": 1, "uploaded_bytes": 1, "uploaded_sha256": FILE}
    Attachment.objects.bulk_create(Attachment(name=f"{at}", sha256=f"sha256:{at:064d}", **kept) for at in range(30))
    assert cost(client, page_of(evidence)) == few


@pytest.mark.parametrize(
    ("raw", "line", "pointer", "marked"),
    [
        pytest.param(b"one\ntwo\nthree\n", 2, "", ["two"], id="a line"),
        pytest.param(b"one\n" + b'{"a": {"b": 7}}\n', 2, "/a/b", ['    "b": 7'], id="a pointer in the value of a line"),
        pytest.param(b'{"a": 1}{"a": 2}', None, "/a", ['  "a": 1'], id="values one after the other"),
        pytest.param(b"one\n", 9, "", [], id="a line that is not there"),
        pytest.param(b"no json", None, "/a", [], id="a pointer into what is no JSON"),
        pytest.param(b"", None, "", [], id="nothing"),
    ],
)
def test_places_in_files(raw: bytes, line: int | None, pointer: str, marked: list[str]) -> None:
    place = place_in_file([raw[:3], raw[3:]], line=line, pointer=pointer)
    assert [one.text.rstrip(",") for one in place.lines if one.is_marked] == marked
    assert place.found == (bool(marked) or (line is None and not pointer))


def test_a_line_of_a_huge_file_is_found_in_a_stream() -> None:
    blocks = (json.dumps({"n": number}).encode() + b"\n" for number in range(100_000))
    place = place_in_file(blocks, line=99_000, pointer="")
    assert next(one.text for one in place.lines if one.is_marked) == '{"n": 98999}'
