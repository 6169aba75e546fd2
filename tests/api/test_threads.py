"""Threads over the API: read with their places, published in one request, resolved where they do not block."""

import json
from typing import Any

from reviews.models import AuditEntry, Decision, Thread
from reviews.services.threads import comments_publish
from tests.api.asking import Caller, caller, problem
from tests.queries import cost
from tests.reviews.factories import Cast, planned
from tests.reviews.rules.test_rule_03_carry import pair
from tests.reviews.rules.test_rule_14_threads import GATE, about, at

PATH = "decisions/1/threads"


def sent(*comments: dict[str, Any]) -> dict[str, bytes]:
    return {"comments": json.dumps({"comments": comments}).encode()}


GATE_THREAD = {"text": "Which window, @bob-lab?", "kind": "gate", "name": GATE, "blocking": True}


def test_threads_and_replies_are_published_in_one_entry(people: Cast, alice: Caller) -> None:
    planned(people)
    alice.post(PATH, sent({"text": "Rerun?", "kind": "trial", "name": "t-1"}))
    before = AuditEntry.objects.count()
    answer = alice.post(PATH, sent(GATE_THREAD, {"text": "Please.", "thread": 1}))
    assert (answer.status_code, AuditEntry.objects.count() - before) == (201, 1)
    second, first = answer.json()["threads"]
    assert [comment["text"] for comment in first["comments"]] == ["Rerun?", "Please."]
    assert (second["team"], second["blocking"], second["place"]) == ("serving", True, "SAME")
    assert (second["comments"][0]["mentions"], second["opener"]) == (["Bob"], "Alice")


def test_comments_under_one_key_are_published_once(people: Cast, alice: Caller) -> None:
    planned(people)
    key = {"Idempotency-Key": "k1"}
    before = AuditEntry.objects.count()
    first, again = (alice.post(PATH, sent(GATE_THREAD), key) for _ in range(2))
    assert (first.status_code, again.status_code, AuditEntry.objects.count() - before) == (201, 201, 1)
    assert first.json() == again.json()
    other = problem(alice.post(PATH, sent(GATE_THREAD | {"text": "Which?"}), key))
    assert (other["status"], other["detail"]) == (
        409,
        "This idempotency key belongs to other comments. Send a new key with new content.",
    )
    assert problem(alice.post(PATH, sent(GATE_THREAD), {"Idempotency-Key": "k" * 129}))["status"] == 422


def test_a_thread_tells_what_its_item_was_and_is(people: Cast, bob: Caller) -> None:
    revision = planned(people, pair=pair(failure=True))
    comments = (about("contract", "/owner"), about("contract", "/gates/failure_domain/node_share"))
    comments_publish(**at(people, comments=comments))
    planned(people, pair=pair(note="another owner"), decision=revision.decision)
    found = bob.get(PATH).json()
    assert found["placed_on"] == 2
    gone, changed = found["threads"]
    assert (changed["place"], changed["before"], changed["after"]) == ("CHANGED", "serving", "another owner")
    assert (gone["place"], gone["after"], gone["revision"]) == ("GONE", None, 1)


def test_a_token_resolves_what_does_not_block_alone(people: Cast, alice: Caller) -> None:
    planned(people)
    alice.post(PATH, sent(GATE_THREAD, GATE_THREAD | {"blocking": False}))
    refused = problem(alice.post(f"{PATH}/1/resolution"))
    assert (refused["status"], refused["detail"]) == (
        403,
        "An API token resolves no blocking thread. Do it on the page.",
    )
    answer = alice.post(f"{PATH}/2/resolution", {"reason": "Answered."})
    (resolved,) = answer.json()["threads"]
    resolution = resolved["resolution"]
    assert (resolution["person"], resolution["reason"]) == ("Alice", "Answered.")


def test_all_problems_are_named_with_comment_and_field(people: Cast, alice: Caller) -> None:
    planned(people)
    refused = problem(alice.post(PATH, sent({"text": " ", "thread": 4}, {"text": "a", "kind": "gate", "name": "x"})))
    assert [(row["code"], row["pointer"]) for row in refused["problems"]] == [
        ("request/comment", "comments/0/text"),
        ("request/comment", "comments/0/thread"),
        ("request/comment", "comments/1/name"),
    ]
    assert Thread.objects.count() == 0


def test_comments_of_another_form_are_refused(people: Cast, alice: Caller) -> None:
    planned(people)
    for raw, pointer in (
        (b"[", "comments"),
        (b'{"comments": [{"text": 1}]}', "comments/0/text"),
        (b"\xff", "comments"),
    ):
        (row,) = problem(alice.post(PATH, {"comments": raw}))["problems"]
        assert (row["code"], row["pointer"]) == ("request/comment", pointer)
    (row,) = problem(alice.post(PATH, {"note": "a"}))["problems"][1:]
    assert (row["code"], row["pointer"]) == ("request/missing_part", "comments")


def test_an_auditor_with_an_old_token_does_not_comment(people: Cast) -> None:
    planned(people)
    audrey = caller(people, people.audrey, "read")
    assert (audrey.get(PATH).status_code, audrey.post(PATH, sent(GATE_THREAD)).status_code) == (200, 403)


def test_the_cost_of_a_read_does_not_grow_with_the_threads(people: Cast, bob: Caller) -> None:
    planned(people)
    comments_publish(**at(people, comments=(about(),)))
    bob.get(PATH)  # the first use of a token is noted
    before = cost(bob, PATH)
    comments_publish(**at(people, comments=[about()] * 199))
    assert cost(bob, f"{PATH}?limit=100") == before
    assert Decision.objects.get().threads.count() == 200


def test_threads_are_listed_in_pages_newest_first(people: Cast, bob: Caller) -> None:
    planned(people)
    comments_publish(**at(people, comments=[about()] * 27))
    first = bob.get(PATH).json()
    assert [row["number"] for row in first["threads"]] == list(range(27, 2, -1))
    rest = bob.get(first["next"]).json()
    assert ([row["number"] for row in rest["threads"]], rest["next"]) == ([2, 1], None)
    (row,) = problem(bob.get(f"{PATH}?limit=101"))["problems"]
    assert (row["code"], row["pointer"]) == ("request/query", "limit")
