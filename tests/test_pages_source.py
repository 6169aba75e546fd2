"""What the sources of the pages must not contain: the Content-Security-Policy would refuse it, or hide a mistake."""

import re
from pathlib import Path

import pytest

from tests.shared import ROOT

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SHEETS = sorted((ROOT / "static").rglob("*.css"))
SCRIPTS = sorted((ROOT / "static").rglob("*.js"))
COMMENT = re.compile(r"{#.*?#}|{% comment %}.*?{% endcomment %}|<!--.*?-->", re.DOTALL)


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def markup(path: Path) -> str:
    return COMMENT.sub("", path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=shown)
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
def test_template_has_no(path: Path, pattern: str) -> None:
    assert re.findall(pattern, markup(path), re.IGNORECASE) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=shown)
def test_template_is_short(path: Path) -> None:
    limit = 60 if path.name.startswith("_") else 120
    assert len(path.read_text().splitlines()) <= limit


@pytest.mark.parametrize("path", TEMPLATES, ids=shown)
def test_blocks_are_closed_by_name(path: Path) -> None:
    assert re.findall(r"{%\s*endblock\s*%}", path.read_text()) == []


@pytest.mark.parametrize("path", SHEETS, ids=shown)
def test_sheet_uses_only_defined_tokens(path: Path) -> None:
    defined = {name for sheet in SHEETS for name in re.findall(r"(--[\w-]+)\s*:", sheet.read_text())}
    assert set(re.findall(r"var\((--[\w-]+)", path.read_text())) - defined == set()


@pytest.mark.parametrize("path", [sheet for sheet in SHEETS if sheet.name != "tokens.css"], ids=shown)
def test_colours_stand_in_the_tokens_alone(path: Path) -> None:
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?![\w-]*\s*{)|\b(?:rgb|hsl|oklch)a?\(", path.read_text()) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=shown)
@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write", id="markup from text"),
        pytest.param(r"\beval\(|new Function\(|set(?:Timeout|Interval)\(\s*[\"'`]", id="code from text"),
        pytest.param(r"https?://(?!www\.w3\.org/)", id="address of another host"),
    ],
)
def test_script_has_no(path: Path, pattern: str) -> None:
    assert re.findall(pattern, path.read_text()) == []


def test_code_marks_nothing_as_safe_markup() -> None:
    trusting = [
        shown(path)
        for tree in ("reviews", "config")
        for path in sorted((ROOT / tree).rglob("*.py"))
        if "mark_safe" in path.read_text()
    ]
    assert trusting == []
