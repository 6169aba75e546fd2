import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.canonical import file_sha256
from reviews.models import AuditEntry, Decision, Revision, StoredDocument
from tests.reviews.factories import Cast, documents, example_pair
from tests.web.conftest import Visit

NEW = "/w/lab/decisions/new"


def send(
    client: Client, *, act: str = "submit", files: dict[str, bytes] | None = None, query: str = "", **typed: str
) -> Any:
    uploads = [SimpleUploadedFile(name, data) for name, data in (files or {}).items()]
    return client.post(f"{NEW}{query}", {"act": act, "files": uploads, **typed})


def test_two_files_in_any_order_make_a_decision(people: Cast, visit: Visit) -> None:
    pair = documents()
    answer = send(visit(people.alice), files={"b.json": pair.evidence, "a.json": pair.contract}, title="Chat")
    assert (answer.status_code, answer["Location"]) == (302, "/w/lab/decisions/1/")
    assert Decision.objects.get().title == "Chat"
    assert bytes(Revision.objects.get().evidence.blob.data) == pair.evidence


def test_pasted_text_is_stored_as_it_was_pasted(people: Cast, visit: Visit) -> None:
    pair = documents()
    contract = pair.contract.decode() + "\n \n"
    send(visit(people.alice), title="Chat", contract=contract, evidence=pair.evidence.decode())
    assert bytes(Revision.objects.get().contract.blob.data).decode() == contract


def test_a_script_is_told_where_to_go_instead_of_reading_the_page_for_nothing(people: Cast, visit: Visit) -> None:
    pair = documents()
    typed = {"act": "submit", "title": "Chat", "contract": pair.contract.decode(), "evidence": pair.evidence.decode()}
    answer = visit(people.alice).post(NEW, typed, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (200, "/w/lab/decisions/1/")


def test_a_double_click_makes_one_decision(people: Cast, visit: Visit) -> None:
    pair, client = documents(), visit(people.alice)
    once = re.findall(r'name="once" value="([^"]+)"', client.get(NEW).content.decode())[0]
    typed = {"title": "Chat", "contract": pair.contract.decode(), "evidence": pair.evidence.decode(), "once": once}
    answers = [send(client, **typed)["Location"] for _ in range(3)]
    assert (answers, Decision.objects.count()) == (["/w/lab/decisions/1/"] * 3, 1)


def test_the_same_form_with_other_content_is_another_submission(people: Cast, visit: Visit) -> None:
    pair, client = documents(), visit(people.alice)
    contract, evidence = pair.contract.decode(), pair.evidence.decode()
    answers = [
        send(client, title=title, contract=contract, evidence=evidence, once="abc")["Location"]
        for title in ("Chat", "Chat, again")
    ]
    assert answers == ["/w/lab/decisions/1/", "/w/lab/decisions/2/"]


def test_a_form_keeps_its_name_on_an_error_and_differs_from_the_next(people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    assert 'name="once" value="abc"' in send(client, contract="{", evidence="[]", once="abc").content.decode()
    first, second = (client.get(NEW).content.decode().split('name="once"')[1][:40] for _ in range(2))
    assert first != second


def test_problems_come_first_with_document_line_pointer_expected_and_found(people: Cast, visit: Visit) -> None:
    tree = json.loads(documents().contract)
    tree["slot"] = 7
    tree["identity"]["model"]["layers"] = "many"
    answer = send(
        visit(people.alice),
        files={"contract.json": json.dumps(tree, indent=1).encode(), "evidence.json": documents().evidence},
    )
    page = answer.content.decode()
    assert answer.status_code == 422
    assert page.index("/identity/model/layers") < page.index('id="h-files"')
    assert "contract contract.json line 3 · /slot" in page
    assert "Every problem found, not only the first." in page


def test_nothing_is_stored_of_a_refused_submission_but_its_entry(people: Cast, visit: Visit) -> None:
    send(visit(people.alice), contract="{", evidence="[]")
    assert (Decision.objects.count(), StoredDocument.objects.count()) == (0, 0)
    assert AuditEntry.objects.latest("seq").action == "submission.refused"


def test_what_is_no_two_documents_is_refused_with_an_entry_too(people: Cast, visit: Visit) -> None:
    pair = documents()
    answer = send(visit(people.alice), files={"a.json": pair.contract, "b.json": pair.contract}, title="Chat")
    entry = AuditEntry.objects.latest("seq")
    assert (answer.status_code, entry.action, Decision.objects.count()) == (422, "submission.refused", 0)
    assert "found a second one beside a.json" in json.loads(bytes(entry.data))["reason"]


def test_a_file_above_the_limit_is_refused_by_name_and_size(
    people: Cast, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviews.web.submissions.MAX_BYTES", 100)
    answer = send(visit(people.alice), files={"a.json": documents().contract, "big.json": b" " * 101}, title="Chat")
    assert (answer.status_code, AuditEntry.objects.latest("seq").action) == (422, "submission.refused")
    assert "Expected <b>at most 100 bytes</b>. Found 101 bytes." in answer.content.decode()


def many_files(count: int) -> dict[str, bytes]:
    return {f"{at}.json": b"{}" for at in range(count)}


@pytest.mark.parametrize(
    ("sent", "limits", "words"),
    [
        pytest.param(
            {"contract": "{" * 2000},
            {"DATA_UPLOAD_MAX_MEMORY_SIZE": 1000},
            "Expected <b>at most 1,000 bytes of text beside the files</b>. Found more.",
            id="pasted text",
        ),
        pytest.param({"files": many_files(201)}, {}, "Expected <b>at most 200 files</b>. Found more.", id="files"),
        pytest.param(
            {f"f{at}": "" for at in range(2_000)}, {}, "Expected <b>at most 2,000 fields</b>. Found more.", id="fields"
        ),
        pytest.param(
            {"files": {"a.json": b" " * 3000}},
            {"MAX_BODY_BYTES": 3000},
            "Expected <b>at most 3,000 bytes</b>. Found 3,",
            id="the whole body",
        ),
    ],
)
def test_more_than_one_request_holds_is_answered_in_words_and_recorded(
    sent: dict[str, Any], limits: dict[str, int], words: str, people: Cast, visit: Visit, settings: Any
) -> None:
    for name, most in limits.items():
        setattr(settings, name, most)
    answer = send(visit(people.alice), **sent)
    page = answer.content.decode()
    assert (answer.status_code, 'id="answer"' in page, words in page) == (413, True, True)
    entry = AuditEntry.objects.latest("seq")
    assert (entry.action, entry.actor_token) == ("submission.refused", people.alice.token)
    written = json.loads(bytes(entry.data))
    assert ("expected at most" in written["reason"], written["auth_method"]) == (True, "password")
    assert Decision.objects.count() == 0


def test_too_much_from_somebody_unknown_is_answered_and_leaves_no_entry(people: Cast, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 3000
    before = AuditEntry.objects.count()
    answer = send(Client(enforce_csrf_checks=True), files={"a.json": b" " * 3000})
    assert (answer.status_code, AuditEntry.objects.count()) == (413, before)


def test_a_stranger_leaves_no_entry_by_sending_too_much(people: Cast, visit: Visit, settings: Any) -> None:
    settings.MAX_BODY_BYTES = 3000
    before = AuditEntry.objects.count()
    answer = send(visit(people.charlie), files={"a.json": b" " * 3000})
    assert (answer.status_code, AuditEntry.objects.count()) == (413, before)


def test_what_was_typed_is_kept_on_an_error(people: Cast, visit: Visit) -> None:
    page = send(visit(people.alice), contract="{ broken", evidence="[1]", title="Mine", as_of="then").content.decode()
    assert ("{ broken</textarea>" in page, "[1]</textarea>" in page) == (True, True)
    assert ('value="Mine"' in page, 'value="then"' in page) == (True, True)


def test_a_small_refused_file_is_kept_as_text(people: Cast, visit: Visit) -> None:
    page = send(visit(people.alice), files={"x.json": b"{ broken file"}, evidence="[]").content.decode()
    assert "{ broken file</textarea>" in page


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        pytest.param({}, "a file or text with the contract", id="nothing at all"),
        pytest.param({"contract": "{}"}, "a file or text with the evidence", id="no evidence"),
        pytest.param({"act": "steal"}, "request/act", id="an act that does not exist"),
        pytest.param({"title": "x" * 201}, "request/title", id="a title that is too long"),
    ],
)
def test_an_incomplete_request_is_a_problem_too(typed: dict[str, str], found: str, people: Cast, visit: Visit) -> None:
    answer = visit(people.alice).post(NEW, {"act": "submit"} | typed)
    assert (answer.status_code, found in answer.content.decode()) == (422, True)


def test_uploaded_text_is_shown_as_text(people: Cast, visit: Visit) -> None:
    evil = '{"schema": "</textarea><script>alert(1)</script>", "<img src=x onerror=alert(2)>": 1}'
    page = send(visit(people.alice), contract=evil, evidence=evil).content.decode()
    assert ("<script>alert" in page, "<img src=x" in page) == (False, False)


def test_a_check_stores_nothing_and_shows_the_trials(people: Cast, visit: Visit) -> None:
    pair = example_pair()
    answer = send(visit(people.alice), act="check", files={"c.json": pair.contract, "e.json": pair.evidence})
    page = answer.content.decode()
    assert (answer.status_code, "3 trials, no problem" in page, "tp8-pp1-ep2-dp1" in page) == (200, True, True)
    assert (Decision.objects.count(), AuditEntry.objects.filter(action__startswith="submission").count()) == (0, 0)


def test_a_check_lists_problems_without_an_entry(people: Cast, visit: Visit) -> None:
    answer = send(visit(people.alice), act="check", contract="{", evidence="{")
    assert (answer.status_code, AuditEntry.objects.filter(action="submission.refused").count()) == (422, 0)


def test_new_evidence_makes_a_new_revision(decided: Decision, people: Cast, visit: Visit) -> None:
    pair = documents(tokens=200_000)
    client = visit(people.alice)
    assert "New revision of D-0001" in client.get(f"{NEW}?decision=1").content.decode()
    send(client, query="?decision=1", contract=pair.contract.decode(), evidence=pair.evidence.decode())
    assert list(Revision.objects.order_by("number").values_list("decision__number", "number")) == [(1, 1), (1, 2)]


def test_a_document_that_is_left_out_of_a_revision_is_the_last_ones(
    decided: Decision, people: Cast, visit: Visit
) -> None:
    client, evidence = visit(people.alice), documents(tokens=200_000).evidence
    reused = Revision.objects.get().contract.file_sha256
    page = client.get(f"{NEW}?decision=1").content.decode()
    assert ('name="reuse" value="1"' in page, reused in page) == (True, True)
    checked = send(client, act="check", query="?decision=1", files={"e.json": evidence}, reuse="1").content.decode()
    assert "Contract taken over from r1" in checked
    send(client, query="?decision=1", files={"e.json": evidence}, reuse="1")
    assert Revision.objects.get(number=2).contract.file_sha256 == reused
    assert Revision.objects.get(number=2).evidence.file_sha256 == file_sha256(evidence)


def test_a_double_click_on_a_revision_makes_one(decided: Decision, people: Cast, visit: Visit) -> None:
    client, evidence = visit(people.alice), documents(tokens=200_000).evidence
    for _ in range(2):
        send(client, query="?decision=1", files={"e.json": evidence}, reuse="1", once="abc")
    assert Revision.objects.count() == 2


def test_a_revision_of_nothing_new_is_refused(decided: Decision, people: Cast, visit: Visit) -> None:
    answer = send(visit(people.alice), query="?decision=1")
    assert (answer.status_code, Revision.objects.count()) == (422, 1)
    assert "a file or text with a contract, evidence, or both" in answer.content.decode()


def test_what_is_wrong_with_a_field_stands_at_the_field(people: Cast, visit: Visit) -> None:
    answer = send(visit(people.alice), as_of="then", title="")
    page = answer.content.decode()
    assert answer.status_code == 422
    for field, words in (
        ("title-bad", "Expected 1 to 200 printable characters. Found nothing."),
        ("as-of-bad", "Expected UTC in whole seconds, as in 2026-09-20T16:00:00Z. Found then."),
    ):
        assert words in page.split(f'id="{field}"')[1].split("</p>")[0]
    assert (page.count('aria-invalid="true"'), "a file or text with the contract" in page) == (2, True)


def test_the_browser_leaves_judging_the_form_to_the_server(people: Cast, visit: Visit) -> None:
    assert " novalidate " in visit(people.alice).get(NEW).content.decode()


def test_a_check_of_a_revision_judges_the_slot(decided: Decision, people: Cast, visit: Visit) -> None:
    pair = documents(slot="own/elsewhere")
    answer = send(
        visit(people.alice),
        act="check",
        query="?decision=1",
        files={"c.json": pair.contract, "e.json": pair.evidence},
    )
    assert (answer.status_code, "another slot" in answer.content.decode()) == (422, True)


def test_a_revision_for_another_slot_is_refused_in_words(decided: Decision, people: Cast, visit: Visit) -> None:
    pair = documents(slot="own/elsewhere")
    answer = send(
        visit(people.alice), query="?decision=1", contract=pair.contract.decode(), evidence=pair.evidence.decode()
    )
    assert (answer.status_code >= 400, Revision.objects.count()) == (True, 1)
    assert "own/elsewhere" in answer.content.decode()


@pytest.mark.parametrize("who", ["bob", "audrey"])
def test_who_may_not_submit_reads_why_and_the_buttons_are_off(who: str, people: Cast, visit: Visit) -> None:
    page = visit(getattr(people, who)).get(NEW).content.decode()
    assert ("Submitting needs the role author." in page, page.count("disabled aria-describedby")) == (True, 2)


@pytest.mark.parametrize("act", ["check", "submit"])
def test_who_may_not_submit_cannot_by_hand(act: str, people: Cast, visit: Visit) -> None:
    pair = documents()
    answer = send(visit(people.bob), act=act, contract=pair.contract.decode(), evidence=pair.evidence.decode())
    assert (answer.status_code, Decision.objects.count()) == (403, 0)
