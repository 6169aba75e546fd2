"""The OpenAPI document: valid, without warnings, the same as what is served."""

import re

import pytest
from django.core.management import call_command
from django.test import Client

from planner.schema import KINDS, document_schema
from reviews.api.urls import urlpatterns
from tests.api.asking import API
from tests.shared import ROOT


@pytest.fixture
def document(db: None) -> dict[str, object]:
    answer = Client().get(f"{API}/openapi.json")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    value: dict[str, object] = answer.json()
    return value


def test_the_document_is_valid_and_made_without_a_warning(tmp_path: object) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", f"{tmp_path}/openapi.yaml")


def test_every_address_but_the_pages_is_described(document: dict[str, dict[str, object]]) -> None:
    hidden = {"api-docs", "api-absent"}
    assert len(document["paths"]) == len({pattern.name for pattern in urlpatterns} - hidden)


def test_every_refusal_is_problem_details(document: dict[str, dict[str, dict[str, dict[str, object]]]]) -> None:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():  # type: ignore[attr-defined] # JSON
                if int(status) >= 400:
                    assert (path, method, list(answer["content"])) == (path, method, ["application/problem+json"])


def test_exactly_the_codes_of_a_request_are_documented() -> None:
    sources = [
        *(ROOT / "reviews/api").rglob("*.py"),
        ROOT / "reviews/limits.py",
        ROOT / "reviews/selectors/launch.py",
        ROOT / "reviews/selectors/observed.py",
        ROOT / "reviews/selectors/slot_check.py",
        ROOT / "reviews/draft_changes.py",
        ROOT / "reviews/services/diagnoses.py",
        ROOT / "reviews/services/draft_files.py",
        ROOT / "reviews/services/comment_checks.py",
        ROOT / "reviews/services/cosignatures.py",
        ROOT / "reviews/services/submissions.py",
        ROOT / "reviews/services/host_places.py",
        ROOT / "reviews/services/identity_reports.py",
        ROOT / "reviews/policies/host_reports.py",
    ]
    raised = {code for path in sources for code in re.findall(r'"(request/[a-z_]+)"', path.read_text())}
    of_the_api, _, _ = (ROOT / "docs/reference/api.md").read_text().partition("\nForms of pages have these besides.")
    documented = set(re.findall(r"^\| `(request/[a-z_]+)`", of_the_api, re.MULTILINE))
    assert documented == raised


def test_every_address_is_documented(document: dict[str, dict[str, object]]) -> None:
    text = (ROOT / "docs/reference/api.md").read_text()
    ends = {path.replace("{workspace}", "W").rpartition("/")[2] for path in document["paths"]}
    assert [end for end in ends if not end.startswith("{") and end not in text] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_schemas_of_documents_are_served(kind: str, db: None) -> None:
    answer = Client().get(f"{API}/schemas/{kind}")
    assert answer.json() == document_schema(kind)  # type: ignore[arg-type] # one of its keys
    again = Client().get(f"{API}/schemas/{kind}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_pages_to_read_it_come_from_this_server(db: None) -> None:
    page = Client().get(f"{API}/docs")
    text = page.content.decode()
    policy = page.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "script-src 'self'", "style-src 'self'"} <= set(policy)
    assert "://" not in text.replace("http://www.w3.org/", "")
    script = Client().get(f"{API}/docs?script=")
    assert script.headers["Content-Type"] == "application/javascript"
    assert f'url: "{API}/openapi.json"' in script.content.decode()
