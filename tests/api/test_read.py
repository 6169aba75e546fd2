"""Reading by the API: lists page by page, polling, bytes with validators, a fixed number of queries."""

import json

import pytest

from planner.canonical import file_sha256
from reviews.models import Decision, PlanJob, Revision
from reviews.selectors.documents import revision_bytes
from reviews.services.jobs import job_run
from tests.api.asking import Caller, problem
from tests.queries import cost
from tests.reviews.factories import Cast, documents, planned, sign, submitted

pytestmark = pytest.mark.both_databases


def test_a_list_is_read_page_by_page(bob: Caller, people: Cast) -> None:
    for at in range(5):
        submitted(people, pair=documents(slot=f"own/slot-{at}"))
    seen, address = [], "decisions?limit=2"
    while address:
        page = bob.get(address).json()
        seen.append([decision["number"] for decision in page["decisions"]])
        address = page["next"]
    assert seen == [[5, 4], [3, 2], [1]]


def test_filters_stay_in_the_address_of_the_next_page(bob: Caller, people: Cast) -> None:
    for at in (0, 1, 0, 0):
        submitted(people, pair=documents(slot=f"own/slot-{at}"))
    first = bob.get("decisions", {"slot": "own/slot-0", "limit": 2}).json()
    second = bob.get(first["next"]).json()
    assert [row["number"] for page in (first, second) for row in page["decisions"]] == [4, 3, 1]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        pytest.param({"state": "EVALUATING"}, [2], id="state"),
        pytest.param({"q": "slot-a"}, [1], id="text"),
        pytest.param({"state": "IN_REVIEW", "slot": "own/slot-b"}, [], id="both"),
    ],
)
def test_a_list_holds_what_is_asked_for(query: dict[str, str], numbers: list[int], bob: Caller, people: Cast) -> None:
    planned(people, pair=documents(slot="own/slot-a"))
    submitted(people, pair=documents(slot="own/slot-b"))
    assert [row["number"] for row in bob.get("decisions", query).json()["decisions"]] == numbers


def test_a_revision_is_polled_until_its_plan_is_there(bob: Caller, people: Cast) -> None:
    revision = submitted(people)
    waiting = bob.get("decisions/1/revisions/1")
    assert (waiting.json()["state"], waiting.headers["Retry-After"], "ETag" in waiting) == ("queued", "1", False)
    assert problem(bob.get("decisions/1/revisions/1/plan"))["detail"] == "D-0001 r1 has no plan yet."
    job_run(revision.job_id)
    ready = bob.get("decisions/1/revisions/1")
    value = ready.json()
    assert (value["state"], value["progress"]["candidates_done"], "Retry-After" in ready) == ("planned", 1, False)
    assert ready.headers["ETag"] == f'"{value["subject"]}"'
    assert value["plan"]["decision"] == "SELECT_TOPOLOGY"


def test_a_revision_that_failed_says_why(bob: Caller, people: Cast) -> None:
    submitted(people)
    PlanJob.objects.update(state="failed", error_code="evidence_unreadable", error_detail="Not the stored bytes.")
    value = bob.get("decisions/1/revisions/1").json()
    assert value["state"] == "failed"
    assert value["error"] == {"code": "evidence_unreadable", "detail": "Not the stored bytes."}


def test_a_plan_is_its_canonical_bytes(bob: Caller, people: Cast) -> None:
    revision = planned(people)
    stored = revision_bytes(actor=people.bob, workspace=people.workspace, revision_id=revision.pk)
    plan = bob.get("decisions/1/revisions/1/plan")
    assert plan.content == stored.plan
    assert plan.headers["ETag"] == f'"{json.loads(plan.content)["plan_id"]}"'
    assert plan.headers["Content-Type"] == "application/json"
    assert plan.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert {"Authorization", "Cookie"} <= set(plan.headers["Vary"].split(", "))


@pytest.mark.parametrize("kind", ["contract", "evidence"])
def test_an_uploaded_file_is_saved_and_never_shown(kind: str, bob: Caller, people: Cast) -> None:
    planned(people)
    answer = bob.get(f"decisions/1/revisions/1/{kind}")
    assert answer.content == getattr(documents(), kind)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="D-0001-r1-{kind}.json"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["ETag"] == f'"{file_sha256(answer.content)}"'


@pytest.mark.parametrize("path", ["", "/plan", "/contract", "/evidence"])
def test_what_the_client_has_is_not_sent_again(path: str, bob: Caller, people: Cast) -> None:
    planned(people)
    address = f"decisions/1/revisions/1{path}"
    etag = bob.get(address).headers["ETag"]
    again = bob.get(address, headers={"If-None-Match": f'"other", W/{etag}'})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", etag)
    assert bob.get(address, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_decision_shows_who_signed_and_what_is_owed(bob: Caller, people: Cast) -> None:
    revision = planned(people)
    sign(people, revision)
    value = bob.get("decisions/1").json()
    assert [(row["team"], row["person"], row["status"]) for row in value["signoffs"]] == [("serving", "Bob", "CURRENT")]
    assert [(row["team"], row["status"]) for row in value["requirements"]] == [
        ("networking", "UNSATISFIED"),
        ("serving", "SATISFIED"),
    ]
    assert value["approval"] == {"approved": False, "because": "Waiting on networking."}
    assert value["signoffs"][0]["subject"] == value["newest"]["subject"] == revision.planned.subject


def test_the_log_is_read_newest_first_with_filters(bob: Caller, people: Cast) -> None:
    planned(people)
    page = bob.get("audit", {"action": "revision."}).json()
    assert [(row["action"], row["decision"], row["who"]) for row in page["audit"]] == [
        ("revision.planned", 1, "system"),
        ("revision.created", 1, "Alice"),
    ]
    whole = bob.get("audit").json()
    assert whole["entries"] == len(whole["audit"]) == whole["audit"][0]["seq"] + 1
    assert whole["audit"][0]["prev"] == whole["audit"][1]["sha256"]


def test_more_rows_cost_no_more_queries(bob: Caller, people: Cast) -> None:
    paths = ("decisions?limit=100", "decisions/1", "decisions/1/revisions?limit=100", "audit?limit=100")

    def costs() -> list[int]:
        return [cost(bob, path) for path in paths]

    sign(people, planned(people))
    bob.get("decisions")  # notes the use of the token
    one = costs()
    decision = Decision.objects.get(number=1)
    for at in range(29):
        submitted(people, pair=documents(slot=f"own/slot-{at}"))
        Decision.objects.filter(pk=decision.pk).update(state="IN_REVIEW")
        submitted(people, pair=documents(tokens=170000 + at), decision=decision)
    assert (Decision.objects.count(), Revision.objects.filter(decision=decision).count()) == (30, 30)
    assert costs() == one
    assert max(one) <= 16  # token and clock, who asks, decision, and ten of judging; the same for one row and for many
