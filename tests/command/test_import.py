"""``topogate import``: one JSON line a file, and the exit code."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest

from planner.command import main
from tests.planner.importers.exporter_samples import vllm
from tests.planner.importers.samples import vllm_run

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def result(tmp_path: Path) -> str:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(vllm_run()))
    return str(path)


def test_a_file_is_one_line_with_values_places_and_questions(result: str, capsys: Capture) -> None:
    assert main(["import", result]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    shown = json.loads(line)
    assert (shown["file"], shown["recognised"], shown["status"]) == (result, True, "usable")
    assert (shown["format"], shown["version"]) == ("vllm-bench-serve", "after 0.9")
    assert shown["runs"] == [{"run": "run-1", "status": "usable", "place": {"pointer": "", "line": 1}}]
    assert shown["values"][0] == {
        "run": "run-1",
        "name": "sent",
        "value": 20,
        "unit": "requests",
        "raw": 20,
        "raw_unit": "requests",
        "place": {"pointer": "/num_prompts", "line": 1},
        "document": "evidence",
        "field": "/trials/<id>/windows/<id>/load/requests/sent",
        "standing": "measured",
        "of": "",
    }
    assert shown["missing"][0] == {
        "run": "run-1",
        "name": "ttft_ms.p95",
        "unit": "ms",
        "document": "evidence",
        "field": "/trials/<id>/windows/<id>/load/ttft_ms/p95",
    }
    assert shown["asked"][0] == {
        "name": "model_revision",
        "document": "evidence",
        "field": "/identities/<id>/model/revision",
        "question": "Which revision (commit) of the model?",
    }
    assert shown["problems"] == []


def test_files_that_cannot_be_read_do_not_stop_the_others(tmp_path: Path, result: str, capsys: Capture) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["import", str(tmp_path / "none.json"), str(tmp_path / "empty"), result]) == 2
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["recognised"] for line in lines] == [False, False, True]
    assert [line["problems"][0]["code"] for line in lines[:2]] == ["file/unreadable", "file/unreadable"]


def test_a_run_that_is_no_evidence_is_refused(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "failed.json"
    path.write_text(json.dumps(vllm_run(completed=0)))
    assert main(["import", str(path)]) == 2
    shown = json.loads(capsys.readouterr().out)
    assert [(warning["code"], warning["effect"]) for warning in shown["warnings"]] == [
        ("import/none_completed", "refused")
    ]


def test_the_format_looked_for_can_be_named(result: str, capsys: Capture) -> None:
    assert main(["import", "--format", "vllm-bench-serve", result]) == 0
    assert main(["import", "--format", "unknown", result]) == 2
    assert "invalid choice" in capsys.readouterr().err


def test_a_run_that_an_earlier_file_holds_is_named(tmp_path: Path, result: str, capsys: Capture) -> None:
    summary = tmp_path / "summary.json"
    summary.write_text(json.dumps([vllm_run(mean_ttft_ms=81.5), vllm_run()]))
    assert main(["import", result, str(summary)]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["warnings"] == []
    assert [(warning["run"], warning["code"], warning["sentence"]) for warning in second["warnings"]] == [
        ("run-2", "import/same_run", f"the figures of run-1 in {result}: taken twice, it would count twice")
    ]


def test_a_pipe_is_read_like_a_file(result: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(Path(result).read_bytes())
    with os.fdopen(reading, "rb") as source, io.TextIOWrapper(source) as text:
        monkeypatch.setattr("sys.stdin", text)
        assert main(["import", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "vllm-bench-serve"


def test_the_scrape_before_a_load_makes_a_window_of_the_one_after(tmp_path: Path, capsys: Capture) -> None:
    before, after, other = (tmp_path / name for name in ("1-before.prom", "2-after.prom", "3-other.prom"))
    before.write_text(vllm())
    after.write_text(vllm(50, scale=2))
    other.write_text(vllm(50, engine="9"))
    assert main(["import", str(before), str(after), str(other)]) == 0
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["status"], second["status"], third["status"]) == ("held", "usable", "held")
    found = {value["name"]: value["value"] for value in second["values"]}
    assert (found["completed"], found["output_tokens_total"]) == (20, 500)
    (remark,) = [warning for warning in second["warnings"] if warning["code"] == "import/window"]
    assert "1-before.prom" in remark["sentence"]


def test_a_folder_gives_the_files_below_it_in_order(tmp_path: Path, capsys: Capture) -> None:
    for name in ("b/run=1.json", "b/run=0.json", "a/result.json", "a/.hidden", ".git/config"):
        path = tmp_path / "sweep" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(vllm_run()))
    assert main(["import", str(tmp_path / "sweep")]) == 0
    files = [json.loads(line)["file"] for line in capsys.readouterr().out.splitlines()]
    expected = ("a/result.json", "b/run=0.json", "b/run=1.json")
    assert files == [str(tmp_path / "sweep" / name) for name in expected]


def test_a_folder_without_files_is_named(tmp_path: Path, capsys: Capture) -> None:
    assert main(["import", str(tmp_path)]) == 2
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert (problem["code"], problem["found"]) == ("file/unreadable", "a directory")


def test_an_interrupt_ends_an_import_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text("\n".join([json.dumps(vllm_run())] * 40_000))
    # What was started in the background of a script ignores interrupts, and so would this program.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    ready = "from planner.command import main; print('ready', flush=True); main()"
    command = [sys.executable, "-c", f"{heard}; {ready}"]
    with subprocess.Popen([*command, "import", str(path)], stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
    assert (process.returncode, errors) == (-signal.SIGINT, "")
