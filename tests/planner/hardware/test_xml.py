"""XML from anyone: what is never read, and the limits."""

import pytest

from planner.hardware.lines import MAX_BYTES
from tests.planner.hardware.samples import findings, islands, read, sample

SWITCHED = sample("nccl_4gpu_switched.xml").decode()
ENTITIES = "".join(f'<!ENTITY e{n} "&e{n - 1};&e{n - 1};&e{n - 1};&e{n - 1};">' for n in range(1, 20))
FORBIDDEN = ("hardware/xml_forbidden", 1, "no document type", "one")


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param(
            f"<!DOCTYPE s [<!ENTITY e0 'x'>{ENTITIES}]><system>&e19;</system>", FORBIDDEN, id="entities in entities"
        ),
        pytest.param('<!DOCTYPE s SYSTEM "http://127.0.0.1/x"><system/>', FORBIDDEN, id="external document type"),
        pytest.param(
            '<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/hostname">]><system>&x;</system>', FORBIDDEN, id="file"
        ),
        pytest.param("<system>" * 65, ("hardware/depth", 1, "nesting of at most 64", "more"), id="depth"),
        pytest.param(
            "<system>\n" + "<a/>" * 100_001,
            ("hardware/size", 2, "at most 100,000 elements", "more"),
            id="elements",
        ),
        pytest.param(
            "<system>\n<cpu></system>", ("hardware/xml", 2, "well-formed XML", "mismatched tag"), id="not closed"
        ),
        pytest.param(
            "<system>\n&lol;</system>", ("hardware/xml", 2, "well-formed XML", "undefined entity"), id="unknown"
        ),
        pytest.param(
            '<system a="1" a="2"/>', ("hardware/xml", 1, "well-formed XML", "duplicate attribute"), id="attribute twice"
        ),
        pytest.param("<system", ("hardware/xml", 1, "well-formed XML", "unclosed token"), id="cut"),
    ],
)
def test_refused_xml(text: str, finding: tuple[str, int, str, str]) -> None:
    assert findings(text) == [finding]


def test_a_large_file_is_not_looked_at() -> None:
    assert findings(b" " * (MAX_BYTES + 1)) == [("hardware/size", None, "at most 2,097,152 bytes", "2,097,153 bytes")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f'<?xml version="1.0" encoding="utf-8"?>\n{SWITCHED}', id="declaration"),
        pytest.param(f'<?xml version="1.0" encoding="no-such-code"?>\n{SWITCHED}', id="encoding that does not exist"),
        pytest.param(f"\n\n  {SWITCHED}\n", id="blanks around it"),
        pytest.param(f"<!-- a comment -->{SWITCHED}", id="comment"),
        pytest.param(f"The dump:\n```xml\n{SWITCHED}```\nThat was it: a < b.\n", id="in a page"),
        pytest.param(SWITCHED.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(SWITCHED.encode("utf-16"), id="UTF-16"),
        pytest.param(
            SWITCHED.replace("<gpu", "<unknown><gpu/></unknown>text<gpu", 1), id="elements of a later version"
        ),
    ],
)
def test_the_same_topology_is_read_in_every_dress(text: str | bytes) -> None:
    assert islands(read(text)) == islands(read(SWITCHED))


def test_lines_are_those_of_the_page_around_it() -> None:
    text = "The dump:\n\n" + SWITCHED.replace('count="9"', 'count="x"', 1)
    assert findings(text) == [("hardware/attribute", 8, "count of <nvlink>, at least 1", '"x"')]


def test_the_limits_themselves_are_allowed() -> None:
    full = f"<system>{'<a/>' * 99_999}</system>"
    deep = "<system>" + "<a>" * 63 + "</a>" * 63 + "</system>"
    assert [code for text in (full, deep) for code, *_ in findings(text)] == ["hardware/no_device"] * 2
