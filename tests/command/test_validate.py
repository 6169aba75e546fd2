"""``topogate validate``: one verdict per file, all problems, and an exit code."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.command import main
from planner.version import PLANNER_VERSION
from tests.planner.documents import EXAMPLES, changed, example, raw

Capture = pytest.CaptureFixture[str]
CONTRACT = str(EXAMPLES / "worked" / "contract.json")
EVIDENCE = str(EXAMPLES / "worked" / "evidence.json")


def written(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def test_accepted_documents_are_named_with_their_kind(capsys: Capture) -> None:
    assert main(["validate", CONTRACT, EVIDENCE]) == 0
    assert capsys.readouterr().out == f"{CONTRACT}: contract, accepted\n{EVIDENCE}: evidence, accepted\n"


def test_evidence_of_none_of_the_given_contracts_is_pointed_out(capsys: Capture) -> None:
    other = str(EXAMPLES / "minimal" / "evidence.json")
    named = example("minimal", "evidence")["contract_content_id"]
    assert main(["validate", CONTRACT, EVIDENCE, other]) == 0
    assert capsys.readouterr().err == f"topogate: {other} names contract {named}, which is none of those given here\n"


def test_evidence_without_a_contract_beside_it_is_not_compared(capsys: Capture) -> None:
    assert main(["validate", EVIDENCE]) == 0
    assert capsys.readouterr().err == ""


def test_problems_are_printed_as_compilers_do(tmp_path: Path, capsys: Capture) -> None:
    name = written(tmp_path / "c.json", b'{\n  "schema": "topogate.contract/v2"\n}')
    assert main(["validate", name]) == 2
    schemas = '"topogate.contract/v1", "topogate.evidence/v1", "topogate.plan/v1"'
    assert capsys.readouterr().out == (
        f'{name}:2:3: /schema: expected one of {schemas}, found "topogate.contract/v2" [document/schema]\n'
    )


def test_json_is_one_line_per_file(tmp_path: Path, capsys: Capture) -> None:
    tree = changed(example("minimal", "contract"), ("/owner", 7), ("/selection", {}))
    bad = written(tmp_path / "bad.json", raw(tree))
    worse = written(tmp_path / "worse.json", b"[1,]")
    assert main(["validate", "--format", "json", CONTRACT, bad, worse]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["file"], line["ok"], line["kind"]) for line in lines] == [
        (CONTRACT, True, "contract"),
        (bad, False, "contract"),
        (worse, False, None),
    ]
    assert lines[0]["problems"] == []
    assert lines[1]["problems"] == [
        {
            "code": "document/type",
            "pointer": "/owner",
            "expected": "text of 1 to 256 characters",
            "found": "7 (an integer)",
            "line": 4,
            "column": 2,
        },
        {
            "code": "document/exclusive_fields",
            "pointer": "/selection",
            "expected": "exactly one of preset and keys",
            "found": "neither",
            "line": 56,
            "column": 2,
        },
    ]
    assert [problem["code"] for problem in lines[2]["problems"]] == ["json/syntax"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("absent.json", "no such file", id="absent"),
        pytest.param(".", "a directory", id="folder"),
    ],
)
def test_a_file_that_cannot_be_read_is_said_on_stderr(name: str, reason: str, tmp_path: Path, capsys: Capture) -> None:
    path = str(tmp_path / name)
    assert main(["validate", path, CONTRACT, "--format", "json"]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"topogate: {path}: expected a file that can be read, found {reason}\n"
    first, second = (json.loads(line) for line in printed.out.splitlines())
    assert first == {
        "file": path,
        "ok": False,
        "kind": None,
        "problems": [
            {"code": "file/unreadable", "pointer": "", "expected": "a file that can be read", "found": reason}
        ],
    }
    assert second["ok"] is True


def test_a_name_that_no_file_has_is_said_on_stderr(capsys: Capture) -> None:
    assert main(["validate", "a\0b"]) == 2
    assert capsys.readouterr().err == (
        "topogate: 'a\\x00b': expected a file that can be read, found a name that no file has\n"
    )


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    stdin: Any = io.TextIOWrapper(io.BytesIO(raw(example("minimal", "contract"))))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["validate", "-"]) == 0
    assert capsys.readouterr().out == "-: contract, accepted\n"


@pytest.mark.parametrize(
    "arguments",
    [["validate"], ["validate", "--format", "yaml", "x"], ["no-such-command"], []],
    ids=["no file", "no such format", "no such command", "nothing"],
)
def test_wrong_usage_is_bad_input(arguments: list[str], capsys: Capture) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: topogate")


def test_help_and_version_are_no_error(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.rstrip().endswith(f"topogate {PLANNER_VERSION}")


def program(arguments: list[str], **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """Run the command line as a process of its own."""
    code = "import sys; from planner.command import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", code, *arguments], check=False, timeout=60, **options)


def test_a_reader_that_leaves_is_no_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        done = program(["schema", "plan"], stdout=gone, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_file_name_that_is_no_text_is_still_printed(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.json"
    with open(name, "wb") as file:
        file.write(b"[]")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = program(["validate", os.fsdecode(name)], capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (2, b"")
    assert b"\\udcff.json" in done.stdout
