"""Sorting uploaded files, and the rows of what is wrong."""

import json

import pytest

from reviews.errors import Finding
from reviews.web.intake_rows import KEEP_UP_TO, Given, kept_text, problem_rows, sort_files, trial_rows
from reviews.web.source_lines import MAX_BYTES, excerpt, line_of
from tests.web.plans import DOCUMENTS, example_documents

CONTRACT = Given(b'{"schema": "topogate.contract/v1"}', "b.json")
EVIDENCE = Given(b'{"slot": 1, "schema": "topogate.evidence/v1"}', "a.json")


def test_files_are_sorted_by_schema_not_by_name_or_order() -> None:
    found = sort_files([EVIDENCE, CONTRACT], "", "")
    assert (found.contract, found.evidence, found.problems) == (CONTRACT, EVIDENCE, ())


def test_pasted_text_takes_its_place_and_a_file_wins_over_it() -> None:
    found = sort_files([CONTRACT], "pasted contract", "pasted evidence")
    assert (found.contract, found.evidence, found.problems) == (CONTRACT, Given(b"pasted evidence", ""), ())


def test_pasted_text_has_the_line_ends_of_the_file_it_came_from() -> None:
    found = sort_files([EVIDENCE], "{\r\n}\r\n", "")
    assert found.contract == Given(b"{\n}\n", "")


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'{"a":' * 20_000, id="nested deeper than any reader goes"),
        pytest.param(b"{not json", id="no JSON"),
        pytest.param(b'{"schema": "topogate.plan/v1"}', id="another schema"),
        pytest.param(b'{"schema": 7}', id="a schema that is no text"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b"\xff\xfe", id="no text"),
    ],
)
def test_a_file_that_is_not_recognised_takes_the_place_that_is_left(data: bytes) -> None:
    found = sort_files([Given(data, "x.json"), CONTRACT], "", "")
    assert (found.contract, found.evidence, found.problems) == (CONTRACT, Given(data, "x.json"), ())


def test_two_files_of_one_kind_are_a_problem_that_names_both() -> None:
    problems = sort_files([CONTRACT, Given(CONTRACT.data, "c.json"), EVIDENCE], "", "").problems
    assert problems == (Finding("request", "request/files", "c.json", "one contract", "a second one beside b.json"),)


def test_a_third_file_of_no_kind_is_a_problem() -> None:
    problems = sort_files([CONTRACT, EVIDENCE, Given(b"hello", "notes.txt")], "", "").problems
    assert problems == (
        Finding(
            "request",
            "request/files",
            "notes.txt",
            "topogate.contract/v1 or topogate.evidence/v1",
            "another schema, or no JSON",
        ),
    )


def test_what_is_missing_is_named() -> None:
    found = sort_files([], "  ", "")
    assert [problem.pointer for problem in found.lacking] == ["contract", "evidence"]
    assert found.problems == ()


def test_small_files_go_back_into_their_field_and_large_ones_do_not() -> None:
    assert (kept_text(Given(b"{}", "a")), kept_text(Given(b"x" * (KEEP_UP_TO + 1), "a")), kept_text(None)) == (
        "{}",
        "",
        "",
    )


def test_a_problem_has_document_line_pointer_expected_found_and_source() -> None:
    given = Given(b'{\n "slot": 7,\n "owner": "me"\n}', "c.json")
    finding = Finding("contract", "document/wrong_type", "/slot", "text", "7")
    row = problem_rows([finding], given, None)[0]
    assert (row.title, row.where, row.expected, row.found, row.code) == (
        "Wrong type",
        "contract c.json line 2 · /slot",
        "text",
        "7",
        "document/wrong_type",
    )
    assert row.source is not None
    assert [(line.number, line.text, line.is_bad) for line in row.source.lines] == [
        (1, "{", False),
        (2, ' "slot": 7,', True),
        (3, ' "owner": "me"', False),
    ]


def test_a_problem_of_the_bytes_uses_its_own_line() -> None:
    finding = Finding("evidence", "json/syntax", "", "a value", "}", line=3, column=1)
    row = problem_rows([finding], None, Given(b'{\n"a":\n}', ""))[0]
    assert (row.where, row.source and row.source.line) == ("evidence line 3 · /", 3)


TEXT = '{\n "a": {\n  "b": [1,\n   {"c/d": true}\n  ]\n },\n "e": "}{,"\n}'


@pytest.mark.parametrize(
    ("pointer", "line"),
    [
        ("/a", 2),
        ("/a/b", 3),
        ("/a/b/0", 3),
        ("/a/b/1", 4),
        ("/a/b/1/c~1d", 4),
        ("/e", 7),
        pytest.param("/a/zzz", 2, id="the nearest parent that is there"),
        pytest.param("/zzz", None, id="nothing of it is there"),
    ],
)
def test_line_of_a_pointer(pointer: str, line: int | None) -> None:
    assert line_of(TEXT, pointer) == line


@pytest.mark.parametrize("text", ["}}}", "[[[", ',,":', '{"a":{"b":[1,{"c":', "", '"', "\\"])
def test_broken_text_never_raises(text: str) -> None:
    assert line_of(text, "/a/b/1/c") in (None, 1)


def test_very_large_documents_get_no_excerpt() -> None:
    assert excerpt(b'{"a": 1}' + b" " * MAX_BYTES, "/a", None) is None


def test_a_long_line_is_cut() -> None:
    found = excerpt(json.dumps({"a": "x" * 5000}).encode(), "/a", None)
    assert found is not None
    assert len(found.lines[0].text) == 160


def test_trials_are_shown_as_the_planner_reads_them() -> None:
    rows = trial_rows(example_documents("worked")[1])
    assert [(row.trial, row.topology, row.layout, row.ranks, row.windows, row.load_points) for row in rows] == [
        ("t-base-16", "tp4-pp2-ep2-dp1", "closed", 16, "3 of 4 windows counted", "saturated and single"),
        ("t-one-node", "tp4-pp1-ep2-dp1", "closed", 8, "3 of 4 windows counted", "saturated and single"),
        ("t-wide-16", "tp8-pp1-ep2-dp1", "closed", 16, "3 of 4 windows counted", "saturated and single"),
    ]


def test_a_problem_of_a_document_that_was_taken_over_leads_to_it() -> None:
    binding = Finding("evidence", "document/other_contract", "/contract_content_id", "a", "b")
    given = Given(b"{}", "evidence.json")
    assert problem_rows([binding], None, None, DOCUMENTS)[0].href == (
        "/documents/evidence/?revision=1&at=/contract_content_id#here"
    )
    assert [problem_rows([binding], None, *of)[0].href for of in ((given, DOCUMENTS), (None, None))] == ["", ""]
