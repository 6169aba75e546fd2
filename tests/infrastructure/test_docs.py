"""The documentation names what exists: files, settings, targets, commands."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.shared import ROOT

PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
    *sorted((ROOT / "bench").glob("*.md")),
]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# Read by gunicorn's own file and by commands of the suite, not by the application.
NOT_SETTINGS = {"WEB_BIND", "WEB_WORKERS", "WEB_THREADS"}


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as they are made of their words."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text()):
        if re.match(r"https?://|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_named_targets_and_commands_exist(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = page.read_text()
    assert set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE)) - targets == set()
    assert set(re.findall(r"manage\.py ([a-z_]+)", text)) - set(get_commands()) == set()


def test_operator_guide_lists_exactly_the_settings_that_are_read() -> None:
    guide = (ROOT / "docs" / "operator-guide.md").read_text()
    table = guide.split("## Settings", 1)[1].split("\n## ", 1)[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    modules = ("settings", "account_settings", "environment")
    settings = "\n".join((ROOT / "config" / f"{name}.py").read_text() for name in modules)
    readers = r"env\.\w+|switch|seconds|days|mebibytes|hour|mail_server|http_proxy"
    read = set(re.findall(rf'\b(?:{readers})\(\s*"([A-Z_]+)"', settings))
    assert listed - NOT_SETTINGS == read


def test_every_record_of_a_decision_is_listed() -> None:
    folder = ROOT / "docs" / "adr"
    listed = set(LINK.findall((folder / "README.md").read_text()))
    assert listed == {path.name for path in folder.glob("0*.md")}
