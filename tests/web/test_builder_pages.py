"""Pages of the evidence builder: what a person sees of files, runs, conflicts and questions, and what forms do."""

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from planner import builder
from planner.canonical import file_sha256
from reviews.models import AuditEntry, Draft, DraftFile, StoredDocument
from reviews.selectors.evidence_drafts import EvidenceDraft, evidence_draft
from reviews.web.builder_rows import TITLES
from tests.queries import cost
from tests.reviews.drafts import added, answered, begun, tool_file
from tests.reviews.factories import Cast, documents
from tests.web.conftest import Visit

pytestmark = pytest.mark.django_db

TABS = ("builder-files", "builder-trials", "builder-questions", "builder-coverage")


def address(name: str, draft: Draft, *more: str) -> str:
    return reverse(name, args=["lab", draft.pk, *more])


def of(people: Cast, draft: Draft) -> EvidenceDraft:
    return evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=draft.pk)


def upload(client: Client, draft: Draft, *files: tuple[str, bytes]) -> Any:
    sent = [SimpleUploadedFile(name, raw) for name, raw in files]
    return client.post(address("builder-files", draft), {"act": "files", "files": sent})


def act(client: Client, draft: Draft, tab: str, version: int | None = None, **form: Any) -> Any:
    seen = Draft.objects.get(pk=draft.pk).version if version is None else version
    return client.post(address(tab, draft), {"version": seen, **form})


@pytest.fixture
def draft(people: Cast) -> Draft:
    """A draft of alice's with two runs at different loads."""
    made = begun(people)
    added(people, made, tool_file(), tool_file("c4.json", max_concurrency=4, request_throughput=1.0))
    return made


def test_a_draft_begins_with_contract_and_files_at_once(people: Cast, visit: Visit) -> None:
    sent = [SimpleUploadedFile(*tool_file()), SimpleUploadedFile("notes.txt", b"a walk in the park\n")]
    answer = visit(people.alice).post(
        reverse("builder-list", args=["lab"]),
        {"name": "May", "contract": documents().contract.decode(), "files": sent},
    )
    draft = Draft.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, address("builder-files", draft))
    assert list(DraftFile.objects.values_list("name", "state")) == [("c16.json", "read"), ("notes.txt", "unknown")]


def test_a_contract_among_the_files_is_taken_for_it(people: Cast, visit: Visit) -> None:
    sent = [SimpleUploadedFile(*tool_file()), SimpleUploadedFile("k.json", documents().contract)]
    visit(people.alice).post(reverse("builder-list", args=["lab"]), {"files": sent})
    assert Draft.objects.get().slot == "own/one-device"
    assert DraftFile.objects.count() == 1


def test_a_draft_without_a_contract_is_refused_in_words(people: Cast, visit: Visit) -> None:
    answer = visit(people.alice).post(reverse("builder-list", args=["lab"]), {"name": "May"})
    assert answer.status_code == 422
    assert b"a contract: chosen, sent as a file, or pasted" in answer.content
    assert b'value="May"' in answer.content


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_is_shown(tab: str, draft: Draft, people: Cast, visit: Visit) -> None:
    page = visit(people.alice).get(address(tab, draft))
    assert page.status_code == 200
    assert f"<h1>{draft.name}</h1>" in page.content.decode()


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("who", ["bob", "charlie"])
def test_a_draft_is_its_owners_alone(tab: str, who: str, draft: Draft, people: Cast, visit: Visit) -> None:
    assert visit(getattr(people, who)).get(address(tab, draft)).status_code == 404


def test_every_file_is_recognised_or_refused_with_the_reason(draft: Draft, people: Cast, visit: Visit) -> None:
    answer = upload(visit(people.alice), draft, ("notes.txt", b"a walk in the park\n"), tool_file("c16-again.json"))
    page = answer.content.decode()
    assert "notes.txt is not taken." in page
    assert "text that starts with" in page
    assert "In the draft already." in page


def test_files_are_named_with_their_format(draft: Draft, people: Cast, visit: Visit) -> None:
    page = visit(people.alice).get(address("builder-files", draft)).content.decode()
    assert f"as <b>{TITLES['vllm-bench-serve']}</b>" in page


def test_what_was_taken_out_of_a_file_is_named(draft: Draft, people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    upload(client, draft, tool_file("k.json", api_key="sk-abcdefghijklmnop1234", seed=9))
    page = client.get(address("builder-files", draft)).content.decode()
    assert "Taken out before it was stored: 1 credential (line 1)." in page
    assert "sk-abcdefghijklmnop1234" not in page


def test_values_are_shown_with_unit_and_place(draft: Draft, people: Cast, visit: Visit) -> None:
    file = builder.file_id(file_sha256(tool_file()[1]))
    page = visit(people.alice).get(address("builder-values", draft, file)).content.decode()
    assert "output_tokens_per_s" in page
    assert "/output_throughput" in page


def test_chosen_runs_are_moved_into_a_new_trial(draft: Draft, people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    run = f"{builder.file_id(file_sha256(tool_file()[1]))}.1"
    assert act(client, draft, "builder-trials", act="new_trial", new="tp2").status_code == 302
    assert act(client, draft, "builder-trials", act="move", run=[run], to="tp2").status_code == 302
    assert of(people, draft).work.draft.trials["tp2"].runs == (run,)


def test_a_run_is_left_out_with_a_reason_and_taken_back(draft: Draft, people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    run = f"{builder.file_id(file_sha256(tool_file()[1]))}.1"
    act(client, draft, "builder-trials", act="leave_out", run=[run], because="The node was throttled.")
    assert of(people, draft).work.draft.left_out[run].because == "The node was throttled."
    assert "The node was throttled." in client.get(address("builder-trials", draft)).content.decode()
    act(client, draft, "builder-trials", act="take_back", run=[run])
    assert of(people, draft).work.draft.left_out == {}


def test_two_tabs_get_a_conflict_and_lose_nothing(draft: Draft, people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    act(client, draft, "builder-trials", 2, act="new_trial", new="first")
    late = act(client, draft, "builder-trials", 2, act="new_trial", new="second")
    page = late.content.decode()
    assert late.status_code == 409
    assert "This draft was changed in another tab or by another request." in page
    assert 'value="second"' in page
    assert "second" not in of(people, draft).work.draft.trials
    assert AuditEntry.objects.latest("seq").action == "draft.refused"


def question_form(page: str, field: str) -> tuple[int, str]:
    """Return the number of a question in its form and how its answer looks."""
    found = re.search(rf'name="f(\d+)" value="{re.escape(field)}"><input type="hidden" name="k\d+" value="(\w+)"', page)
    assert found, f"{field} is not asked"
    return int(found[1]), found[2]


def test_questions_are_answered_in_one_form(draft: Draft, people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    page = client.get(address("builder-questions", draft)).content.decode()
    number, kind = question_form(page, "/provenance/collected_by")
    form: dict[str, Any] = {
        f"f{number}": "/provenance/collected_by",
        f"k{number}": kind,
        f"was{number}": "",
        f"v{number}": "pilot team",
    }
    other: dict[str, Any] = {"f9": "/provenance/collected_at", "k9": "time", "was9": "", "v9": ""}
    answered = act(client, draft, "builder-questions", act="answers", **form, **other)
    # Fields are numbered without a gap, so the second one is not read; an empty one would be no answer either.
    assert answered.status_code == 302
    given = of(people, draft).work.draft.answers
    assert {at: one.value for at, one in given.items()} == {"/provenance/collected_by": "pilot team"}
    assert given["/provenance/collected_by"].by.startswith("person-")
    assert 'value="pilot team"' in client.get(address("builder-questions", draft)).content.decode()


def test_an_answer_that_does_not_fit_is_refused_and_kept(draft: Draft, people: Cast, visit: Visit) -> None:
    form: dict[str, Any] = {"f0": "/provenance/collected_at", "k0": "time", "was0": "", "v0": "last Tuesday"}
    refused = act(visit(people.alice), draft, "builder-questions", act="answers", **form)
    page = refused.content.decode()
    assert refused.status_code == 422
    assert "nothing was changed" in page
    assert 'value="last Tuesday"' in page
    assert of(people, draft).work.draft.answers == {}


def test_an_answer_is_taken_back(draft: Draft, people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    form: dict[str, Any] = {"f0": "/provenance/collected_by", "k0": "text", "was0": "", "v0": "pilot team"}
    act(client, draft, "builder-questions", act="answers", **form)
    act(client, draft, "builder-questions", unanswer="/provenance/collected_by")
    assert of(people, draft).work.draft.answers == {}


def test_ticked_proposals_are_confirmed(draft: Draft, people: Cast, visit: Visit) -> None:
    field = next(
        one.field
        for one in builder.state_of(
            of(people, draft).work.draft, of(people, draft).work.contract, "2026-11-28T00:00:00Z"
        ).questions
        if one.proposals and one.needed
    )
    act(visit(people.alice), draft, "builder-questions", act="confirm", field=[field])
    assert field in of(people, draft).work.draft.answers


def test_ticking_all_fills_the_form_in_and_changes_nothing(draft: Draft, people: Cast, visit: Visit) -> None:
    typed: dict[str, Any] = {"f0": "/provenance/collected_by", "k0": "text", "was0": "", "v0": "pilot team"}
    asked = act(visit(people.alice), draft, "builder-questions", act="tick", group="g1", **typed)
    page = asked.content.decode()
    ticked = re.findall(r'name="field" value="[^"]+" checked', page)
    assert ticked
    assert len(ticked) < page.count('class="choice proposal"')
    assert 'value="pilot team"' in page
    assert of(people, draft).work.draft.answers == {}


@pytest.mark.parametrize("button", ["answers", "confirm"])
def test_neither_what_is_typed_nor_what_is_ticked_gets_lost_with_the_other(
    button: str, draft: Draft, people: Cast, visit: Visit
) -> None:
    work = of(people, draft).work
    state = builder.state_of(work.draft, work.contract, "2026-11-28T00:00:00Z")
    ticked = next(one.field for one in state.questions if one.proposals and one.needed)
    typed: dict[str, Any] = {"f0": "/provenance/collected_by", "k0": "text", "was0": "", "v0": "pilot team"}
    act(visit(people.alice), draft, "builder-questions", act=button, field=[ticked], **typed)
    assert {ticked, "/provenance/collected_by"} <= of(people, draft).work.draft.answers.keys()


def test_a_file_is_removed(draft: Draft, people: Cast, visit: Visit) -> None:
    digest = file_sha256(tool_file()[1])
    act(visit(people.alice), draft, "builder-files", act="remove_file", sha256=digest)
    assert list(DraftFile.objects.values_list("name", flat=True)) == ["c4.json"]


def test_a_draft_is_deleted_with_its_files(draft: Draft, people: Cast, visit: Visit) -> None:
    answer = visit(people.alice).post(address("builder-delete", draft))
    assert answer["Location"] == reverse("builder-list", args=["lab"])
    assert (Draft.objects.count(), DraftFile.objects.count()) == (0, 0)


def test_a_draft_that_can_be_made_says_how_much_would_be_unknown(people: Cast, visit: Visit) -> None:
    draft = begun(people)
    added(people, draft, tool_file(tensor_parallel_size=1))
    answered(people, draft)
    page = visit(people.alice).get(address("builder-questions", draft)).content.decode()
    work = of(people, draft).work
    trials = builder.state_of(work.draft, work.contract, "2026-11-28T00:00:00Z").coverage
    lacking = sum(trial.declared - trial.answered for trial in trials)
    assert (lacking > 0, f"{lacking} gate outcome" in page, 'id="why-not"' in page) == (True, True, False)


def test_what_is_open_keeps_the_document_from_being_made(draft: Draft, people: Cast, visit: Visit) -> None:
    refused = visit(people.alice).post(address("builder-make", draft), {"version": draft.version})
    assert refused.status_code in (409, 422)
    assert StoredDocument.objects.count() == 0


@pytest.mark.parametrize("tab", TABS)
def test_the_number_of_queries_does_not_grow_with_the_files(tab: str, draft: Draft, people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    client.get(address(tab, draft))
    few = cost(client, address(tab, draft))
    added(people, draft, *(tool_file(f"{seed}.json", seed=seed) for seed in range(30)))
    assert cost(client, address(tab, draft)) == few


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param("1e999", id="beyond a double"),
        pytest.param("9" * 400, id="beyond a safe integer"),
        pytest.param("[" * 5000, id="nested too deep"),
        pytest.param('{"a": 1, "a": 2}', id="a key twice"),
    ],
)
@pytest.mark.parametrize("kind", ["number", "json", "instances", "rank_map"])
def test_a_value_that_no_document_holds_is_refused_in_words(
    typed: str, kind: str, draft: Draft, people: Cast, visit: Visit
) -> None:
    draft.refresh_from_db()
    answers: dict[str, Any] = {"act": "answers", "f0": "/identities/*/topology", "k0": kind, "v0": typed}
    refused = act(visit(people.alice), draft, "builder-questions", **answers)
    assert (refused.status_code, b"nothing was changed" in refused.content) == (422, True)
    assert Draft.objects.get().version == draft.version


@pytest.mark.parametrize("chosen", ["[1]", "[" * 5000, '[["/provenance/method"]]', "[}"])
def test_a_confirmation_of_no_pointers_is_refused_in_words(
    chosen: str, draft: Draft, people: Cast, visit: Visit
) -> None:
    refused = act(visit(people.alice), draft, "builder-questions", act="confirm", field=chosen)
    assert (refused.status_code, b"field: expected" in refused.content) == (422, True)
