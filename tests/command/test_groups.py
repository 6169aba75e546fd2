"""``topogate groups``: lines in, lines out, exit codes."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.command import main
from planner.command.groups import MAX_LINE_BYTES


def run(lines: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    """Run on a file and return the exit code and every printed line."""
    file = tmp_path / "asks.jsonl"
    file.write_bytes(lines)
    code = main(["groups", str(file)])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_line_gets_one_answer_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answers = run(
        b'{"engine": "closed", "degrees": {"tp": 2}}\n{"engine": "closed", "degrees": {"tp": 0}}\n', tmp_path, capsys
    )

    assert code == 0
    assert [found["valid"] for found in answers] == [True, False]
    assert answers[0]["groups"]["tp"] == [[0, 1]]
    assert answers[1] == {
        "engine": "closed",
        "valid": False,
        "constraint": "degree",
        "error": "tp is at least 1; found 0",
    }


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param(b"{", "json/", id="cut off"),
        pytest.param(b"[1]", "a line is an object; found an array", id="array"),
        pytest.param(b'{"engine": "vllm", "engine": "sglang"}', "json/", id="key twice"),
        pytest.param(b'{"engine": "vllm", "degrees": {"tp": 1e400}}', "json/", id="number out of range"),
        pytest.param(b"\xff", "json/", id="no UTF-8"),
        pytest.param(b" " * MAX_LINE_BYTES + b"{}", "a line is at most 1048576 bytes", id="too long"),
    ],
)
def test_a_damaged_line_is_answered_and_the_rest_goes_on(
    line: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sound = b'{"engine": "closed", "degrees": {}}'
    code, answers = run(b"\n".join([sound, line, sound]), tmp_path, capsys)

    assert code == 2
    assert [found.get("valid") for found in answers] == [True, None, True]
    assert (answers[1]["line"], answers[1]["constraint"]) == (2, "unreadable")
    assert words in answers[1]["error"]


def test_blank_lines_are_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answers = run(b'\n  \r\n{"engine": "closed", "degrees": {}}\n\n', tmp_path, capsys)

    assert (code, len(answers)) == (0, 1)


def test_a_line_too_long_that_begins_blank_is_not_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "questions"
    file.write_bytes(b" " * (MAX_LINE_BYTES + 1) + b'{"engine": "vllm"}\n\n')
    assert main(["groups", str(file)]) == 2
    (answer,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert answer == {"line": 1, "constraint": "unreadable", "error": "a line is at most 1048576 bytes"}


def test_an_empty_file_has_no_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(b"", tmp_path, capsys) == (0, [])


def test_without_a_file_standard_input_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"engine": "closed", "degrees": {"dp": 2}}')))

    assert main(["groups"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"]["dp"] == [[0, 1]]


def test_a_file_that_is_not_there_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "none.jsonl"

    assert main(["groups", str(missing)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"topogate: {missing}: expected a file that can be read, found no such file\n"
