"""Rules about the tree itself: who may import whom, sizes, names, and what templates must not contain."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

CODE = ("config", "planner", "reviews")
OWN_TREES = (*CODE, "tests", "bench")
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "constants", "v2", "legacy", "compat"}
CLOCK_AND_CHANCE = {"now", "utcnow", "today"}


def python_files(*trees: str) -> list[Path]:
    files = [path for tree in trees for path in sorted((ROOT / tree).rglob("*.py"))]
    return [path for path in files if "migrations" not in path.parts]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def each(*trees: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", python_files(*trees), ids=shown)


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts in ``pyproject.toml`` of a folder; wide, so that no name is broken over two lines."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    environment = {**os.environ, "COLUMNS": "300", "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_import_contracts_hold() -> None:
    lint = lint_imports(ROOT)
    assert lint.returncode == 0, lint.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        pytest.param("planner/errors.py", "import reviews.errors", "config uses reviews", id="planner uses reviews"),
        pytest.param("reviews/errors.py", "import config.urls", "config uses reviews", id="reviews uses config"),
        pytest.param("planner/errors.py", "import django", "no web framework", id="planner uses Django"),
        pytest.param("planner/errors.py", "import random", "reads no clock", id="planner uses chance"),
        pytest.param("planner/errors.py", "import os", "reads no clock", id="planner uses the environment"),
        pytest.param("planner/command/text.py", "import socket", "only the client", id="a command uses the network"),
        pytest.param("reviews/errors.py", "import reviews.services", "Inside reviews", id="errors use services"),
    ],
)
def test_forbidden_import_is_noticed(tmp_path: Path, module: str, line: str, contract: str) -> None:
    """The contracts are tried on a copy with one import too many: a contract that never breaks protects nothing."""
    for tree in CODE:
        for path in python_files(tree):
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    target = tmp_path / module
    target.write_text(f"{line}\n{target.read_text() if target.exists() else ''}")
    lint = lint_imports(tmp_path)
    broken = [text for text in lint.stdout.splitlines() if " BROKEN" in text]
    assert any(contract in text for text in broken), lint.stdout


@each(*OWN_TREES)
def test_file_is_short(path: Path) -> None:
    limit = 300 if path.is_relative_to(ROOT / "tests") else 400
    assert len(path.read_text().splitlines()) <= limit


@each(*OWN_TREES)
def test_functions_are_short(path: Path) -> None:
    long = [
        f"{function.name}: {(function.end_lineno or 0) - function.lineno + 1} lines"
        for function in functions(ast.parse(path.read_text()))
        if (function.end_lineno or 0) - function.lineno >= 60
    ]
    assert long == []


@each(*OWN_TREES)
def test_name_says_what_is_inside(path: Path) -> None:
    assert not VAGUE_NAMES & {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}


@each(*CODE)
def test_module_says_its_job(path: Path) -> None:
    text = path.read_text()
    assert text == "" or ast.get_docstring(ast.parse(text))


@each(*OWN_TREES)
def test_imports_stand_at_the_top(path: Path) -> None:
    inside = [
        f"{function.name}, line {node.lineno}"
        for function in functions(ast.parse(path.read_text()))
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


@each(*CODE)
def test_nothing_is_caught_or_ignored_broadly(path: Path) -> None:
    text = path.read_text()
    assert "except Exception" not in text
    assert "except BaseException" not in text
    assert re.findall(r"\b(?:TODO|FIXME|XXX)\b", text) == []
    # A rule may be set aside only by name and with a reason beside it.
    assert re.findall(r"# type: ignore(?!\[[a-z-]+(?:, ?[a-z-]+)*\] +[#-] \S)", text) == []
    assert re.findall(r"# noqa(?!: [A-Z]+\d+(?:, ?[A-Z]+\d+)* [#-] \S)", text) == []


@each("planner")
def test_planner_asks_no_clock(path: Path) -> None:
    if path.is_relative_to(ROOT / "planner" / "command"):
        return  # the command line fixes the time before it calls the planner
    calls = [
        f"line {node.lineno}: {node.func.attr}()"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK_AND_CHANCE
    ]
    assert calls == []
