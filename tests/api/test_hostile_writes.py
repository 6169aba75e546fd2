"""Every write of the API with one part made worse at a time: refused by name, and never an error of the server."""

import json
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from reviews.api.throttles import CallerThrottle
from tests.api.asking import problem
from tests.api.test_every_write import ROWS
from tests.reviews.factories import Cast, planned
from tests.reviews.rules.board import board

pytestmark = pytest.mark.django_db

WRITES = [key for key in ROWS if key[1] == "post"]
TEXTS = ["", "a\0b", "\u202eno", "9" * 5000, "9999-12-31T23:59:59-23:59"]
FILES = [b"", b"[" * 100_000, b'{"a": 1, "a": 2}', b'{"a": "\\ud800"}', b'{"a": 1e999}', b"\xff", b"[1]", b"null"]
LEAVES: list[Any] = [None, True, -1, 2**53 - 1, "", "a\0b", "\u202e", "x" * 100_000, [], {"a": 1}, [[]]]
Parts = dict[str, Any]


@pytest.fixture
def people(db: None, monkeypatch: pytest.MonkeyPatch) -> Cast:
    """A board with one decision in review, where nobody asks too often."""
    rates = dict.fromkeys(("read", "submit", "observe", "report"), "100000/min")
    monkeypatch.setattr(CallerThrottle, "THROTTLE_RATES", rates)
    people = board()
    planned(people)
    return people


def file_of(raw: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("\u202eb.json", raw)


def recorded(people: Cast, key: tuple[str, str]) -> tuple[Client, str, Parts, Any]:
    """Prepare a row, and return what it would send instead of sending it; files as their bytes."""
    ask = ROWS[key][0](people)
    with patch.object(Client, "post", autospec=True) as post:
        ask()
    [client, path, *rest], named = post.call_args
    sent = rest[0] if rest else named.get("data") or {}
    first = {name: value[0] if isinstance(value, list) else value for name, value in sent.items()}
    parts = {name: value.read() if hasattr(value, "read") else value for name, value in first.items()}
    return client, path, parts, named.get("headers")


def places(tree: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of a JSON document, of each list the first."""
    rows = tree.items() if isinstance(tree, dict) else enumerate(tree[:1]) if isinstance(tree, list) else ()
    for name, value in rows:
        yield (*way, name)
        yield from places(value, (*way, name))


def replaced(tree: Any, way: tuple[Any, ...], value: Any) -> bytes:
    copy = json.loads(json.dumps(tree))
    holder = copy
    for name in way[:-1]:
        holder = holder[name]
    holder[way[-1]] = value
    return json.dumps(copy).encode()


def worse(parts: Parts) -> Iterator[Parts]:
    """The same request with one part left out, of another kind, or with one value inside it changed."""
    for name, value in parts.items():
        yield {other: kept for other, kept in parts.items() if other != name}
        yield from ({**parts, name: text} for text in TEXTS)
        yield from ({**parts, name: raw} for raw in FILES)
        if isinstance(value, bytes) and value.startswith(b"{"):
            # Documents have tests of their own; of them as of the bodies of acts, the first values.
            tree = json.loads(value)
            ways = list(places(tree))[:4]
            yield from ({**parts, name: replaced(tree, way, leaf)} for way in ways for leaf in LEAVES)


@pytest.mark.parametrize("key", WRITES, ids=[name for name, _ in WRITES])
def test_a_worse_request_is_refused_by_name(key: tuple[str, str], people: Cast) -> None:
    client, path, parts, headers = recorded(people, key)
    client.raise_request_exception = False
    for sent in [*worse(parts), {**parts, "__proto__": "x"}]:
        with transaction.atomic():
            body = {name: file_of(value) if isinstance(value, bytes) else value for name, value in sent.items()}
            answer = client.post(path, body, headers=headers)
            transaction.set_rollback(True)
        shown = {name: value[:80] for name, value in sent.items()}
        assert answer.status_code < 500, (shown, getattr(answer, "exc_info", None))
        if answer.status_code == 422:
            found = problem(answer)["problems"]
            assert found, shown
            assert all(one["expected"] and one["found"] for one in found), (shown, found)
