"""Hosts of a fleet that report over the API."""

import json

import pytest

from tests.api.asking import Caller
from tests.reviews.factories import Cast
from tests.reviews.hosts import SLOT, post, report, running, stamp

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def test_the_answer_lists_the_hosts_that_were_sent_and_speaks_of_all(people: Cast, alice: Caller) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    raw = json.dumps(report("node-b", collected_at=stamp(9))).encode()
    found = alice.post("identity-reports", {"slot": SLOT, "identity": raw}).json()
    assert (found["matches"], [host["place"] for host in found["hosts"]]) == (True, ["node-b"])
    every = alice.get("identity-reports", {"slot": SLOT}).json()
    assert [host["place"] for host in every["hosts"]] == ["node-a", "node-b"]
