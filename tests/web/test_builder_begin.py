"""Where drafts begin: contracts by name, and who may begin none."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from planner.contract_builder.draft import continued
from planner.intake import read_contract
from reviews.models import AuditEntry, Draft
from reviews.selectors.evidence_drafts import evidence_draft
from reviews.services.contract_drafts import contract_draft_create
from tests.reviews.drafts import added, begun, tool_file
from tests.reviews.factories import Cast, documents
from tests.web.conftest import Visit

pytestmark = pytest.mark.django_db


def test_a_draft_of_a_contract_is_chosen_by_its_name(people: Cast, visit: Visit) -> None:
    written = contract_draft_create(
        actor=people.alice, workspace=people.workspace, draft=continued(documents().contract)
    )
    client, where = visit(people.alice), reverse("builder-list", args=["lab"])
    value = f"draft-{written.pk}"
    assert f'<option value="{value}">own/one-device · {written.name}, changed ' in client.get(where).content.decode()
    handed = client.get(where, {"contract_draft": written.pk}).content.decode()
    assert (f'<option value="{value}" selected>' in handed, "topogate.contract/v1&quot;," in handed) == (True, False)
    client.post(where, {"contract_sha256": value, "name": "May"})
    made = Draft.objects.get(kind="evidence")
    assert (
        evidence_draft(actor=people.alice, workspace=people.workspace, draft_id=made.pk).work.contract.content_id
        == read_contract(documents().contract).content_id
    )


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param("builder-list", {"contract": "no contract"}, id="evidence"),
        pytest.param("contract-builder", {"act": "upload", "document_text": "no contract"}, id="contract"),
    ],
)
def test_who_may_not_submit_is_told_so_before_what_they_sent_is_judged(
    name: str, form: dict[str, str], people: Cast, visit: Visit
) -> None:
    refused = visit(people.audrey).post(reverse(name, args=["lab"]), form)
    assert refused.status_code == 403
    assert "Submitting needs the role author." in refused.content.decode()
    assert AuditEntry.objects.latest("seq").action == "draft.refused"


def test_too_many_files_at_once_are_answered_for_what_they_are(people: Cast, visit: Visit, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 1
    files = [SimpleUploadedFile(f"{number}.json", b"{}") for number in range(2)]
    answer = visit(people.alice).post(reverse("builder-list", args=["lab"]), {"files": files})
    page = answer.content.decode()
    assert (answer.status_code, "Send the rest with a further request" in page) == (413, True)
    assert "two documents" not in page


def test_the_contracts_spelling_is_taken_on_the_page_of_coverage(people: Cast, visit: Visit) -> None:
    draft = begun(people)
    added(people, draft, tool_file(model_id="own--dense-8b", tensor_parallel_size=1))
    client, where = visit(people.alice), reverse("builder-coverage", args=["lab", draft.pk])
    button = "Take the contract’s spelling"
    page = client.get(where).content.decode()
    field = page.split('name="at" value="')[1].split('"')[0]
    assert (button in page, field.endswith("/model/name")) == (True, True)
    version = Draft.objects.get(pk=draft.pk).version
    said = {"at": field, "run": "own", "value": '"own/dense-8b"', "because": "The same model, in a folder."}
    assert client.post(where, {"act": "settle", "version": version, **said}).status_code == 302
    assert button not in client.get(where).content.decode()
