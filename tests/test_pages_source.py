"""What the sources of the pages must not contain: the Content-Security-Policy would refuse it, or hide a mistake."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.shared import ROOT

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SHEETS = sorted((ROOT / "static").rglob("*.css"))
SCRIPTS = sorted((ROOT / "static").rglob("*.js"))
FOREIGN = {
    "js-plotly-plot",
    *("swagger-ui", "opblock", "opblock-summary-method", "info", "title", "version", "link", "url", "authorize"),
    "json-schema-2020-12-expand-deep-button",
}
"""Classes that a library puts on its own elements."""
COMMENT = re.compile(r"{#.*?#}|{% comment %}.*?{% endcomment %}|<!--.*?-->", re.DOTALL)


def at_fault(rule: Callable[[Path], Iterable[str]], paths: list[Path]) -> dict[str, list[str]]:
    """Apply a rule to every file; return what it finds, by file."""
    assert paths
    found = {str(path.relative_to(ROOT)): list(rule(path)) for path in paths}
    return {path: faults for path, faults in found.items() if faults}


def markup(path: Path) -> str:
    return COMMENT.sub("", path.read_text())


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"<script(?![^>]*\bsrc=)(?![^>]*type=\"application/json\")[^>]*>", id="script with a body"),
        pytest.param(r"<style\b", id="style element"),
        pytest.param(r"\sstyle\s*=", id="style attribute"),
        pytest.param(r"\son[a-z]+\s*=\s*[\"']", id="event attribute"),
        pytest.param(r"javascript:", id="javascript address"),
        pytest.param(r"\|\s*safe\b|{%\s*autoescape off", id="unescaped text"),
        pytest.param(r"(?:src|href|action)\s*=\s*[\"'](?:https?:)?//", id="address of another host"),
    ],
)
def test_no_template_has(pattern: str) -> None:
    assert at_fault(lambda path: re.findall(pattern, markup(path), re.IGNORECASE), TEMPLATES) == {}


def test_templates_are_short() -> None:
    def too_long(path: Path) -> list[str]:
        limit = 60 if path.name.startswith("_") else 120
        lines = len(path.read_text().splitlines())
        return [f"{lines} lines, {limit} at most"] if lines > limit else []

    assert at_fault(too_long, TEMPLATES) == {}


def test_blocks_are_closed_by_name() -> None:
    assert at_fault(lambda path: re.findall(r"{%\s*endblock\s*%}", path.read_text()), TEMPLATES) == {}


def test_sheets_use_only_defined_tokens() -> None:
    defined = {name for sheet in SHEETS for name in re.findall(r"(--[\w-]+)\s*:", sheet.read_text())}
    assert at_fault(lambda path: set(re.findall(r"var\((--[\w-]+)", path.read_text())) - defined, SHEETS) == {}


def test_colours_stand_in_the_tokens_alone() -> None:
    colour = r"#[0-9a-fA-F]{3,8}\b(?![\w-]*\s*{)|\b(?:rgb|hsl|oklch)a?\("
    others = [sheet for sheet in SHEETS if sheet.name != "tokens.css"]
    assert at_fault(lambda path: re.findall(colour, path.read_text()), others) == {}


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write", id="markup from text"),
        pytest.param(r"\beval\(|new Function\(|set(?:Timeout|Interval)\(\s*[\"'`]", id="code from text"),
        pytest.param(r"https?://(?!www\.w3\.org/)", id="address of another host"),
    ],
)
def test_no_script_has(pattern: str) -> None:
    assert at_fault(lambda path: re.findall(pattern, path.read_text()), SCRIPTS) == {}


def test_code_marks_nothing_as_safe_markup() -> None:
    code = [path for tree in ("reviews", "config") for path in sorted((ROOT / tree).rglob("*.py"))]
    assert at_fault(lambda path: re.findall(r"mark_safe|SafeString\(", path.read_text()), code) == {}


WILD = "\0"
"""Stands for what is filled in when a page is made."""


def words_of_templates() -> Iterable[str]:
    for path in TEMPLATES:
        text = re.sub(r"{{.*?}}", WILD, markup(path))
        for attribute in re.findall(r'class="([^"]*(?:{%[^%]*%}[^"]*)*)"', text):
            words = re.sub(r"{%.*?%}", "", re.sub(r"{% el.*?%}", " ", attribute)).split()
            yield from words
            yield from (word[: word.index(WILD) + 1] for word in words if WILD in word)  # the rest may be left out
        yield from re.findall(r'"([\w-]+)"', " ".join(re.findall(r"{%.*?%}", text)))


def words_of_code() -> Iterable[str]:
    code = [*(ROOT / "reviews" / "web").glob("*.py"), *(ROOT / "reviews" / "templatetags").glob("*.py"), *SCRIPTS]
    for path in code:
        for literal in re.findall(r"\"([^\"\n]*)\"|'([^'\n]*)'", path.read_text()):
            yield from re.findall(rf"[\w{WILD}-]+", re.sub(r"{[^}]*}", WILD, "".join(literal)))


def test_sheets_have_no_class_that_no_page_uses() -> None:
    patterns = {word for word in (*words_of_templates(), *words_of_code()) if re.match(r"[a-z]", word)}
    wild = re.compile("|".join(re.escape(word).replace(re.escape(WILD), r"\w+") for word in patterns if WILD in word))

    def unused(path: Path) -> set[str]:
        selectors = re.sub(r"/\*.*?\*/|{[^{}]*}", " ", path.read_text(), flags=re.DOTALL)
        classes = set(re.findall(r"\.([a-zA-Z][\w-]*)", selectors))
        return {name for name in classes if name not in patterns and not wild.fullmatch(name)} - FOREIGN

    assert at_fault(unused, SHEETS) == {}
