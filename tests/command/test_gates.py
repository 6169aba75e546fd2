"""``topogate gates``, and the reference page that is written by it."""

import json
from pathlib import Path

import pytest

from planner.command import main
from planner.command.gates import gates_markdown
from planner.gates import GATES

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "gates.md"
Capture = pytest.CaptureFixture[str]


def test_the_reference_page_is_current() -> None:
    """Write it again with ``topogate gates --format markdown > docs/reference/gates.md``."""
    assert REFERENCE.read_text(encoding="utf-8") == gates_markdown()


def test_markdown_is_the_reference_page(capsys: Capture) -> None:
    assert main(["gates", "--format", "markdown"]) == 0
    assert capsys.readouterr().out == gates_markdown()


def test_every_gate_has_a_row_under_its_family() -> None:
    family, rows = "", []
    for line in gates_markdown().splitlines():
        if line.startswith("## "):
            family = line.removeprefix("## ")
        elif line.startswith("| `"):
            rows.append((family, line.split("`")[1]))
    assert rows == [(gate.family, gate.id) for gate in GATES]


def test_json_says_what_each_gate_is_and_needs(capsys: Capture) -> None:
    assert main(["gates", "--format", "json"]) == 0
    listed = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(listed) == [gate.id for gate in GATES]
    assert listed["throughput"] == {
        "id": "throughput",
        "family": "slo",
        "title": "Output rate reaches its floor",
        "rule": next(gate.doc for gate in GATES if gate.id == "throughput"),
        "always": False,
        "limit": [
            {"field": "load_point", "needed": True},
            {"field": "scope", "needed": False},
            {"field": "min_output_tokens_per_s", "needed": True},
        ],
        "evidence": ["load.output_tokens_total", "load.duration_s", "load.requests"],
        "unit": "tok/s",
        "comparator": ">=",
    }


def test_text_says_which_gates_need_no_limit(capsys: Capture) -> None:
    assert main(["gates"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.split()[2] == "always"] == [
        gate.id for gate in GATES if gate.limit is None
    ]
    assert len(lines) == len(GATES)


def test_every_gate_has_a_title_and_a_rule() -> None:
    assert [gate.id for gate in GATES if not gate.title or len(gate.doc) < 40] == []
