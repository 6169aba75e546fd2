"""Every page: who may see it, with which method, under which policy header."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config.settings import CONTENT_SECURITY_POLICY
from reviews.models import Decision
from reviews.web.urls import urlpatterns
from tests.reviews.factories import Cast
from tests.web.conftest import Visit

DIGEST = "sha256:" + "00" * 32
PAGES: dict[str, list[Any]] = {
    "home": [],
    "decision-list": ["lab"],
    "slot-list": ["lab"],
    "slots-download": ["lab", "csv"],
    "slot-detail": ["lab"],
    "decision-new": ["lab"],
    "decision-detail": ["lab", 1],
    "decision-map": ["lab", 1],
    "decision-stress": ["lab", 1],
    "decision-benchmark": ["lab", 1],
    "decision-slowest": ["lab", 1],
    "decision-observations": ["lab", 1],
    "observations-download": ["lab", 1, "csv"],
    "benchmark-download": ["lab", 1, "sh"],
    "decision-record": ["lab", 1],
    "decision-launch": ["lab", 1],
    "decision-requalification": ["lab", 1],
    "requalification-download": ["lab", 1, "md"],
    "launch-archive": ["lab", 1],
    "launch-file": ["lab", 1, "launch.sh"],
    "decision-what-if": ["lab", 1],
    "decision-identity": ["lab", 1],
    "identity-download": ["lab", 1, "csv"],
    "identity-report": ["lab", 1, DIGEST],
    "decision-history": ["lab", 1],
    "decision-threads": ["lab", 1],
    "audit-list": ["lab"],
    "audit-entry": ["lab", 0],
    "audit-entry-raw": ["lab", 0],
    "checkpoint-list": ["lab"],
    "verification-list": ["lab"],
    "export-list": ["lab"],
    "checkpoint-download": ["lab", "csv"],
    "plan-json": ["lab", 1],
    "matrix-csv": ["lab", 1],
    "ranks-download": ["lab", 1, "csv"],
    "groups-download": ["lab", 1, "json"],
    "map-notes": ["lab", 1],
    "map-compare": ["lab", 1],
    "decision-compare": ["lab", 1],
    "comparison-download": ["lab", 1, "values", "csv"],
    "moved-download": ["lab", 1],
    "decision-memory": ["lab", 1],
    "decision-release": ["lab", 1],
    "memory-download": ["lab", 1, "csv"],
    "decision-communication": ["lab", 1],
    "communication-download": ["lab", 1, "steps", "csv"],
    "audit-download": ["lab", "json"],
    "document": ["lab", 1, "evidence"],
    "digest-detail": ["lab", DIGEST],
    "digest-raw": ["lab", DIGEST],
    "token-list": ["lab"],
    "saved-view-list": ["lab"],
    "notification-list": ["lab"],
    "webhook-list": ["lab"],
    "policy-detail": ["lab"],
    "delegation-list": ["lab"],
    "builder-list": ["lab"],
    "contract-builder": ["lab"],
    "evidence-detail": ["lab", DIGEST],
    "attachment": ["lab", DIGEST],
    "attachment-raw": ["lab", DIGEST],
    "audit-entry-proof": ["lab", 0],
    "checkpoint-detail": ["lab", 1],
    "checkpoint-note": ["lab", 1],
    "signoff-entry": ["lab", 1],
    "verification-detail": ["lab", 1],
    "export-download": ["lab", 1],
}
OF_A_DIGEST = ("digest", "evidence-detail", "attachment", "identity-report")
"""Pages of something that the smallest decision does not have."""
UNSIGNED = (
    *("audit-entry-proof", "checkpoint-detail", "checkpoint-note", "signoff-entry"),
    *("verification-detail", "export-download"),
)
"""Pages of signatures and of what is made of a log, which the smallest decision and its log do not have."""
NOT_IN_FORCE = ("launch-archive", "launch-file")
"""Files of what is in force, which a decision under review is not."""
UNMEASURED = ("memory-download", "communication-download", "observations-download")
"""Files of what the evidence of the smallest decision does not hold."""
ABSENT = (*UNMEASURED, *UNSIGNED, *NOT_IN_FORCE)
POSTS: dict[str, list[Any]] = {
    "saved-view-rename": ["lab", 1],
    "webhook-remove": ["lab", 1],
    "saved-view-delete": ["lab", 1],
    "builder-make": ["lab", 1],
    "builder-delete": ["lab", 1],
    "decision-sign": ["lab", 1],
    "identity-draft": ["lab", 1],
    "item-open": ["lab", 1],
    "threads-publish": ["lab", 1],
    "token-revoke": ["lab", 1],
    "theme": [],
    "logout": [],
}
OF_ONE_PERSON: dict[str, list[Any]] = {
    "signoff-withdraw": ["lab", 1, 1],
    "point-settle": ["lab", 1, 1],
    "diagnosis-detail": ["lab", 1, 1],
    "diagnosis-download": ["lab", 1, "1", "csv"],
    "diagnosis-file": ["lab", 1, 1, 1],
    "thread-new": ["lab", 1],
    "thread-detail": ["lab", 1, 1],
    "comment-draft": ["lab", 1, 1],
    "contract-draft": ["lab", 1, "model"],
    "contract-draft-json": ["lab", 1],
    "draft-benchmark": ["lab", 1],
    "draft-benchmark-download": ["lab", 1, "json"],
    "builder-files": ["lab", 1],
    "builder-trials": ["lab", 1],
    "builder-questions": ["lab", 1],
    "builder-coverage": ["lab", 1],
    "builder-values": ["lab", 1, "0" * 16],
}
OPEN = {"logout", "theme"}
OF_A_QUERY = {"slot-detail": "?slot=own/one-device"}
"""Pages of something that the query names."""


def address(name: str) -> str:
    """Return the address of a page, or of what takes a form."""
    return reverse(name, args=(PAGES | POSTS | OF_ONE_PERSON)[name]) + OF_A_QUERY.get(name, "")


def test_every_address_is_in_a_table_of_this_file() -> None:
    assert {pattern.name for pattern in urlpatterns} == PAGES.keys() | POSTS.keys() | OF_ONE_PERSON.keys() | OPEN


@pytest.mark.parametrize("name", PAGES | OF_ONE_PERSON)
def test_a_stranger_is_sent_to_the_login(name: str, decided: Decision, client: Client) -> None:
    answer = client.get(address(name))
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/login")


@pytest.mark.parametrize("name", [name for name in PAGES if name != "home"])
def test_somebody_outside_the_workspace_learns_nothing(
    name: str, decided: Decision, people: Cast, visit: Visit
) -> None:
    answer = visit(people.charlie).get(address(name))
    assert answer.status_code == 404
    assert b"One device" not in answer.content


@pytest.mark.parametrize("name", [name for name in PAGES if not name.startswith((*OF_A_DIGEST, "home", *ABSENT))])
@pytest.mark.parametrize("who", ["alice", "bob", "audrey"])
def test_every_member_reads_every_page(name: str, who: str, decided: Decision, people: Cast, visit: Visit) -> None:
    assert visit(getattr(people, who)).get(address(name)).status_code == 200


@pytest.mark.parametrize("name", PAGES)
def test_no_cache_keeps_a_page(name: str, decided: Decision, people: Cast, visit: Visit) -> None:
    assert "no-store" in visit(people.alice).get(address(name))["Cache-Control"]


TAKING_FORMS = (
    *(
        "builder-list",
        "contract-builder",
        "decision-new",
        "decision-release",
        "decision-slowest",
        "decision-observations",
        "decision-requalification",
    ),
    *(
        "verification-list",
        "export-list",
        "delegation-list",
        "policy-detail",
        "saved-view-list",
        "token-list",
        "notification-list",
        "webhook-list",
    ),
)


@pytest.mark.parametrize("name", [name for name in PAGES if name not in TAKING_FORMS])
def test_pages_are_only_read(name: str, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).post(address(name)).status_code == 405


@pytest.mark.parametrize("name", POSTS)
def test_acts_need_a_form(name: str, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).get(address(name)).status_code == 405


@pytest.mark.parametrize(
    "name",
    [
        "decision-sign",
        "decision-new",
        "decision-slowest",
        "decision-observations",
        "decision-requalification",
        "token-list",
        "token-revoke",
        "saved-view-list",
        "notification-list",
        "webhook-list",
        "webhook-remove",
        "saved-view-rename",
        "saved-view-delete",
        "theme",
        "signoff-withdraw",
        "item-open",
        "point-settle",
        "threads-publish",
        "thread-new",
        "thread-detail",
        "comment-draft",
    ],
)
def test_a_form_without_its_token_is_refused(name: str, people: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.alice, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.post(address(name), {})
    assert (answer.status_code, "The form is too old" in answer.content.decode()) == (403, True)


@pytest.mark.parametrize(
    "name", [name for name in PAGES if not name.endswith(("json", "csv", "download", "raw", "notes"))]
)
def test_every_page_carries_the_policy(name: str, decided: Decision, people: Cast, visit: Visit) -> None:
    policy = visit(people.bob).get(address(name))["Content-Security-Policy"]
    found = {part.split()[0]: part.split()[1:] for part in policy.split(";") if part.strip()}
    assert found["default-src"] == ["'none'"]
    assert (found["script-src"], found["style-src"]) == (["'self'"], ["'self'"])
    assert found.keys() == CONTENT_SECURITY_POLICY["DIRECTIVES"].keys()


@pytest.mark.parametrize(
    ("path", "status", "heading"),
    [
        pytest.param("/w/lab/slots/one?slot=own/nothing", 404, "There is no such page", id="no such slot"),
        pytest.param("/w/lab/slots/one", 404, "There is no such page", id="no slot named"),
        pytest.param("/w/lab/slots/one?slot=%00%ff", 404, "There is no such page", id="no name of a slot"),
        pytest.param("/w/lab/decisions/77/", 404, "There is no such page", id="no such decision"),
        pytest.param("/w/lab/decisions/1/?revision=9", 404, "There is no such page", id="no such revision"),
        pytest.param("/w/lab/decisions/1/map/?trial=nope", 404, "There is no such page", id="no such trial"),
        pytest.param("/w/elsewhere/", 404, "There is no such page", id="no such workspace"),
        pytest.param("/w/lab/audit/999/", 404, "There is no such page", id="no such entry"),
        pytest.param(f"/w/lab/digests/{DIGEST}/", 404, "There is no such page", id="no such digest"),
        pytest.param("/nothing/here", 404, "There is no such page", id="no such address"),
    ],
)
def test_what_is_not_there_is_said(
    path: str, status: int, heading: str, decided: Decision, people: Cast, visit: Visit
) -> None:
    answer = visit(people.bob).get(path)
    assert (answer.status_code, f"<h1>{heading}</h1>" in answer.content.decode()) == (status, True)


@pytest.mark.parametrize(
    "query", ["revision=x", "page=-1", "cell=%00", "rows=%3Cb%3E", "cell=t~g", "passing=%F0%9F%98%80"]
)
def test_nonsense_in_an_address_is_ignored(query: str, decided: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).get(f"/w/lab/decisions/1/?{query}").status_code == 200


@pytest.mark.parametrize("query", ["rank=99", "rank=x", "colour=zz", "lost=planet:x", "metric=nope", "lost=%00"])
def test_nonsense_in_the_address_of_a_map_is_ignored(query: str, decided: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).get(f"/w/lab/decisions/1/map/?{query}").status_code == 200
