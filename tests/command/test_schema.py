"""``topogate schema``: the JSON Schema as a file."""

import json

import pytest

from planner.command import main
from planner.schema import KINDS, document_schema


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_schema_is_printed(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", kind]) == 0
    assert json.loads(capsys.readouterr().out) == document_schema(kind)  # type: ignore[arg-type]  # a key of KINDS


def test_another_kind_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "sign-off"]) == 2
    assert "invalid choice: 'sign-off'" in capsys.readouterr().err
