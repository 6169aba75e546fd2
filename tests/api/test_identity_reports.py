"""Hosts of a fleet that report over the API."""

import json

import pytest

from tests.api.asking import Caller
from tests.reviews.factories import Cast, planned
from tests.reviews.hosts import SLOT, post, report, running, stamp, two_nodes, with_engine

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def test_the_answer_lists_the_hosts_that_were_sent_and_speaks_of_all(people: Cast, alice: Caller) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    raw = json.dumps(report("node-b", collected_at=stamp(9))).encode()
    found = alice.post("identity-reports", {"slot": SLOT, "identity": raw}).json()
    assert (found["matches"], [host["place"] for host in found["hosts"]]) == (True, ["node-b"])
    every = alice.get("identity-reports", {"slot": SLOT}).json()
    assert [host["place"] for host in every["hosts"]] == ["node-a", "node-b"]


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
