"""What pages of slots cost: as many queries for 2,000 slots as for three, and no more bytes than a page holds."""

import pytest

from reviews.models import Activation, Decision
from tests.queries import cost
from tests.reviews.factories import Cast
from tests.reviews.many import slots_copied
from tests.reviews.rules.test_rule_11_validity import live
from tests.reviews.slots import ending, in_force, report
from tests.web.conftest import Visit

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

SLOTS = "/w/lab/slots"
MOST = {f"{SLOTS}/": 15, f"{SLOTS}/?show=ends": 13, f"{SLOTS}/?show=shared": 16, f"{SLOTS}.csv": 10}
ONE = {f"{SLOTS}/one?slot=own/first": 30}
MOST_BYTES = 80_000


def test_no_page_costs_more_for_two_thousand_slots(people: Cast, visit: Visit) -> None:
    first = in_force(people, ending("own/first", 90))
    report(people, "own/first", live(first))
    activation = Activation.objects.select_related("revision__decision").get()
    slots_copied(activation, 2)
    bob = visit(people.bob)
    # What follows from bytes that never change is worked out once for each process.
    assert {bob.get(path).status_code for path in ONE} == {200}
    before = {path: cost(bob, path) for path in MOST | ONE}
    slots_copied(activation, 1997)
    assert Decision.objects.count() == 2000
    assert {path: cost(bob, path) for path in before} == before
    assert before == MOST | ONE
    assert "2,000" in bob.get(f"{SLOTS}/?show=ends").content.decode()
    sizes = {path: len(bob.get(path).content) for path in MOST if not path.endswith("csv")}
    assert {path: size for path, size in sizes.items() if size > MOST_BYTES} == {}
