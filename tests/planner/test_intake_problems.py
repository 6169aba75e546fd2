"""What a problem says: words, place, order, and how many."""

import json
import re
from pathlib import Path

import pytest

from planner.intake import judge, read_contract, read_evidence
from planner.intake.opening import MAX_PROBLEMS
from planner.problem_codes import PROBLEM_CODES, codes_table
from planner.shown import shown
from tests.planner.documents import ABSENT, Change, changed, example, findings, problems_of, raw

ROOT = Path(__file__).parents[2]
WORKED = example("worked", "contract")
AN_ID = "an id: 1 to 64 of a-z, 0-9, '.', '_', '-', first a letter or digit"


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        pytest.param(
            ("/identity/model/layers", "12"),
            ("document/type", "/identity/model/layers", "an integer of at least 1", '"12" (text)'),
            id="text for a count",
        ),
        pytest.param(
            ("/identity/model/layers", 12.0),
            (
                "document/type",
                "/identity/model/layers",
                "an integer of at least 1",
                "12.0 (a number with a point or exponent)",
            ),
            id="decimal for a count",
        ),
        pytest.param(
            ("/identity/model/layers", True),
            ("document/type", "/identity/model/layers", "an integer of at least 1", "true (true or false)"),
            id="boolean for a count",
        ),
        pytest.param(
            ("/identity/model/layers", 0),
            ("document/range", "/identity/model/layers", "an integer of at least 1", "0"),
            id="count out of range",
        ),
        pytest.param(
            ("/identity/model/layers", ABSENT),
            ("document/missing_field", "/identity/model/layers", "an integer of at least 1", "nothing"),
            id="count that is absent",
        ),
        pytest.param(
            ("/headroom/bandwidth/reserved_share", 1.5),
            ("document/range", "/headroom/bandwidth/reserved_share", "a number from 0 to 1", "1.5"),
            id="share above one",
        ),
        pytest.param(
            ("/identity/model/architecture", "sparse"),
            ("document/enumeration", "/identity/model/architecture", 'one of "dense", "moe"', '"sparse"'),
            id="word that is not allowed",
        ),
        pytest.param(
            ("/illustrative", False),
            ("document/enumeration", "/illustrative", "true", "false"),
            id="the only value",
        ),
        pytest.param(
            ("/identity/workload/dataset_digest", "sha256:XYZ"),
            (
                "document/pattern",
                "/identity/workload/dataset_digest",
                "a digest: sha256: and 64 of 0-9, a-f",
                '"sha256:XYZ"',
            ),
            id="digest of another form",
        ),
        pytest.param(
            ("/identity/workload/speculation", 3),
            (
                "document/type",
                "/identity/workload/speculation",
                "text of 1 to 256 characters, or an object",
                "3 (an integer)",
            ),
            id="one of two types",
        ),
        pytest.param(
            ("/identity/model/adapters", {}),
            ("document/type", "/identity/model/adapters", "an array", "an empty object"),
            id="object for an array",
        ),
        pytest.param(
            ("/identity/telemetry/Load Client", {"name": "x"}),
            ("document/key", "/identity/telemetry/Load Client", AN_ID, '"Load Client"'),
            id="key that is no id",
        ),
        pytest.param(
            ("/identity/model/layer", 12),
            ("document/unknown_field", "/identity/model/layer", "a known field, such as layers", '"layer"'),
            id="unknown field near a known one",
        ),
        pytest.param(
            ("/qqq", 12), ("document/unknown_field", "/qqq", "a known field", '"qqq"'), id="unknown field near none"
        ),
    ],
)
def test_a_problem_names_field_expectation_and_finding(change: Change, finding: tuple[str, str, str, str]) -> None:
    assert findings(read_contract, changed(WORKED, change)) == [finding]


def test_a_missing_value_may_be_null_where_it_was_looked_for() -> None:
    tree = example("minimal", "evidence")
    window = "/trials/t-1/windows/w1"
    assert findings(read_evidence, changed(tree, (f"{window}/load/duration_s", None))) == []
    found = findings(read_evidence, changed(tree, (f"{window}/load/duration_s", "300")))
    assert found == [("document/type", f"{window}/load/duration_s", "a number of at least 0, or null", '"300" (text)')]


def test_problems_come_in_the_order_of_the_text_with_line_and_column() -> None:
    text = b'{"schema": "topogate.contract/v1",\n "slot": "", "nul": "\\u0000",\n\n  "owner": 1e999,\n "gates": {}}'
    places = [(p.code, p.pointer, p.line, p.column) for p in problems_of(read_contract, text)]
    assert places == [
        ("document/missing_field", "/identity", 1, 1),
        ("document/missing_field", "/selection", 1, 1),
        ("document/length", "/slot", 2, 2),
        ("document/nul", "/nul", 2, 14),
        ("document/unknown_field", "/nul", 2, 14),
        ("json/overflow", "/owner", 4, 3),
        ("document/length", "/gates", 5, 2),
    ]


def test_places_follow_escaped_keys_and_array_elements() -> None:
    tree = changed(WORKED, ("/identity/stack/flags", {"a/b~": ["x", "\u202e"]}))
    (problem,) = problems_of(read_contract, json.dumps(tree).replace("\\u202e", "\\u202E").encode())
    assert problem.pointer == "/identity/stack/flags/a~1b~0/1"
    assert problem.line == 1
    assert json.dumps(tree)[(problem.column or 0) - 1 :].startswith('"\\u202e"')


def test_a_document_of_another_kind_has_that_one_problem() -> None:
    assert findings(read_contract, example("minimal", "evidence")) == [
        ("document/schema", "/schema", '"topogate.contract/v1"', '"topogate.evidence/v1"')
    ]
    assert findings(read_evidence, b"[]") == [
        ("document/schema", "", 'an object with "schema": "topogate.evidence/v1"', "an empty array")
    ]


def test_more_than_a_thousand_problems_are_counted_as_one_more() -> None:
    problems = problems_of(read_contract, changed(WORKED, *[(f"/x{number}", 1) for number in range(1500)]))
    assert len(problems) == MAX_PROBLEMS + 1
    assert {problem.code for problem in problems} == {"document/unknown_field", "document/more_problems"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("a\u0000b", "document/nul", id="NUL"),
        pytest.param("a\u202eb", "document/bidi_control", id="right-to-left override"),
        pytest.param("a\u2067b", "document/bidi_control", id="isolate"),
        pytest.param("a\u200fb", "document/bidi_control", id="right-to-left mark"),
        pytest.param("a\u001b[2Jb", "document/control_character", id="terminal escape"),
        pytest.param("a\u007fb", "document/control_character", id="delete"),
        pytest.param("a\u009bb", "document/control_character", id="C1 control"),
    ],
)
def test_characters_that_no_text_may_hold(text: str, code: str) -> None:
    tree = changed(WORKED, ("/owner", text), ("/identity/stack/flags", {text: 1}))
    found = findings(read_contract, json.dumps(tree).encode())
    # Controls below space are written as escapes here too: as bytes they would be no JSON.
    assert findings(read_contract, json.dumps(tree, ensure_ascii=False).encode()) == found
    assert [finding[0] for finding in found] == [code, code]
    assert [finding[1] for finding in found] == ["/owner", f"/identity/stack/flags/{text}"]
    assert all(finding[3].isprintable() for finding in found)


def test_text_of_any_language_is_accepted() -> None:
    tree = changed(
        WORKED, ("/owner", "équipe 服务 команда 👩‍💻"), ("/gates/ttft/single_p95/because", "One.\n\tTwo.\r\n")
    )
    assert findings(read_contract, json.dumps(tree, ensure_ascii=False).encode()) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("a", '"a"', id="text"),
        pytest.param('a"\\\n\u202e\u200b\U0001f600é', '"a\\"\\\\\\n\\u202e\\u200b😀é"', id="unsafe text"),
        pytest.param("x" * 81, '"' + "x" * 78 + "…", id="long text"),
        pytest.param({"a": 1}, "an object", id="object"),
        pytest.param([], "an empty array", id="empty array"),
        pytest.param(1.5, "1.5", id="number"),
        pytest.param(None, "null", id="null"),
    ],
)
def test_found_is_shown_short_and_safe(value: object, text: str) -> None:
    assert shown(value) == text


def test_every_code_in_the_sources_is_documented() -> None:
    sources = [*(ROOT / "planner").rglob("*.py")]
    code = re.compile(r'"((?:json|document|observations|file|hardware|import|builder)/[a-z_]+)"')
    codes = {found for path in sources for found in code.findall(path.read_text())}
    faults = {"document/range", "document/pattern", "document/length", "document/enumeration"}
    assert codes | faults == set(PROBLEM_CODES)


def test_the_documented_table_is_that_of_the_code() -> None:
    assert (ROOT / "docs" / "documents" / "problem-codes.md").read_text().endswith(codes_table())


def test_a_file_of_any_kind_is_judged_without_raising() -> None:
    verdicts = [judge(content) for content in (b"", b"[]", b'{"schema": 1}', raw(WORKED), b"\xff", b'{"a":1,"a":1}')]
    assert [(verdict.kind, verdict.ok, verdict.content_id is None) for verdict in verdicts] == [
        (None, False, True),
        (None, False, False),
        (None, False, False),
        ("contract", True, False),
        (None, False, True),
        (None, False, True),
    ]
