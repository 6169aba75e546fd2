"""What the inbox says of a contested decision: who objects in which words, or that its evidence was retracted."""

import pytest

from reviews.models import Person
from reviews.services.retractions import evidence_retract
from tests.reviews.factories import Cast, documents, sign
from tests.reviews.rules.board import TRACE, board
from tests.reviews.slots import in_force
from tests.stage import Maker
from tests.web.conftest import Visit

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


def stale_list(person: Person, visit: Visit) -> str:
    return visit(person).get("/w/lab/").content.decode().split('id="stale"')[1].split("</section>")[0]


@pytest.mark.parametrize("who", ["alice", "bob", "dave"])
def test_an_objection_is_quoted_to_everyone(who: str, people: Cast, visit: Visit) -> None:
    revision = in_force(people, documents(slot="own/contested"))
    sign(people, revision, people.dave, meaning="object", statement="The fans of node-b fail.")
    said = "Dave objected to r1 for serving. “The fans of node-b fail.” It is contested until that is lifted"
    assert said in stale_list(getattr(people, who), visit)


def test_where_evidence_was_retracted_no_objection_is_waited_for(people: Cast, visit: Visit) -> None:
    revision = in_force(people, documents(slot="own/contested"))
    content_id = revision.evidence.content_id
    evidence_retract(
        actor=people.bob, workspace=people.workspace, content_id=content_id, reason="Wrong clock.", trace=TRACE
    )
    shown = stale_list(people.bob, visit)
    assert ("Evidence that it counted was retracted." in shown, "lifted" in shown) == (True, False)
