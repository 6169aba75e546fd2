"""What the README lets a newcomer do to the example: after one changed count one team signs again, the other not."""

import re

import pytest

from reviews.selectors.decision_page import decision_page
from tests.reviews.factories import Cast, Pair, example_pair, planned, sign
from tests.shared import ROOT

pytestmark = pytest.mark.django_db


def test_the_changed_count_of_the_readme_makes_serving_sign_again_and_carries_networking(people: Cast) -> None:
    found = re.search(r"sed 's/(\d+)/(\d+)/' examples/blast-radius/evidence\.json", (ROOT / "README.md").read_text())
    assert found
    before, after = (text.encode() for text in found.groups())
    example = example_pair("blast-radius")
    assert example.evidence.count(before) == 1
    first = planned(people, pair=example)
    sign(people, first)
    sign(people, first, people.carol, team="networking")
    second = Pair(example.contract, example.evidence.replace(before, after))
    planned(people, pair=second, decision=first.decision)
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    assert {row.team: row.status for row in page.signoffs} == {"serving": "STALE", "networking": "CARRIED"}
