"""``topogate hypotheses``: questions in, one answer a line out, exit codes."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.command import main

SOUND = b'{"quantity": "bubble", "inputs": {"p": 8, "m": 32}}'


def run(raw: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    """Run on a file and return the exit code and every printed line."""
    file = tmp_path / "asks.jsonl"
    file.write_bytes(raw)
    code = main(["hypotheses", str(file)])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_line_gets_one_answer_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = b'{"id": "b", "quantity": "bubble", "inputs": {"p": 0, "m": true}}'
    code, answers = run(SOUND + b"\n\n" + wrong + b"\n", tmp_path, capsys)

    assert code == 0
    assert answers[0] == {
        "valid": True,
        "quantity": "bubble",
        "value": {"fraction_of_total": 7 / 39, "fraction_of_ideal": 0.21875},
        "unit": "",
        "formula": "(p-1)/(v*m+p-1) of total time; (p-1)/(v*m) of ideal time; "
        "v virtual stages on a rank, 1 unless given",
    }
    assert answers[1] == {
        "id": "b",
        "valid": False,
        "constraint": "p",
        "error": "p is at least 1; found 0; m is a whole number; found true",
        "inputs": ["p", "m"],
    }


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param(b"{", "json/syntax", id="cut off"),
        pytest.param(b"[1]", "a question is an object; found an array", id="array"),
        pytest.param(b'{"inputs": {"p": 1, "p": 2}}', "json/duplicate_key", id="key twice"),
        pytest.param(b'{"inputs": {"p": 1e400}}', "json/overflow", id="number out of range"),
        pytest.param(b"\xff", "json/encoding", id="no UTF-8"),
    ],
)
def test_a_damaged_line_is_answered_and_the_rest_goes_on(
    line: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, answers = run(b"\n".join([SOUND, line, SOUND]), tmp_path, capsys)

    assert code == 2
    assert [found["valid"] for found in answers] == [True, False, True]
    assert (answers[1]["line"], answers[1]["constraint"]) == (2, "unreadable")
    assert words in answers[1]["error"]


def test_one_document_may_hold_shapes_and_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shape = {"kind": "dense", "L": 2, "h": 8, "i": 16, "nh": 2, "kv": 1, "d": 4, "V": 64, "tie": True}
    questions = [{"quantity": "kv_bytes", "inputs": {"model": "tiny"}}, 3]
    document = json.dumps({"models": {"tiny": shape}, "questions": questions}, indent=1).encode()

    code, answers = run(document, tmp_path, capsys)

    assert code == 2
    assert answers[0] == {"valid": True, "models": ["tiny"]}
    # 2 layers x (key and value) x 1 head x 4 x 2 bytes
    assert (answers[1]["value"], answers[1]["unit"], answers[1]["assumed"]) == (32, "B/token", {"bytes": 2})
    assert answers[2]["error"] == "a question is an object; found 3"


def test_a_number_that_json_does_not_hold_is_refused_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = b'{"id": "big", "quantity": "bubble", "inputs": {"p": 100000000000000000000, "m": NaN}}'
    code, answers = run(line, tmp_path, capsys)

    assert code == 2
    assert {name: answers[0][name] for name in ("line", "id", "valid", "constraint", "inputs")} == {
        "line": 1,
        "id": "big",
        "valid": False,
        "constraint": "unreadable",
        "inputs": ["p", "m"],
    }


def test_flaws_of_a_document_are_those_of_its_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = b'{"questions": [' + SOUND + b', {"id": "x", "inputs": {"p": 1e999}}, ' + SOUND + b"]}"
    code, answers = run(document, tmp_path, capsys)

    assert (code, [found["valid"] for found in answers]) == (2, [True, False, True])
    assert (answers[1]["line"], answers[1]["id"], answers[1]["inputs"]) == (2, "x", ["p"])


def test_a_list_that_stands_twice_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answers = run(b'{"questions": [], "questions": [' + SOUND + b"]}", tmp_path, capsys)

    assert (code, answers[-1]["line"], answers[-1]["inputs"]) == (2, 0, ["questions"])


def test_an_empty_file_has_no_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(b"", tmp_path, capsys) == (0, [])


def test_without_a_file_standard_input_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SOUND)))

    assert main(["hypotheses"]) == 0
    assert json.loads(capsys.readouterr().out)["value"]["fraction_of_ideal"] == 0.21875


def test_a_file_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hypotheses", str(tmp_path / "none")]) == 2
    assert "expected a file that can be read, found no such file" in capsys.readouterr().err
