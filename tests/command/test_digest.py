"""``topogate digest``: both digests of any strict JSON."""

import hashlib
import json
from pathlib import Path

import pytest

from planner.command import main
from tests.planner.documents import EXAMPLES, example

Capture = pytest.CaptureFixture[str]
CONTRACT = EXAMPLES / "minimal" / "contract.json"
BOUND = example("minimal", "evidence")["contract_content_id"]


def test_digests_are_those_of_sha256sum_and_of_the_bound_evidence(capsys: Capture) -> None:
    assert main(["digest", str(CONTRACT)]) == 0
    file_digest = hashlib.sha256(CONTRACT.read_bytes()).hexdigest()
    assert capsys.readouterr().out == f"{CONTRACT}\n  file_sha256  sha256:{file_digest}\n  content_id   {BOUND}\n"


def test_json_is_one_line_per_file(capsys: Capture) -> None:
    assert main(["digest", "--format", "json", str(CONTRACT), str(CONTRACT)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["content_id"] for line in lines] == [BOUND, BOUND]


def test_any_json_has_digests_whatever_it_means(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.json").write_bytes(b"[1.0]")
    (tmp_path / "b.json").write_bytes(b" [ 1 ] ")
    assert main(["digest", "--format", "json", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["content_id"] == second["content_id"] == "sha256:" + hashlib.sha256(b"[1]").hexdigest()
    assert first["file_sha256"] != second["file_sha256"]


def test_what_is_no_strict_json_has_no_content_id(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "twice.json"
    path.write_bytes(b'{"a": 1, "a": 2}')
    assert main(["digest", "--format", "json", str(path)]) == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)["content_id"] is None
    assert printed.err.splitlines()[0] == f"{path}:1:2: /a: expected each key once, found 2 times [json/duplicate_key]"


def test_a_file_that_is_not_there_is_bad_input(capsys: Capture) -> None:
    assert main(["digest", "absent.json", str(CONTRACT)]) == 2
    printed = capsys.readouterr()
    assert printed.err == "topogate: absent.json: expected a file that can be read, found no such file\n"
    assert BOUND in printed.out
