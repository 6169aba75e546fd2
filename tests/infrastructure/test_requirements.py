"""What is installed is pinned by hash, and nothing says where it comes from."""

import re
import tomllib

import pytest

from tests.shared import ROOT

FILES = ("build.txt", "runtime.txt", "dev.txt")
# The oldest version without a published weakness that this application would have.
FLOORS = {"django": (5, 2, 19), "djangorestframework": (3, 18, 3)}


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[[^]]*\])?==([^\s;]+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_pinned_by_hash(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    blocks = re.split(r"\n(?=[a-z])", text)
    assert [block.splitlines()[0] for block in blocks if "==" not in block or "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("name", FILES)
def test_no_requirement_names_an_address(name: str) -> None:
    assert re.findall(r"https?://|file:|--(?:extra-)?index-url|@ ", (ROOT / "requirements" / name).read_text()) == []


def test_development_has_exactly_what_runs() -> None:
    runtime = pins("runtime.txt")
    assert {name: version for name, version in pins("dev.txt").items() if name in runtime} == runtime


@pytest.mark.parametrize(("package", "floor"), FLOORS.items(), ids=FLOORS)
def test_package_with_published_weaknesses_is_new_enough(package: str, floor: tuple[int, ...]) -> None:
    assert tuple(int(part) for part in pins("runtime.txt")[package].split(".")) >= floor


def test_every_direct_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {re.split(r"[\[<>=]", text)[0].lower() for text in project["project"]["dependencies"]}
    assert wanted - set(pins("runtime.txt")) == set()
