"""Bad input: every answer is a refusal that says why, never an error of the server."""

from typing import Any

import pytest
from django.conf import settings

from reviews.models import Decision
from tests.api.asking import Caller, codes, problem
from tests.reviews.factories import Cast, documents

BOUNDARY = "own-boundary"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


def part(name: str, value: bytes, *, head: str = "") -> bytes:
    """One part with a file name."""
    return (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="f.json"\r\n{head}\r\n'.encode()
        + value
        + b"\r\n"
    )


def field(name: str, value: bytes = b"x") -> bytes:
    """One part without."""
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + value + b"\r\n"


def body(*pieces: bytes) -> bytes:
    pair = documents()
    both = part("contract", pair.contract) + part("evidence", pair.evidence) + field("title", b"t")
    return b"".join(pieces or (both,)) + f"--{BOUNDARY}--\r\n".encode()


HOSTILE: dict[str, tuple[bytes, str]] = {
    "NaN": (b'{"a": NaN}', "json/constant"),
    "infinity": (b'{"a": -Infinity}', "json/constant"),
    "a number beyond a double": (b'{"a": 1e999}', "json/overflow"),
    "a number of 5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", "json/number_length"),
    "an integer beyond 2^53": (b'{"a": 9007199254740993}', "json/integer_range"),
    "duplicate keys": (b'{"a": 1, "a": 2}', "json/duplicate_key"),
    "100,000 brackets": (b"[" * 100_000, "json/depth"),
    "100,000 objects": (b'{"":' * 100_000, "json/depth"),
    "half a surrogate pair": (b'{"a": "\\ud800"}', "json/lone_surrogate"),
    "a byte-order mark": (b"\xef\xbb\xbf{}", "json/byte_order_mark"),
    "UTF-16": ("{}".encode("utf-16-le"), "json/syntax"),
    "no UTF-8": (b'{"a": "\xff"}', "json/encoding"),
    "gzip": (b"\x1f\x8b\x08\x00" + b"\x00" * 20, "json/encoding"),
    "two documents": (b"{} {}", "json/trailing_data"),
    "an empty file": (b"", "json/syntax"),
    "an array": (b"[]", "document/schema"),
    "a string": (b'"topogate.evidence/v1"', "document/schema"),
    "another kind": (b'{"schema": "topogate.plan/v1"}', "document/schema"),
}


@pytest.mark.parametrize("document", ["contract", "evidence"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_refused_by_its_name(name: str, document: str, alice: Caller, people: Cast) -> None:
    raw, code = HOSTILE[name]
    refused = alice.submit(**{document: raw})
    assert refused.status_code == 422
    assert (document, code) in [(where, what) for where, what, _ in codes(refused)]
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("sent", "content_type", "status"),
    [
        pytest.param(b"{}", "application/json", 415, id="JSON"),
        pytest.param(b"[" * 100_000, "application/json", 415, id="brackets as JSON"),
        pytest.param(b"a=b", "application/x-www-form-urlencoded", 415, id="a plain form"),
        pytest.param(b"{}", "", 415, id="no content type"),
        pytest.param(b"{}", "multipart", 415, id="no content type at all"),
        pytest.param(body(), "multipart/mixed; boundary=own-boundary", 415, id="another multipart"),
        pytest.param(body(), f"{MULTIPART}; charset=latin1", 415, id="latin1"),
        pytest.param(body(), f"{MULTIPART}; charset=bz2_codec", 415, id="a codec that is no charset"),
        pytest.param(body(), f"{MULTIPART}; charset=utf-7", 415, id="UTF-7"),
        pytest.param(body(), f"{MULTIPART}; charset={'x' * 5000}", 415, id="a long charset"),
        pytest.param(body(), "multipart/form-data", 400, id="no boundary"),
        pytest.param(body(), "multipart/form-data; boundary=\u00e9", 400, id="a boundary that is not ASCII"),
        pytest.param(b"", MULTIPART, 422, id="an empty body"),
        pytest.param(b"{}", MULTIPART, 422, id="no part"),
        pytest.param(body()[:200], MULTIPART, 422, id="a body that ends too soon"),
        pytest.param(body(), f"{MULTIPART}; charset=UTF-8", 201, id="UTF-8"),
    ],
)
def test_the_outer_form_is_judged_first(
    sent: bytes, content_type: str, status: int, alice: Caller, people: Cast
) -> None:
    answer = alice.raw("decisions", sent, content_type)
    assert answer.status_code == status
    assert status == 201 or problem(answer)["status"] == status


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        pytest.param([field(f"f{at}") for at in range(3_000)], 413, id="3,000 fields"),
        pytest.param([part(f"f{at}", b"{}") for at in range(1_000)], 413, id="1,000 files"),
        pytest.param([field("title", b"t" * 9 * 2**20)], 413, id="a title of 9 MiB"),
        pytest.param([field("title", b"t" * 300_000)], 422, id="a title of 300,000 characters"),
        pytest.param([field("title", b"\xff\xfe")], 422, id="a title that is no UTF-8"),
        pytest.param([field("title", b"a\x00b")], 422, id="NUL in a title"),
        pytest.param(
            [part("more", b"!!!a", head="Content-Transfer-Encoding: base64\r\n")], 400, id="base64 that is none"
        ),
        pytest.param([field("x" * 100_000)], 400, id="a long name"),
        pytest.param([field("a\"; filename*=nosuch''x; y=\"")], 422, id="a file name in no charset"),
        pytest.param([field("__proto__")], 422, id="a name that scripts trip over"),
    ],
)
def test_parts_beyond_reason_are_refused(pieces: list[bytes], status: int, alice: Caller, people: Cast) -> None:
    pair = documents()
    sent = body(part("contract", pair.contract), part("evidence", pair.evidence), *pieces)
    refused = alice.raw("decisions", sent, MULTIPART)
    assert problem(refused)["status"] == status
    assert not Decision.objects.exists()


def test_a_body_that_claims_to_be_too_long_is_refused_unread(alice: Caller, people: Cast) -> None:
    refused = alice.raw("decisions", b"", MULTIPART, length=settings.MAX_BODY_BYTES + 1)
    assert problem(refused) == {
        "type": "urn:topogate:problem:too_large",
        "title": "The request is too large",
        "status": 413,
        "detail": "body: expected at most 269,484,032 bytes, found 269,484,033 bytes. Nothing was stored.",
        "instance": "/api/v1/workspaces/lab/decisions",
        "problems": [
            {
                "document": "request",
                "code": "request/body_size",
                "pointer": "body",
                "expected": "at most 269,484,032 bytes",
                "found": "269,484,033 bytes",
            }
        ],
    }


@pytest.mark.parametrize(
    ("made", "sent", "detail"),
    [
        (part, 201, "files: expected at most 200 files, found more. Nothing was stored."),
        (field, 2_001, "fields: expected at most 2,000 fields, found more. Nothing was stored."),
    ],
)
def test_too_many_parts_are_named(made: Any, sent: int, detail: str, alice: Caller, people: Cast) -> None:
    refused = alice.raw("decisions", body(*(made(f"f{at}", b"{}") for at in range(sent))), MULTIPART)
    assert (problem(refused)["status"], problem(refused)["detail"]) == (413, detail)


def test_a_file_over_the_limit_is_refused_as_too_large(alice: Caller, people: Cast) -> None:
    refused = alice.submit(evidence=b" " * (64 * 2**20 + 1))
    assert (refused.status_code, codes(refused)) == (413, [("evidence", "json/size", "")])


def test_a_file_name_is_nothing_to_the_server(alice: Caller, people: Cast) -> None:
    pair = documents()
    for name in ("../../etc/passwd", "a\\\\b", "x" * 300, "\u202egnp.json"):
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="contract"; filename="{name}"\r\n\r\n'.encode()
        sent = body(head + pair.contract + b"\r\n", part("evidence", pair.evidence))
        answer = alice.raw("validate", sent, MULTIPART)
        assert answer.json() == {"ok": True, "problems": []}


QUERIES: list[tuple[str, dict[str, Any], str]] = [
    ("decisions", {"state": "approved"}, "state"),
    ("decisions", {"before": "-1"}, "before"),
    ("decisions", {"before": "9" * 5000}, "before"),
    ("decisions", {"before": "\u0661"}, "before"),
    ("decisions", {"limit": "0"}, "limit"),
    ("decisions", {"limit": "101"}, "limit"),
    ("decisions", {"slot": "a\0b"}, "slot"),
    ("decisions", {"q": "a\0b"}, "q"),
    ("decisions", {"opened_by__password__startswith": "p"}, "opened_by__password__startswith"),
    ("decisions", {"state": ["DRAFT", "STALE"]}, "state"),
    ("audit", {"digest": "sha256:ABC"}, "digest"),
    ("audit", {"decision": "D-0001"}, "decision"),
    ("audit", {"team": "a\0"}, "team"),
]


@pytest.mark.parametrize(("path", "query", "name"), QUERIES, ids=[f"{path} {query}"[:60] for path, query, _ in QUERIES])
def test_a_query_that_does_not_fit_is_named(
    path: str, query: dict[str, Any], name: str, alice: Caller, people: Cast
) -> None:
    refused = alice.get(f"/api/v1/workspaces/lab/{path}", query=query)
    assert (refused.status_code, codes(refused)) == (422, [("request", "request/query", name)])


@pytest.mark.parametrize(
    "path",
    [
        "decisions/0",
        "decisions/99999999999999999999",
        "decisions/" + "9" * 5000,
        "decisions/-1",
        "decisions/1/revisions/99999999999999999999/plan",
        "decisions/%00",
        "decisions/1/",
        "decisions/..%2f..",
    ],
)
def test_an_address_of_nothing_is_not_found(path: str, alice: Caller, people: Cast) -> None:
    assert problem(alice.get(path))["status"] == 404
