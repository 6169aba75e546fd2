"""YAML as tools write it, bounded: plain values only."""

import pytest

from planner.errors import DocumentRefusedError
from planner.importers.loose_yaml import yaml_tree


def test_plain_values_are_read_and_times_stay_text() -> None:
    text = "a: 1\nb: [.inf, 0.5, true, null]\nstart: 2026-03-01T10:00:00Z\nversion: '0.2'\n"
    assert yaml_tree(text) == {
        "a": 1,
        "b": [float("inf"), 0.5, True, None],
        "start": "2026-03-01T10:00:00Z",
        "version": "0.2",
    }


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        pytest.param("a: &x [1]\nb: *x\n", "import/yaml_alias", 1, id="anchor"),
        pytest.param("a: 1\nb: 2\na: 3\n", "import/duplicate_key", 3, id="key twice"),
        pytest.param("a: !!python/object/apply:os.system ['true']\n", "import/syntax", 1, id="tag"),
        pytest.param("a: 1\n---\nb: 2\n", "import/syntax", 2, id="two documents"),
        pytest.param("a: [1\nb: 2\n", "import/syntax", 2, id="not closed"),
        pytest.param("a:\n  " + "[" * 70 + "]" * 70, "import/depth", 2, id="deep"),
        pytest.param("? [1, 2]\n: 3\n", "import/syntax", 1, id="key that is a list"),
    ],
)
def test_other_yaml_is_refused_with_its_line(text: str, code: str, line: int) -> None:
    with pytest.raises(DocumentRefusedError) as refused:
        yaml_tree(text)
    (problem,) = refused.value.problems
    assert (problem.code, problem.line) == (code, line)
