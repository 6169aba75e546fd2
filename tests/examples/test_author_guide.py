"""The author guide builds exactly the minimal example, and its commands work on it."""

import json
import re
import shlex
from pathlib import Path

import pytest

from planner.command import main
from tests.examples.readme import EXAMPLES

GUIDE = Path(__file__).parents[2] / "docs" / "author-guide.md"


@pytest.mark.parametrize("name", ["contract", "evidence"])
def test_pieces_of_the_guide_make_the_minimal_document(name: str) -> None:
    part = re.split(r"^## The ", GUIDE.read_text(encoding="utf-8"), flags=re.M)
    (chapter,) = [text for text in part if text.startswith(f"{name}\n")]
    pieces = re.findall(r"^```json\n(.*?)^```", chapter, re.M | re.S)
    assert json.loads("".join(pieces)) == json.loads((EXAMPLES / "minimal" / f"{name}.json").read_bytes())


def test_commands_of_the_guide_work_on_the_minimal_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES / "minimal")
    (listed,) = re.findall(r"^```\n(topogate validate.*?)^```", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    commands = [shlex.split(line, comments=True)[1:] for line in listed.splitlines()]
    assert {" ".join(command): main(command) for command in commands} == {" ".join(command): 0 for command in commands}
