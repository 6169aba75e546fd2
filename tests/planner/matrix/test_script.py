"""The script: bash reads it, it lists, refuses what is missing, quotes what is hostile, and puts in no fault itself."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from planner.matrix import benchmark_matrix
from planner.matrix.clients import CLIENTS
from planner.matrix.script import matrix_script
from planner.records.matrix import Matrix
from tests.planner.documents import contract
from tests.planner.matrix.contracts import DENSE_70B, a_matrix

BASH = shutil.which("bash") or "/bin/bash"
HOSTILE = "x'; touch owned; $(touch owned) `touch owned`\n#"


def written(matrix: Matrix, folder: Path, client: str | None = None) -> Path:
    path = folder / "matrix.sh"
    path.write_text(matrix_script(matrix, client), encoding="utf-8")
    return path


def run(path: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    known = {"PATH": f"{path.parent / 'bin'}:{os.environ['PATH']}", **variables}
    return subprocess.run(
        [BASH, str(path), *words], capture_output=True, text=True, cwd=path.parent, env=known, check=False, timeout=60
    )


def a_tool(folder: Path, name: str) -> None:
    """Put a command in the way that prints what it is called with."""
    (folder / "bin").mkdir(exist_ok=True)
    tool = folder / "bin" / name
    tool.write_text("#!/usr/bin/env bash\nprintf '<%s>' \"$@\"\nprintf '\\n'\n", encoding="utf-8")
    tool.chmod(0o755)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", ["worked", "gpt-oss-120b-h200"])
def test_bash_and_shellcheck_have_nothing_to_say(name: str, client: str, tmp_path: Path) -> None:
    path = written(benchmark_matrix(contract(name=name)), tmp_path, client)
    assert subprocess.run([BASH, "-n", str(path)], check=False).returncode == 0
    checker = shutil.which("shellcheck")
    if checker is not None:
        found = subprocess.run([checker, str(path)], capture_output=True, text=True, check=False)
        assert (found.returncode, found.stdout) == (0, "")


def test_it_lists_and_says_how_it_is_used(tmp_path: Path) -> None:
    path = written(a_matrix(), tmp_path)
    assert "  tp1-pp1-ep1-dp1: baseline, 1 ranks on 1 node(s), 3 USD/h" in run(path, "list").stdout
    assert (run(path).returncode, run(path).stderr[:6]) == (2, "Usage:")


def test_a_load_runs_every_window_with_a_seed_of_its_own(tmp_path: Path) -> None:
    path = written(a_matrix(), tmp_path)
    a_tool(tmp_path, "vllm")
    found = run(path, "load", "tp1-pp1-ep1-dp1", "saturated")
    assert found.returncode == 0, found.stderr
    first, second = found.stdout.splitlines()
    assert "<--seed><1>" in first
    assert "<--seed><2>" in second
    assert (tmp_path / "results/tp1-pp1-ep1-dp1/saturated").is_dir()


def test_a_node_s_engine_asks_for_the_first_node_s_address(tmp_path: Path) -> None:
    path = written(a_matrix(model=DENSE_70B, nodes=2, devices=4), tmp_path)
    a_tool(tmp_path, "vllm")
    assert "TOPOGATE_HEAD: is not set" in run(path, "serve", "tp8-pp1-ep1-dp1", "1").stderr
    found = run(path, "serve", "tp8-pp1-ep1-dp1", "1", TOPOGATE_HEAD="10.0.0.1")
    assert "<--master-addr><10.0.0.1>" in found.stdout
    assert run(path, "serve", "nonsense").returncode == 2


def test_words_of_a_hostile_contract_run_nothing(tmp_path: Path) -> None:
    matrix = a_matrix(("/identity/model/name", HOSTILE.replace("\n", " ")), ("/slot", "demo/matrix"))
    path = written(matrix, tmp_path)
    a_tool(tmp_path, "vllm")
    for words in (("list",), ("serve", "tp1-pp1-ep1-dp1"), ("load", "tp1-pp1-ep1-dp1", "single")):
        run(path, *words)
    assert not list(tmp_path.rglob("owned"))


def test_requests_of_another_file_are_refused(tmp_path: Path) -> None:
    matrix = a_matrix(("/identity/workload/dataset_digest", "sha256:" + "ab" * 32))
    path = written(matrix, tmp_path)
    a_tool(tmp_path, "vllm")
    other = tmp_path / "other.jsonl"
    other.write_text("{}", encoding="utf-8")
    found = run(path, "load", "tp1-pp1-ep1-dp1", "saturated", TOPOGATE_DATASET=str(other))
    assert (found.returncode, found.stdout) == (2, "")
    assert "is not the file that the contract names." in found.stderr


def test_no_client_of_another_name() -> None:
    with pytest.raises(KeyError):
        matrix_script(a_matrix(), "nonsense")
