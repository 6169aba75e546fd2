"""The record of a decision as Markdown: what, why, what not, who, until when; nothing that people wrote is a mark."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from markdown_it import MarkdownIt

from reviews.models import AuditEntry, Decision, Person
from tests.api.asking import Caller, token_of
from tests.api.test_validity import EMERGENCY, waived
from tests.reviews.factories import Cast, Pair, contract_tree, documents, evidence_tree, planned, sign, submitted
from tests.reviews.rules.board import board, countersign, propose
from tests.reviews.rules.test_rule_11_validity import in_force
from tests.stage import Maker

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script> [x](http://evil.example) ![y](//e) `c` **b** | --- | # h\n# line &lt; \u202e"


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


@pytest.fixture
def tool(people: Cast) -> Caller:
    return Caller(token_of(people, people.bob, "read"), "lab")


def record(tool: Caller) -> str:
    answer = tool.get("decisions/1/record")
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    text: str = answer.content.decode()
    return text


def section(text: str, title: str) -> str:
    """The lines below a heading of the second level."""
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_it_has_the_sections_of_a_decision_record(people: Cast, tool: Caller) -> None:
    in_force(people)
    text = record(tool)
    assert re.findall("^#+ .*", text, re.MULTILINE) == [
        "# D-0001: One device",
        "## Context and Problem Statement",
        "## Decision Drivers",
        "## Considered Options",
        "### What each did not pass",
        "## Decision Outcome",
        "### Why its size",
        "### Its readings",
        "## What Would Turn It",
        "## Waivers",
        "## Signatures",
        "## Dissent",
        "## Validity",
        "## Digests",
        "## How to Verify",
    ]
    assert text.startswith("---\nstatus: effective\n")
    assert "Chosen option: t-1 (tp1-pp1-ep1-dp1), in force after its review." in text
    assert "Put into force by Dave on" in text


def test_limits_stand_with_their_reason_and_failures_with_both_numbers(people: Cast, tool: Caller) -> None:
    planned(people, pair=documents(floor=600))
    text = record(tool)
    assert "| Demand of the pilot\\. |" in section(text, "Decision Drivers")
    (row,) = [line for line in section(text, "Considered Options").splitlines() if "FAIL" in line]
    assert row.startswith("| t-1 | throughput/floor | FAIL | 546\\.133 tok/s | ≥ 600 tok/s |")
    assert "Nothing is chosen. The planner says: NO\\_ELIGIBLE\\_TOPOLOGY." in text


def test_signatures_stand_with_meaning_and_entry_and_dissent_apart(people: Cast, tool: Caller) -> None:
    revision = in_force(people)
    sign(people, revision, people.dave, meaning="object", statement="The tail was not measured.")
    text = record(tool)
    seqs = dict(AuditEntry.objects.filter(action="signoff.given").values_list("actor_token", "seq"))
    day = f"{Decision.objects.get().opened_at:%Y-%m-%d}"
    assert (
        f"* Bob for serving on r1, {day}, entry {seqs[people.bob.token]}: approve. The margins hold\\. Status: current."
        in section(text, "Signatures").splitlines()
    )
    assert section(text, "Dissent").strip() == (
        f"* Dave for serving on r1, {day}, entry {seqs[people.dave.token]}: object. "
        "The tail was not measured\\. Status: current."
    )
    assert text.startswith("---\nstatus: contested\n")


def test_a_waiver_stands_with_owner_and_end(people: Cast, tool: Caller) -> None:
    waived(people)
    assert "| t-1 | throughput | Bob and Erin |" in section(record(tool), "Waivers")
    assert "rests on the waiver of throughput until" in section(record(tool), "Validity")


def test_an_emergency_says_what_it_went_past(people: Cast, tool: Caller) -> None:
    planned(people, pair=documents(floor=600))
    countersign(people, propose(people, "emergency", "ivan", EMERGENCY), "bob")
    assert "Incident INC-7. Gates gone past: throughput." in record(tool)


def test_what_is_not_planned_yet_has_a_record(people: Cast, tool: Caller) -> None:
    submitted(people)
    text = record(tool)
    assert text.count("There is no plan yet.") == 2
    assert "Nobody has signed." in text


def hostile_pair() -> Pair:
    """Documents that say something hostile wherever they may say anything."""
    contract: dict[str, Any] = contract_tree()
    contract["owner"] = "<b>owner</b> [o](http://evil.example)"
    contract["identity"]["model"]["name"] = "<img src=x>"
    contract["gates"]["throughput"]["floor"]["because"] = "a | b <i>c</i> ![z](http://evil.example)"
    return Pair(json.dumps(contract).encode(), json.dumps(evidence_tree(contract)).encode())


def test_nothing_that_was_written_becomes_a_mark_a_tag_or_a_link(people: Cast, tool: Caller) -> None:
    Person.objects.filter(pk=people.bob.pk).update(display_name="<u>Bob</u> `x` [b](http://evil.example)")
    revision = planned(people, pair=hostile_pair())
    sign(people, revision, statement=HOSTILE.replace("\u202e", ""))
    Decision.objects.update(title=HOSTILE)
    text = record(tool)
    assert "\u202e" not in text
    rendered = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text.split("---\n", 2)[2])
    known = {"h1", "h2", "h3", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "pre", "code"}
    assert set(re.findall(r"<([a-z0-9]+)", rendered)) == known
    assert rendered.count("<h1>") == 1
    for table in re.findall("<table>.*?</table>", rendered, re.DOTALL):
        widths = {row.count("<t") for row in re.findall("<tr>(.*?)</tr>", table, re.DOTALL)}
        assert len(widths) == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt; [x](http://evil.example)" in rendered


def test_it_is_the_same_until_something_changes(people: Cast, tool: Caller) -> None:
    revision = in_force(people)
    version = tool.get("decisions/1/record").headers["ETag"]
    again = tool.get("decisions/1/record", headers={"If-None-Match": version})
    assert (again.status_code, again.content) == (304, b"")
    sign(people, revision, people.dave, meaning="object")
    assert tool.get("decisions/1/record", headers={"If-None-Match": version}).status_code == 200


def test_the_page_of_a_decision_leads_to_it(people: Cast, tool: Caller) -> None:
    in_force(people)
    browser = Client()
    browser.force_login(people.bob)
    href = reverse("decision-record", args=["lab", 1])
    assert href in browser.get(reverse("decision-detail", args=["lab", 1])).content.decode()
    answer = browser.get(href)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="D-0001.md"'
    assert answer.content == tool.get("decisions/1/record").content
