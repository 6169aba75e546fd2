"""The documentation against the tree: where links lead, and that nothing which the code can say or read is left out."""

import re
from pathlib import Path

import pytest

from tests.shared import ROOT

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as a forge makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def leads_somewhere(page: Path, target: str, anchor: str) -> bool:
    place = (page.parent / target).resolve() if target else page
    return place.exists() and (not anchor or anchor in anchors(place))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert [found for found in LINK.findall(page.read_text()) if not leads_somewhere(page, *found)] == []


def test_every_code_of_a_request_is_documented() -> None:
    source = "".join(path.read_text() for path in (ROOT / "reviews").rglob("*.py"))
    codes = set(re.findall(r'"(request/[a-z_]+)"', source))
    documented = set(re.findall(r"`(request/[a-z_]+)`", (ROOT / "docs/reference/api.md").read_text()))
    assert len(codes) > 20
    assert codes - documented == set()


def test_every_setting_is_documented() -> None:
    source = "".join(path.read_text() for path in (ROOT / "config").glob("*settings.py"))
    read = set(re.findall(r'\b(?:env(?:\.\w+)?|switch|seconds|days|mebibytes|hour|mail_server)\("([A-Z_]+)"', source))
    documented = set(re.findall(r"`([A-Z_]+)`", (ROOT / "docs/operator-guide.md").read_text()))
    assert len(read) > 20
    assert read - documented == set()
