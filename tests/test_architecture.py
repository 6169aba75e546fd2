"""Rules about the tree itself: who may import whom, sizes, names, and what templates must not contain."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

CODE = ("config", "planner", "reviews")
OWN_TREES = (*CODE, "tests", "bench")
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "constants", "v2", "legacy", "compat"}
CLOCK = {"now", "utcnow", "today"}


def python_files(*trees: str) -> list[Path]:
    files = [path for tree in trees for path in sorted((ROOT / tree).rglob("*.py"))]
    return [path for path in files if "migrations" not in path.parts]


def at_fault(rule: Callable[[Path], list[str]], *trees: str) -> dict[str, list[str]]:
    """Apply a rule to every file; return what it finds, by file."""
    found = {str(path.relative_to(ROOT)): rule(path) for path in python_files(*trees)}
    return {path: faults for path, faults in found.items() if faults}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts in ``pyproject.toml`` of a folder; wide, so that no name is broken over two lines."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo", "--no-cache"]
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
        pytest.param("reviews/web/links.py", "import reviews.tasks", "Inside reviews", id="pages use tasks"),
        pytest.param("reviews/policies/scope.py", "import reviews.models", "plain values", id="policies use rows"),
        pytest.param("planner/order.py", "import planner.gates", "Inside the planner", id="order uses gates"),
        pytest.param("planner/gates/slo.py", "import planner.plan", "Inside the planner", id="gates use the plan"),
        pytest.param("planner/gates/slo.py", "import planner.hypotheses", "Hypotheses", id="gates use estimates"),
        pytest.param("planner/evaluate.py", "import planner.hypotheses", "Hypotheses", id="verdicts use estimates"),
        pytest.param("planner/selection.py", "import planner.hypotheses", "Hypotheses", id="order uses estimates"),
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


def test_files_are_short() -> None:
    def too_long(path: Path) -> list[str]:
        limit = 300 if path.is_relative_to(ROOT / "tests") else 400
        lines = len(path.read_text().splitlines())
        return [f"{lines} lines, {limit} at most"] if lines > limit else []

    assert at_fault(too_long, *OWN_TREES) == {}


def test_functions_are_short() -> None:
    def too_long(path: Path) -> list[str]:
        sizes = {
            function.name: (function.end_lineno or 0) - function.lineno + 1
            for function in functions(ast.parse(path.read_text()))
        }
        return [f"{name}: {lines} lines" for name, lines in sizes.items() if lines > 60]

    assert at_fault(too_long, *OWN_TREES) == {}


def test_names_say_what_is_inside() -> None:
    def vague(path: Path) -> list[str]:
        return sorted(VAGUE_NAMES & {part.removesuffix(".py") for part in path.relative_to(ROOT).parts})

    assert at_fault(vague, *OWN_TREES) == {}


def test_modules_say_their_job() -> None:
    def silent(path: Path) -> list[str]:
        text = path.read_text()
        return ["no docstring"] if text and not ast.get_docstring(ast.parse(text)) else []

    assert at_fault(silent, *CODE) == {}


def test_imports_stand_at_the_top() -> None:
    def inside(path: Path) -> list[str]:
        return [
            f"{function.name}, line {node.lineno}"
            for function in functions(ast.parse(path.read_text()))
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]

    assert at_fault(inside, *OWN_TREES) == {}


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"except (?:Base)?Exception\b", id="caught broadly"),
        pytest.param(r"\b(?:TODO|FIXME|XXX)\b", id="left undone"),
        # A rule may be set aside only by name and with a reason beside it.
        pytest.param(r"# type: ignore(?!\[[a-z-]+(?:, ?[a-z-]+)*\] +[#-] \S).*", id="type ignored without a reason"),
        pytest.param(r"# noqa(?!: [A-Z]+\d+(?:, ?[A-Z]+\d+)* +[#-] \S).*", id="style ignored without a reason"),
    ],
)
def test_nothing_is(pattern: str) -> None:
    assert at_fault(lambda path: re.findall(pattern, path.read_text()), *CODE, "bench") == {}


def test_planner_asks_no_clock() -> None:
    def asking(path: Path) -> list[str]:
        if path.is_relative_to(ROOT / "planner" / "command"):
            return []  # the command line fixes the time before it calls the planner
        return [
            f"line {node.lineno}: {node.func.attr}()"
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCK
        ]

    assert at_fault(asking, "planner") == {}
