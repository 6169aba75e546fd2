"""Every address with a word in it, where no database holds the word or nobody sees it: no error of the server."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

from tests.reviews.drafts import begun
from tests.reviews.factories import Cast
from tests.web.test_every_write import NAMED, people  # noqa: F401 - a fixture
from tests.web.writes import browser

pytestmark = pytest.mark.django_db

WORDS: dict[str, Any] = {
    **NAMED,
    "workspace": "lab",
    "origin": "lab",
    "sha256": "sha256:" + "00" * 32,
    "table": "steps",
}


def patterns(known: list[URLPattern | URLResolver]) -> Iterator[URLPattern]:
    for pattern in known:
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern.url_patterns)
        else:
            yield pattern


def addresses(evil: str, draft: int) -> set[str]:
    """Every address with one of its words replaced, of those that take such a word."""
    found = set()
    for pattern in patterns(get_resolver().url_patterns):
        names = dict.fromkeys([*pattern.pattern.converters, *pattern.pattern.regex.groupindex])
        for name in names:
            words = {other: evil if other == name else WORDS.get(other, 1) for other in names}
            if "evidence-draft" in str(pattern.name):
                words["number"] = draft
            try:
                found.add(reverse(str(pattern.name), kwargs=words))
            except NoReverseMatch:
                continue
    return found


@pytest.mark.parametrize("evil", ["a\0b", "\u202ea", "x" * 3000], ids=["NUL", "turned around", "long"])
def test_no_word_of_an_address_is_an_error_of_the_server(evil: str, people: Cast) -> None:  # noqa: F811 - the fixture
    alice = browser("alice")
    alice.raise_request_exception = False
    asked = addresses(evil, begun(people).pk)
    assert len(asked) >= 9
    failed = {}
    for address in sorted(asked):
        for ask in (alice.get, alice.post, alice.delete):
            with transaction.atomic():
                answer = ask(address)
                transaction.set_rollback(True)
            if answer.status_code >= 500:
                failed[address] = str(getattr(answer, "exc_info", None))
    assert failed == {}
