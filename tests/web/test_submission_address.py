"""What the address and the hidden fields of the submission page take."""

import pytest

from reviews.models import Decision
from tests.reviews.factories import Cast, documents
from tests.web.conftest import Visit

NEW = "/w/lab/decisions/new"


@pytest.mark.parametrize("number", ["99", "0", "-1", "abc", "", "1.0"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_revision_of_no_decision_is_not_a_new_one(
    number: str, method: str, decided: Decision, people: Cast, visit: Visit
) -> None:
    pair = documents()
    client, address = visit(people.alice), f"{NEW}?decision={number}"
    given = {"act": "submit", "title": "t", "contract": pair.contract.decode(), "evidence": pair.evidence.decode()}
    answer = client.get(address) if method == "get" else client.post(address, given)
    assert (answer.status_code, Decision.objects.count()) == (404, 1)


def test_a_stranger_does_not_learn_which_decisions_there_are(decided: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.charlie)
    pages = [client.get(f"{NEW}?decision={number}").content.decode() for number in ("1", "77")]
    assert [("no workspace lab that you belong to" in page, "D-00" in page) for page in pages] == [(True, False)] * 2


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"act": "delete"}, "Expected <b>check or submit</b>. Found delete."),
        ({"act": ""}, "Expected <b>check or submit</b>. Found nothing."),
        ({"reuse": "-1"}, "Expected <b>the number of a revision</b>. Found -1."),
        ({"once": "../x"}, "Expected <b>at most 64 letters, digits, hyphens and underscores</b>. Found ../x."),
        ({"title": "a\0b"}, "Expected <b>text without NUL</b>. Found 3 characters, among them U+0000"),
        ({"contract": "\0"}, "Expected <b>text without NUL</b>. Found 1 character, among them U+0000"),
    ],
)
def test_what_a_field_takes_is_said(typed: dict[str, str], words: str, people: Cast, visit: Visit) -> None:
    answer = visit(people.alice).post(NEW, {"act": "submit", "title": "t", **typed})
    assert (answer.status_code, words in answer.content.decode()) == (422, True)
