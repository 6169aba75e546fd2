"""Checkpoints: the list with the keys, one of them with its note, and whether it continues the one before."""

from base64 import b64encode
from typing import Any

import pytest

from reviews.clock import utc_text
from reviews.models import Checkpoint, Cosignature
from reviews.services.checkpoints import checkpoint_sign
from reviews.transparency.checkpoints import checkpoint_opened
from reviews.transparency.keys import new_key, read_key
from reviews.transparency.notes import COSIGNATURE, Signer, Verifier
from tests.plugins.append_only import lifted
from tests.queries import cost
from tests.reviews.factories import Cast, planned
from tests.web.conftest import Visit

WITNESS = Signer("witness.example", read_key(new_key()), COSIGNATURE)
LIST = "/w/lab/audit/checkpoints/"


@pytest.fixture
def two(people: Cast, settings: Any) -> tuple[Checkpoint, Checkpoint]:
    """Two checkpoints; the second is signed by another key and cosigned."""
    settings.LOG_SIGNING_KEY = new_key()
    first = checkpoint_sign(people.workspace)
    planned(people)
    settings.LOG_SIGNING_KEY = new_key()
    second = checkpoint_sign(people.workspace)
    assert first is not None
    assert second is not None
    text = bytes(second.note).decode().partition("\n\n")[0] + "\n"
    line = WITNESS.line(text, time=1_796_000_000)
    Cosignature.objects.create(
        checkpoint=second, key=str(WITNESS.verifier), line=line, time=1_796_000_000, received_at=second.signed_at
    )
    return first, second


def test_the_list_says_what_was_signed_by_whom(two: tuple[Checkpoint, ...], people: Cast, visit: Visit) -> None:
    who = visit(people.audrey)
    page = who.get(LIST).content.decode()
    for made in two:
        assert f'href="{LIST}{made.size}/"' in page
        assert b64encode(bytes(made.root)).decode() in page
        assert Verifier.of(made.key).id.hex() in page
    assert ("witness.example" in page, page.count('aria-label="Public key"')) == (True, 2)
    rows = who.get("/w/lab/audit/checkpoints.json").json()
    assert [(row["size"], row["key"], row["cosigned_by"]) for row in rows] == [
        (two[1].size, two[1].key, str(WITNESS.verifier)),
        (two[0].size, two[0].key, ""),
    ]
    assert [row["signed_at"] for row in rows] == [utc_text(made.signed_at) for made in reversed(two)]
    assert who.get("/w/lab/audit/checkpoints.csv").content.startswith(b'"size","root","key","signed_at","cosigned_by"')


def test_the_note_is_whole_and_opens_with_both_keys(two: tuple[Checkpoint, ...], people: Cast, visit: Visit) -> None:
    note = visit(people.audrey).get(f"{LIST}{two[1].size}/note").content
    stated, opened = checkpoint_opened(note, Verifier.of(two[1].key), [WITNESS.verifier])
    assert (stated.size, [one.time for one in opened.signed]) == (two[1].size, [None, 1_796_000_000])


def test_a_checkpoint_is_shown_to_continue_the_one_before(
    two: tuple[Checkpoint, ...], people: Cast, visit: Visit
) -> None:
    page = visit(people.audrey).get(f"{LIST}{two[1].size}/").content.decode()
    assert ("Consistent</span>" in page, "Another key signed that one" in page) == (True, True)
    assert "Nothing: it is the first." in visit(people.audrey).get(f"{LIST}{two[0].size}/").content.decode()
    with lifted():
        Checkpoint.objects.filter(pk=two[0].pk).update(root=bytes(32))
    assert "Not consistent" in visit(people.audrey).get(f"{LIST}{two[1].size}/").content.decode()


def test_without_a_key_the_list_says_why_it_is_empty(people: Cast, visit: Visit) -> None:
    assert "No checkpoint was signed." in visit(people.audrey).get(LIST).content.decode()
    assert visit(people.audrey).get(f"{LIST}7/").status_code == 404


def test_the_list_takes_as_many_queries_however_long_it_is(
    two: tuple[Checkpoint, ...], people: Cast, visit: Visit
) -> None:
    who = visit(people.audrey)
    before = cost(who, LIST)
    planned(people)
    checkpoint_sign(people.workspace)
    assert cost(who, LIST) == before
