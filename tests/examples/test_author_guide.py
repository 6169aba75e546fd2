"""The author guide builds exactly the minimal example."""

import json
import re
from pathlib import Path

import pytest

from tests.examples.readme import EXAMPLES

GUIDE = Path(__file__).parents[2] / "docs" / "author-guide.md"


@pytest.mark.parametrize("name", ["contract", "evidence"])
def test_pieces_of_the_guide_make_the_minimal_document(name: str) -> None:
    part = re.split(r"^## The ", GUIDE.read_text(encoding="utf-8"), flags=re.M)
    (chapter,) = [text for text in part if text.startswith(f"{name}\n")]
    pieces = re.findall(r"^```json\n(.*?)^```", chapter, re.M | re.S)
    assert json.loads("".join(pieces)) == json.loads((EXAMPLES / "minimal" / f"{name}.json").read_bytes())
