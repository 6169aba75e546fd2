"""``topogate matrix``: Markdown, JSON or a script on stdout, exit code 0, and 2 for documents that are refused."""

import json
from pathlib import Path

import pytest

from planner.command import main
from planner.intake import read_evidence
from planner.matrix import benchmark_matrix, matrix_bytes
from planner.matrix.markdown import matrix_markdown
from planner.matrix.script import matrix_script
from tests.planner.documents import contract, example, raw
from tests.shared import ROOT

CONTRACT, EVIDENCE = (str(ROOT / "examples/worked" / name) for name in ("contract.json", "evidence.json"))
Capture = pytest.CaptureFixture[str]


def test_markdown_is_what_is_printed_and_evidence_is_told(capsys: Capture) -> None:
    document = contract(name="worked")
    evidence = read_evidence(raw(example("worked", "evidence")), document)
    assert main(["matrix", CONTRACT, "--evidence", EVIDENCE]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (matrix_markdown(benchmark_matrix(document, evidence)), "")
    assert "## Coverage" in out


def test_json_is_canonical_and_without_evidence_there_is_no_coverage(capsys: Capture) -> None:
    assert main(["matrix", CONTRACT, "--format", "json"]) == 0
    out = capsys.readouterr().out
    assert out == matrix_bytes(benchmark_matrix(contract(name="worked"))).decode() + "\n"
    assert json.loads(out)["coverage"] is None


def test_a_script_for_the_load_generator_that_is_named(capsys: Capture) -> None:
    assert main(["matrix", CONTRACT, "--format", "sh", "--client", "sglang-bench-serving"]) == 0
    assert capsys.readouterr().out == matrix_script(benchmark_matrix(contract(name="worked")), "sglang-bench-serving")


def test_problems_of_both_documents_are_printed_at_once(tmp_path: Path, capsys: Capture) -> None:
    bad, missing = tmp_path / "contract.json", tmp_path / "missing.json"
    bad.write_text("{}")
    assert main(["matrix", str(bad), "--evidence", str(missing), "--format", "json"]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["file"], line["ok"]) for line in lines] == [(str(bad), False), (str(missing), False)]


def test_a_load_generator_that_is_not_known_is_a_usage_error(capsys: Capture) -> None:
    assert main(["matrix", CONTRACT, "--client", "nonsense"]) == 2
