"""The launch configuration by the API: for pipelines with a token that reads; nothing but what is in force."""

import json

import pytest

from planner.launch.written import launch_tree
from reviews.models import AuditEntry, Decision
from reviews.selectors.launch import launch_view
from tests.api.asking import Caller, problem
from tests.plugins.append_only import lifted
from tests.queries import cost
from tests.reviews.factories import Cast
from tests.reviews.launched import launchable, launched

pytestmark = pytest.mark.both_databases

ADDRESS = "decisions/1/launch"


def test_a_token_that_reads_gets_the_launch_with_its_label(bob: Caller, people: Cast) -> None:
    revision = launched(people)
    answer = bob.get(ADDRESS)
    made = launch_view(actor=people.bob, workspace=people.workspace, number=1).made
    assert made is not None
    assert answer.json() == json.loads(json.dumps(launch_tree(made)))
    label = answer.json()["label"]
    assert (label["decision"], label["subject"]) == ("D-0001 r1", revision.planned.subject)
    assert answer.json()["faults"] == []


def test_files_come_as_they_are(bob: Caller, people: Cast) -> None:
    launched(people)
    files = {file["name"]: file["text"] for file in bob.get(f"{ADDRESS}?for=lws").json()["files"]}
    answer = bob.get(f"{ADDRESS}/files/lws.yaml?for=lws")
    assert {"lws.yaml": answer.content.decode()} == files
    assert answer.headers["Content-Type"] == "application/yaml; charset=utf-8"
    assert problem(bob.get(f"{ADDRESS}/files/launch.sh?for=lws"))["status"] == 404


@pytest.mark.parametrize("address", [ADDRESS, f"{ADDRESS}/files/launch.sh"])
def test_a_pipeline_asks_whether_what_it_has_is_right(address: str, bob: Caller, people: Cast) -> None:
    launched(people)
    version = bob.get(address).headers["ETag"]
    again = bob.get(address, headers={"If-None-Match": version})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", version)
    assert again.headers["Cache-Control"] == "private, no-cache"
    with lifted():
        Decision.objects.update(state="STALE")
    assert problem(bob.get(address, headers={"If-None-Match": version}))["status"] == 409


def test_nothing_is_handed_out_of_a_review(bob: Caller, people: Cast) -> None:
    launchable(people)
    refused = problem(bob.get(ADDRESS))
    assert refused["status"] == 409
    assert "D-0001 is in review since" in refused["detail"]


@pytest.mark.parametrize("query", ["for=docker", "for=vllm&for=lws", "target=vllm"])
def test_what_is_asked_for_wrongly_is_refused(query: str, bob: Caller, people: Cast) -> None:
    launched(people)
    assert problem(bob.get(f"{ADDRESS}?{query}"))["status"] == 422


def test_another_engine_is_refused_with_the_targets_there_are(bob: Caller, people: Cast) -> None:
    launched(people)
    (wrong,) = problem(bob.get(f"{ADDRESS}?for=trtllm"))["problems"]
    assert (wrong["code"], wrong["pointer"], wrong["expected"]) == ("request/launch", "for", "vllm, lws")
    assert "was measured with vLLM" in wrong["found"]


def test_asking_is_no_act(bob: Caller, people: Cast) -> None:
    launched(people)
    bob.get("decisions")  # notes the use of the token
    before = AuditEntry.objects.count()
    assert cost(bob, ADDRESS) <= 40
    assert AuditEntry.objects.count() == before
