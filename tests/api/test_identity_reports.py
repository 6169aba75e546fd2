"""Hosts of a fleet that report over the API."""

import json

import pytest

from reviews.api import identity
from tests.api.asking import Caller
from tests.reviews.factories import Cast, planned
from tests.reviews.hosts import RANKS, SLOT, post, report, running, stamp, two_nodes, with_engine

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def test_the_answer_lists_the_hosts_that_were_sent_and_speaks_of_all(people: Cast, alice: Caller) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    raw = json.dumps(report("node-b", collected_at=stamp(9))).encode()
    found = alice.post("identity-reports", {"slot": SLOT, "identity": raw}).json()
    assert (found["matches"], [host["place"] for host in found["hosts"]]) == (True, ["node-b"])
    every = alice.get("identity-reports", {"slot": SLOT}).json()
    assert [host["place"] for host in every["hosts"]] == ["node-a", "node-b"]


def test_what_several_hosts_say_of_a_key_is_one_difference_in_sentence_and_count(people: Cast) -> None:
    running(people)
    both = [with_engine(report(node), "2.0") for node in ("node-a", "node-b")]
    check = post(people, *both).check
    assert (len(check.differences), "more." in check.because) == (1, False)
    moved = {"world_size": 2, "ranks": [RANKS[0] | {"device": "a7"}]}
    check = post(people, both[0] | {"ranks_seen": moved, "collected_at": stamp(9)}).check
    assert (len(check.differences), check.because.endswith(" And 1 more.")) == (2, True)


@pytest.mark.parametrize("kind", ["of a host", "of the whole slot"])
def test_every_answer_says_the_state_that_the_decision_has_now(people: Cast, alice: Caller, kind: str) -> None:
    running(people)
    tree = with_engine(report("node-a"), "2.0")
    raw = json.dumps(tree if kind == "of a host" else {"identity": tree["identity"]}).encode()
    ended, again = (alice.post("identity-reports", {"slot": SLOT, "identity": raw}).json() for _ in range(2))
    read = alice.get("identity-reports", {"slot": SLOT}).json()
    for found in (ended, again, read):
        assert (found["decision"], found["revision"], found["state"]) == (1, 1, "STALE")
        assert (found["matches"], found["subject"]) == (False, ended["subject"])


def test_where_nothing_was_put_into_force_no_decision_is_named(people: Cast, alice: Caller) -> None:
    planned(people, pair=two_nodes())
    found = alice.get("identity-reports", {"slot": SLOT}).json()
    assert (found["decision"], found["state"], found["because"]) == (
        None,
        None,
        f"Nothing was put into force for {SLOT}.",
    )


def test_the_hosts_of_a_slot_come_in_pages_and_the_verdict_on_each(people: Cast, alice: Caller) -> None:
    running(people)
    post(people, report("node-a"), with_engine(report("node-b"), "2.0"), report("node-a", node="x-1"))
    pages = [alice.get("identity-reports", {"slot": SLOT, "limit": "2"}).json()]
    pages.append(alice.get(pages[0]["next"].partition("/workspaces/lab/")[2]).json())
    assert [[host["place"] for host in page["hosts"]] for page in pages] == [["node-a", "node-b"], ["x-1"]]
    assert [host["is_decided"] for page in pages for host in page["hosts"]] == [True, True, False]
    heads = [{name: value for name, value in page.items() if name not in ("hosts", "next")} for page in pages]
    assert heads[0] == heads[1]
    assert (heads[0]["hosts_in_all"], heads[0]["state"], heads[0]["differences_in_all"]) == (3, "STALE", 1)
    assert pages[1]["next"] is None


@pytest.mark.parametrize(
    ("query", "status"),
    [({"page": "2"}, 404), ({"page": "0"}, 422), ({"limit": "101"}, 422), ({"before": "1"}, 422)],
    ids=["beyond the last", "none", "too many", "another"],
)
def test_a_page_that_there_is_not_is_refused(people: Cast, alice: Caller, query: dict[str, str], status: int) -> None:
    running(people)
    assert alice.get("identity-reports", {"slot": SLOT, **query}).status_code == status


def test_an_answer_is_no_longer_however_much_differs(
    people: Cast, alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "NAMED", 1)
    running(people)
    moved = {"world_size": 4, "ranks": [RANKS[0] | {"device": "a7"}]}
    raw = json.dumps(with_engine(report("node-a", ranks_seen=moved), "2.0")).encode()
    found = alice.post("identity-reports", {"slot": SLOT, "identity": raw}).json()
    assert (len(found["differences"]), found["differences_in_all"]) == (1, 3)
    assert (found["awaited"]["nodes"], found["awaited"]["nodes_in_all"]) == (["node-b"], 1)
