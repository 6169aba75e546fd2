"""What pages and reads of the API cost in queries: the same for 13 decisions and 500, two sign-offs and 200."""

import pytest
from django.db import connection

from reviews.models import Decision, SignOff
from tests.api.asking import caller
from tests.queries import Asks, cost
from tests.reviews.factories import Cast, documents, planned, sign
from tests.reviews.many import decisions_copied, signed_again
from tests.reviews.rules.test_rule_14_threads import about, publish
from tests.web.conftest import Visit

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

HERE = "/w/lab/decisions/1/"
MOST = {"/w/lab/": 23, HERE: 38, f"{HERE}release/": 30, f"{HERE}threads/": 35, f"{HERE}compare/": 34}
"""Page -> queries: on each of them some twelve count the reader's turns where the process does not know them."""
OF_API = {"decisions?limit=100": 14, "decisions/1": 15, "decisions/1/proposals": 5, "policy": 9}
"""Read of the API -> queries; where the clock is the server's, one more asks it how old the token is."""


def costs(who: Asks, paths: dict[str, int]) -> dict[str, int]:
    return {path: cost(who, path) for path in paths}


def test_no_read_costs_more_queries_for_more_decisions_and_signoffs(people: Cast, visit: Visit) -> None:
    first = planned(people)
    sign(people, first)
    newest = planned(people, pair=documents(tokens=170_000), decision=first.decision)
    sign(people, newest)
    publish(people, about("trial", "t-1"))
    decisions_copied(newest, 12)  # more than a list shows: what all and what shown ones need is asked apart
    bob, api = visit(people.bob), caller(people, people.bob, "read")
    api.get("decisions")  # notes the use of the token
    before = costs(bob, MOST), costs(api, OF_API)
    decisions_copied(newest, 487)
    signed_again(SignOff.objects.latest("pk"), 198)
    assert (Decision.objects.count(), SignOff.objects.count()) == (500, 200)
    assert (costs(bob, MOST), costs(api, OF_API)) == before
    asks_clock = connection.vendor == "postgresql"
    assert before == (MOST, {path: count + asks_clock for path, count in OF_API.items()})


def test_what_a_process_knows_of_turns_is_forgotten_with_the_next_entry(people: Cast, visit: Visit) -> None:
    bob, policy = visit(people.bob), "/w/lab/settings/policy"
    turn = "count-turn"
    assert turn not in bob.get(policy).content.decode()
    planned(people)
    assert turn in bob.get(policy).content.decode()
    sign(people, Decision.objects.get().revisions.get())
    assert turn not in bob.get(policy).content.decode()
