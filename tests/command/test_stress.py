"""``topogate stress``: the matrix on stdout, exit code 0 with holes, 2 for documents that are refused."""

import json
from pathlib import Path

import pytest

from planner.command import main
from planner.stress import stress_bytes, stress_matrix
from planner.stress.text import stress_text
from tests.planner.corpus import shipped

AS_OF = "2026-10-01T00:00:00Z"
EXAMPLES = Path(__file__).parents[2] / "examples"
WORKED = [str(EXAMPLES / "worked" / "contract.json"), str(EXAMPLES / "worked" / "evidence.json")]
Capture = pytest.CaptureFixture[str]


def test_text_is_the_table_and_the_exit_code_is_0_in_spite_of_holes(capsys: Capture) -> None:
    assert main(["stress", *WORKED, "--as-of", AS_OF]) == 0
    matrix = stress_matrix(*shipped("worked"), AS_OF)
    assert capsys.readouterr() == (stress_text(matrix), "")
    assert matrix.holes != ()


def test_json_is_the_canonical_matrix(capsys: Capture) -> None:
    assert main(["stress", *WORKED, "--as-of", AS_OF, "--format", "json"]) == 0
    assert capsys.readouterr() == (stress_bytes(stress_matrix(*shipped("worked"), AS_OF)).decode() + "\n", "")


def test_problems_of_both_documents_are_printed_at_once(tmp_path: Path, capsys: Capture) -> None:
    contract, evidence = tmp_path / "contract.json", tmp_path / "missing.json"
    contract.write_text("{}")
    assert main(["stress", str(contract), str(evidence), "--format", "json"]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["file"], line["ok"]) for line in lines] == [(str(contract), False), (str(evidence), False)]


def test_a_time_without_a_zone_is_a_usage_error(capsys: Capture) -> None:
    assert main(["stress", *WORKED, "--as-of", "2026-10-01"]) == 2
    assert "expected a UTC time such as 2026-11-28T17:12:00Z" in capsys.readouterr().err
