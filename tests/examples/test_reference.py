"""The field reference names every field of the schema, and marks exactly those that are always needed.

Limits of gates stand on the generated page of the gates instead, so that a new gate needs no edit here.
"""

import re
from pathlib import Path
from typing import Any, Literal

import pytest

from planner.schema import document_schema

DOCUMENTS = Path(__file__).parents[2] / "docs" / "documents"
KINDS: tuple[Literal["contract", "evidence"], ...] = ("contract", "evidence")
ROW = re.compile(r"^\| `(\w+)` \| ([^|]*)\|", re.M)


def documented(kind: str) -> dict[str, dict[str, bool]]:
    """Map each record that has a heading to its fields and whether each is marked as always needed."""
    found: dict[str, dict[str, bool]] = {}
    for section in re.split(r"^#{2,3} ", (DOCUMENTS / f"{kind}.md").read_text(encoding="utf-8"), flags=re.M)[1:]:
        rows = {name: needed.strip() == "yes" for name, needed in ROW.findall(section)}
        names = section.split("\n", 1)[0].split(" (")[0]
        found |= {name: rows for name in names.split(", ") if rows}
    return found


def described(kind: Literal["contract", "evidence"]) -> dict[str, dict[str, bool]]:
    definitions: dict[str, Any] = document_schema(kind)["$defs"]
    return {
        name: {field: field in record.get("required", ()) for field in record["properties"]}
        for name, record in definitions.items()
        if "properties" in record and not name.endswith("Limit")
    }


@pytest.mark.parametrize("kind", KINDS)
def test_reference_has_the_fields_of_the_schema(kind: Literal["contract", "evidence"]) -> None:
    assert documented(kind) == described(kind)
