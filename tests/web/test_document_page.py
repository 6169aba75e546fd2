"""The page of a stored document: one place by JSON pointer, with lines of the whole document, light at any size."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.big_evidence import big_contract, big_evidence
from planner.pointers import child
from planner.shown import printable
from reviews.models import Decision
from reviews.web.document_lines import DocumentPlace, place_of
from reviews.web.document_links import DocumentLinks
from tests.queries import cost
from tests.reviews.factories import Cast, Pair, example_pair, planned
from tests.web.conftest import Visit
from tests.web.plans import example_plan

PAGE = "/w/lab/decisions/1/documents"
P95 = "/trials/t-base-16/windows/sat-2/load/ttft_ms/p95"
EVIDENCE = example_pair().evidence
MOST_BYTES = 200_000
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=30,
)


def pretty(data: bytes) -> list[str]:
    return msgspec.json.format(data, indent=2).decode().split("\n")


def marked(place: DocumentPlace) -> list[str]:
    return [line.text.strip() for line in place.lines if line.is_marked]


def page_of(visit: Visit, people: Cast, address: str) -> str:
    answer = visit(people.audrey).get(f"{PAGE}/{address}")
    assert answer.status_code == 200
    return answer.content.decode()


def pointers(tree: Any, at: str = "") -> Iterator[str]:
    yield at
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from pointers(value, child(at, key))


def test_a_value_stands_in_its_line_among_its_neighbours() -> None:
    place = place_of(EVIDENCE, P95)
    lines = pretty(EVIDENCE)
    assert (place.at, place.first, place.last, place.total) == (P95, 654, 654, len(lines))
    assert marked(place) == ['"p95": 420,']
    assert [line.text for line in place.lines if line.number in range(650, 658)] == lines[649:657]


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_every_line_of_every_place_is_that_of_the_whole_document(tree: Any) -> None:
    data = json.dumps(tree, ensure_ascii=False).encode()
    lines = pretty(data)
    for at in pointers(tree):
        place = place_of(data, at)
        assert (place.at, place.absent, place.total) == (at, (), len(lines))
        numbers = [line.number for line in place.lines if line.number]
        assert numbers == sorted(set(numbers))
        assert numbers[-1] == len(lines)
        for line in place.lines:
            if line.number and not line.note:
                assert line.text == printable(lines[line.number - 1])


def test_a_small_node_is_shown_whole() -> None:
    assert marked(place_of(EVIDENCE, P95.rpartition("/")[0])) == [line.strip() for line in pretty(EVIDENCE)[649:657]]


def test_a_large_node_is_shown_member_by_member_a_page_at_a_time() -> None:
    data = json.dumps({"a": {f"k{at:03}": {"x": at} for at in range(250)}, "b": 1}).encode()
    place = place_of(data, "/a", 2)
    shown = [line for line in place.lines if line.is_marked]
    assert [line.text.strip() for line in (shown[0], shown[1], shown[2], shown[-2], shown[-1])] == [
        '"a": {',
        "… 100 members more",
        '"k100": { … },',
        "… 50 members more",
        "},",
    ]
    assert (shown[2].number, shown[2].at, shown[2].note) == (303, "/a/k100", "3 lines")
    assert [(line.at, line.page) for line in (shown[1], shown[-2])] == [("/a", 1), ("/a", 3)]
    assert (place.page, place.pages, place.after) == (2, 3, "/b")
    assert place_of(data, "/a", 9).page == 1


def test_neighbours_are_few_and_the_others_counted() -> None:
    place = place_of(json.dumps(list(range(30))).encode(), "/12")
    assert [line.text.strip() for line in place.lines] == [
        "[",
        "… 7 members more",
        *(f"{at}," for at in range(7, 18)),
        "… 12 members more",
        "]",
    ]
    assert (place.before, place.after) == ("/11", "/13")


@pytest.mark.parametrize(
    ("asked", "at", "absent"),
    [
        pytest.param(P95 + "/deeper", P95, ("deeper",), id="below a value"),
        pytest.param("/trials/nobody/windows", "/trials", ("nobody", "windows"), id="no such member"),
        pytest.param("/nope", "", ("nope",), id="nothing at all"),
        pytest.param("no pointer", "", (), id="no pointer"),
    ],
)
def test_a_pointer_to_nothing_shows_the_nearest_holder(
    asked: str, at: str, absent: tuple[str, ...], worked: Decision, people: Cast, visit: Visit
) -> None:
    place = place_of(EVIDENCE, asked)
    assert (place.at, place.absent) == (at, absent)
    page = page_of(visit, people, f"evidence/?at={asked}")
    assert f"<b>Not in this document.</b> {asked} leads to nothing; shown is {at or 'the whole document'}." in page


def test_escaped_steps_are_followed() -> None:
    assert marked(place_of(b'{"a/b":{"~c":7}}', "/a~1b/~0c")) == ['"~c": 7']


def test_long_and_hostile_text_stays_short_and_text() -> None:
    place = place_of(json.dumps({"k" * 400: "<script>\u202e" + "x" * 9000}, ensure_ascii=False).encode(), "")
    assert max(len(line.text) for line in place.lines) == 241
    assert "\u202e" not in "".join(line.text for line in place_of('{"a":"\u202e"}'.encode(), "").lines)


def test_the_page_names_digests_and_leads_to_the_bytes(worked: Decision, people: Cast, visit: Visit) -> None:
    page = page_of(visit, people, f"evidence/?at={P95}")
    revision = worked.revisions.get()
    href = re.search(r'href="([^"]+/raw)"', page)
    assert href
    assert visit(people.audrey).get(href[1]).content == EVIDENCE
    for digest in (revision.evidence.blob_id, revision.evidence.content_id):
        assert f'data-copy="{digest}"' in page
    assert f'data-copy="{P95}" aria-label="Copy pointer"' in page
    assert '<div class="source-l doc-on" id="here"><span class="source-n">654</span>' in page
    assert "Line 654 of 1,931, pretty-printed" in page


def test_a_contract_leads_to_another_that_begins_as_it(worked: Decision, people: Cast, visit: Visit) -> None:
    alice = visit(people.alice)
    href = re.search(r'href="([^"]+)">Begin another contract from it', alice.get(f"{PAGE}/contract/").content.decode())
    assert href
    assert " selected>" in alice.get(href[1]).content.decode()
    for text in (page_of(visit, people, "contract/"), alice.get(f"{PAGE}/evidence/").content.decode()):
        assert "Begin another contract" not in text


def test_an_opened_cell_leads_to_its_value_and_its_limit(worked: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    cell = client.get("/w/lab/decisions/1/?cell=t-base-16~ttft~saturated_p95").content.decode()
    links = [html.unescape(link) for link in re.findall(rf'href="({PAGE}/[^"]+)"', cell)]
    assert f"{PAGE}/contract/?revision=1&at=/gates/ttft/saturated_p95/max_ms#here" in links
    assert f"{PAGE}/evidence/?revision=1&at={P95}#here" in links
    for link in links:
        assert "Not in this document" not in client.get(link).content.decode()


@pytest.mark.parametrize("example", ["worked", "blast-radius", "minimal", "gpt-oss-120b-h200"])
def test_every_pointer_of_a_plan_leads_to_the_document_that_has_it(example: str) -> None:
    links, pair = DocumentLinks("contract", "evidence", 1), example_pair(example)
    outcomes = [
        outcome
        for candidate in example_plan(example).candidates.values()
        for gate in candidate.gates.values()
        for outcome in gate.limits.values()
    ]
    found = {at for outcome in outcomes for at in (*outcome.measured_at, outcome.limit_at) if at}
    assert found
    for at in found:
        data = pair.contract if links.to(at).startswith("contract") else pair.evidence
        assert place_of(data, at).absent == (), at


def test_a_document_of_thirteen_megabytes_is_a_small_page(people: Cast, visit: Visit) -> None:
    planned(people, pair=Pair(big_contract(), big_evidence(500)))
    for at in ("", "/trials", "/trials/t-0250", "/trials/t-0250/windows", "/trials/t-0250/rank_map/40/device"):
        assert len(page_of(visit, people, f"evidence/?at={at}")) < MOST_BYTES


def test_a_page_costs_as_many_queries_wherever_it_looks(worked: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.audrey)
    assert cost(client, f"{PAGE}/contract/") == cost(client, f"{PAGE}/contract/?at=/gates") <= 23
    # Evidence may have files behind it: they are asked for, and again who asks.
    assert cost(client, f"{PAGE}/evidence/") == cost(client, f"{PAGE}/evidence/?at={P95}") <= 24
