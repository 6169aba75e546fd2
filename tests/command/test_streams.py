"""Standard streams that are closed, full or in another encoding; interrupts; names and files that are strange."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planner.command import main
from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism
from planner.strict_json import MAX_BYTES
from tests.planner.documents import EXAMPLES, changed, example, raw

Capture = pytest.CaptureFixture[str]
WORKED = [str(EXAMPLES / "worked" / f"{name}.json") for name in ("contract", "evidence")]
AS_OF = "2026-11-28T00:00:00Z"
PROGRAM = [sys.executable, "-c", "import sys; from planner.command import main; sys.exit(main())"]
NO_OUTPUT = "topogate: expected an output that can be written, found "


def program(*arguments: str, streams: str = "", **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """Run the command line as a process of its own; ``streams`` is what a shell is told about its streams."""
    command = [*PROGRAM, *arguments]
    if streams:
        command = ["sh", "-c", f'"$@" {streams}', "sh", *command]
    return subprocess.run(command, check=False, timeout=60, capture_output=True, **options)


@pytest.mark.parametrize("command", [["validate", "-"], ["digest", "-"], ["groups"], ["hypotheses"], ["model", "-"]])
def test_a_closed_standard_input_is_said(command: list[str]) -> None:
    done = program(*command, streams="<&-")
    assert done.returncode == 2
    assert b"expected a file that can be read, found a standard input that is closed" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["plan", *WORKED], ["gates"], ["--help"], ["validate", "absent"]])
def test_a_closed_output_is_said(command: list[str]) -> None:
    done = program(*command, streams=">&-")
    assert (done.returncode, done.stderr.decode()) == (2, f"{NO_OUTPUT}none\n")


def test_messages_never_end_up_among_results() -> None:
    done = program("hardware", "--format", "json", "absent", streams="2>&-")
    assert done.returncode == 2
    assert [json.loads(line)["file"] for line in done.stdout.splitlines()] == ["absent"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("command", [["plan", *WORKED], ["validate", "absent"], ["digest", "absent"]])
def test_messages_that_cannot_be_written_are_bad_input(command: list[str]) -> None:
    assert program(*command, streams="2>/dev/full").returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_help_that_cannot_be_written_is_said() -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = program("--help", streams=">/dev/full", env=buffered)
    assert (done.returncode, done.stderr.decode()) == (2, f"{NO_OUTPUT}No space left on device\n")


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "utf-16"},
        {"LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns", "PYTHONHASHSEED": "7"},
    ],
    ids=lambda environment: " ".join(environment),
)
def test_a_plan_is_the_same_bytes_in_every_locale(environment: dict[str, str], tmp_path: Path) -> None:
    because = ("/gates/ttft/saturated_p95/because", "Mit dem Dienst für Île-de-France – İ – vereinbart.")
    contract = read_contract(raw(changed(example("worked", "contract"), because, ("/slot", "chat/île-é"))))
    bound = [("/contract_content_id", contract.content_id), ("/scope", contract.record.slot)]
    evidence = raw(changed(example("worked", "evidence"), *bound))
    files = [tmp_path / "contract.json", tmp_path / "evidence.json"]
    files[0].write_bytes(raw(changed(example("worked", "contract"), because, ("/slot", "chat/île-é"))))
    files[1].write_bytes(evidence)
    done = program(*("plan", *map(str, files), "--as-of", AS_OF, "--format", "json"), env={**os.environ, **environment})
    assert done.stdout == plan_bytes(plan_parallelism(contract, read_evidence(evidence, contract), AS_OF)) + b"\n"


def test_an_interrupt_ends_the_program_as_shells_expect() -> None:
    running = subprocess.Popen(
        [*PROGRAM, "groups"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What was started in the background of a script ignores interrupts, and so would this program.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    assert running.stdin
    assert running.stdout
    running.stdin.write(b"[]\n" * 4096)
    running.stdin.flush()
    running.stdout.read(1)  # so it has started
    running.send_signal(signal.SIGINT)
    _, messages = running.communicate(timeout=60)
    assert (running.returncode, messages) == (-signal.SIGINT, b"")


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    done = program("plan", "-", "-", input=Path(WORKED[0]).read_bytes())
    assert done.returncode == 2
    assert b"-: document: expected a file that can be read, found standard input again" in done.stderr


def test_a_name_of_a_file_cannot_pretend_to_be_a_line_of_output(tmp_path: Path, capsys: Capture) -> None:
    good, bad = tmp_path / "a\nb.json: plan, accepted\x1b[31m", tmp_path / "c\u202e\nd.json: plan, accepted"
    good.write_bytes(Path(WORKED[0]).read_bytes())
    bad.write_bytes(b"[")
    assert main(["validate", str(good), str(bad), str(tmp_path / "e\nf")]) == 2
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert out.startswith(f"{tmp_path}/a\\nb.json: plan, accepted\\u001b[31m: contract, accepted\n")
    assert f"\n{tmp_path}/c\\u202e\\nd.json: plan, accepted:1:" in out
    assert err == f"topogate: {tmp_path}/e\\nf: expected a file that can be read, found no such file\n"
    assert main(["digest", str(good)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize("command", [["stress"], ["what-if", "--without", "/gates/ttft"]])
def test_a_slot_cannot_pretend_to_be_a_line_of_output(command: list[str], tmp_path: Path, capsys: Capture) -> None:
    contract = raw(changed(example("worked", "contract"), ("/slot", "a\ndecision=b")))
    bound = [("/contract_content_id", read_contract(contract).content_id), ("/scope", "a\ndecision=b")]
    files = [tmp_path / "contract.json", tmp_path / "evidence.json"]
    files[0].write_bytes(contract)
    files[1].write_bytes(raw(changed(example("worked", "evidence"), *bound)))
    assert main([command[0], *map(str, files), *command[1:], "--as-of", AS_OF]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("slot=a\\ndecision=b;")


def test_a_file_over_the_limit_has_no_digest_of_a_part_of_it(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "big"
    with file.open("wb") as big:
        big.truncate(MAX_BYTES + 10)
    assert main(["digest", str(file), "--format", "json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out) == {"file": str(file), "file_sha256": None, "content_id": None}
    assert err == f"topogate: {file}: expected at most 67,108,864 bytes, found more\n"
    with file.open("r+b") as whole:
        whole.truncate(MAX_BYTES)
    assert main(["digest", str(file)]) == 2
    assert hashlib.sha256(file.read_bytes()).hexdigest() in capsys.readouterr().out


@pytest.mark.parametrize("command", ["model", "validate", "digest", "hardware"])
def test_a_file_that_is_not_there_has_its_line_of_json(command: str, tmp_path: Path, capsys: Capture) -> None:
    absent = str(tmp_path / "absent")
    assert main([command, absent, "--format", "json"]) == 2
    assert json.loads(capsys.readouterr().out)["file"] == absent


def test_both_plans_are_looked_at_when_both_are_bad(tmp_path: Path, capsys: Capture) -> None:
    assert main(["diff", str(tmp_path / "absent"), WORKED[0]]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.rpartition("[")[2] for line in lines] == ["file/unreadable]", "document/schema]"]


def test_a_file_given_as_two_kinds_is_refused_as_both(tmp_path: Path, capsys: Capture) -> None:
    other = tmp_path / "plan.json"
    other.write_bytes(b'{"schema": "topogate.plan/v1"}')
    assert main(["plan", str(other), str(other)]) == 2
    err = capsys.readouterr().err
    assert '"topogate.contract/v1"' in err
    assert '"topogate.evidence/v1"' in err


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="this system has no file that cannot be read")
@pytest.mark.parametrize("command", ["groups", "hypotheses", "validate", "model"])
def test_a_file_that_fails_while_it_is_read_is_said(command: str, capsys: Capture) -> None:
    assert main([command, "/proc/self/mem"]) == 2
    assert "/proc/self/mem: expected a file that can be read, found an error" in capsys.readouterr().err.replace(
        "document: ", ""
    )
