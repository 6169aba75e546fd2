"""Drafts as JSON, files as they are read, the questions that a draft asks."""

import json
from typing import Any

import pytest

from planner.builder import draft_bytes, file_id, file_of, new_draft, read_draft, run_of
from planner.builder.times import moment_of
from planner.canonical import file_sha256
from planner.errors import DocumentRefusedError
from tests.planner.builder.kit import FILES, bench, completed, contract, drafted, log, looked_at, read, run_named
from tests.planner.importers.test_predictions import ROW


def problems(raw: bytes) -> list[tuple[str, str]]:
    with pytest.raises(DocumentRefusedError) as caught:
        read_draft(raw)
    return [(problem.code, problem.pointer) for problem in caught.value.problems]


def test_a_draft_reads_back_as_it_was_written() -> None:
    draft = completed(drafted())
    raw = draft_bytes(draft)
    assert draft_bytes(read_draft(raw)) == raw
    assert read_draft(draft_bytes(new_draft(contract()))) == new_draft(contract())


def test_a_draft_is_read_strictly() -> None:
    tree: Any = json.loads(draft_bytes(drafted()))
    own = next(iter(tree["files"]))
    wrong = {
        **tree,
        "speed": 1,
        "files": {**tree["files"], "0" * 16: tree["files"][own]},
        "trials": {"t": {"windows": {}, "runs": [f"{own}.9"], "why": ""}},
        "left_out": {f"{own}.1": {"by": "A name", "because": ""}},
    }
    assert sorted(problems(json.dumps(wrong).encode())) == sorted(
        [
            ("document/key", f"/files/{'0' * 16}"),
            ("document/length", f"/left_out/{own}.1/because"),
            ("document/pattern", f"/left_out/{own}.1/by"),
            ("document/unknown_field", "/speed"),
            ("document/unknown_reference", "/trials/t/runs/0"),
        ]
    )
    twice = draft_bytes(new_draft(contract())).replace(b'"revision":1', b'"revision":1,"revision":2')
    assert problems(twice) == [("json/duplicate_key", "/revision")]


def test_a_file_is_known_by_its_bytes() -> None:
    file = read(bench(), "/home/ann/results/run.json")
    raw = json.dumps(bench()).encode()
    assert (file.name, file.sha256, file.bytes) == ("run.json", file_sha256(raw), len(raw))
    assert file_id(file.sha256) == file.sha256[7:23]
    draft = drafted({"a.log": log(2)})
    run = run_named(draft, "a.log")
    assert (file_of(draft, run).name, run_of(draft, run).id) == ("a.log", draft.files[run[:16]].runs[0].id)


def test_a_name_loses_what_no_document_may_hold() -> None:
    assert read(bench(), "a\u202e\x00b\udcff.json").name == "a  b?.json"
    assert len(read(bench(), "n" * 999).name) <= 256


def test_a_file_that_nothing_reads_feeds_nothing_and_says_why() -> None:
    draft = drafted({"notes.txt": "what we did today"})
    (file,) = draft.files.values()
    assert (file.recognised, file.runs, draft.trials) == (False, (), {})
    assert [problem.code for problem in file.problems] == ["import/format"]


def test_numbers_beyond_what_json_holds_are_left_out_and_named() -> None:
    file = read(bench(total_input_tokens=2**55))
    assert "input_tokens_total" not in [value.name for value in file.runs[0].values]
    assert [remark.sentence for remark in file.runs[0].remarks if remark.code == "import/range"] == [
        "left out, beyond 2^53: input_tokens_total"
    ]


def test_questions_ask_what_no_file_says() -> None:
    asked = {question.field: question for question in looked_at(drafted()).questions}
    needed = {field for field, question in asked.items() if question.needed}
    assert needed == {
        "/provenance/collected_by",
        "/provenance/collected_at",
        "/provenance/tool/version",
        *(
            f"/trials/{trial}{field}"
            for trial in ("tp2", "tp4")
            for field in (
                *("/same_run", "/rank_map", "/device_names"),
                *(
                    f"/windows/{window}/{name}"
                    for window in ("saturated", "single")
                    for name in ("purpose", "start", "end")
                ),
            )
        ),
        *(f"/identities/{trial}/model/revision" for trial in ("tp2", "tp4")),
        *(f"/identities/{trial}/workload/prefix_cache/state" for trial in ("tp2", "tp4")),
    }
    revision = asked["/identities/tp2/model/revision"]
    assert (revision.group, revision.trial, revision.kind) == ("model", "tp2", "text")
    assert revision.answer_at == ("/identities/tp2/model/revision", "/identities/*/model/revision")
    assert "/identities/tp2/model/layers" not in asked


def test_a_hint_of_a_file_is_proposed_before_the_contracts_value() -> None:
    asked = {question.field: question for question in looked_at(drafted()).questions}
    state = asked["/identities/tp2/workload/prefix_cache/state"]
    assert [(proposal.value, proposal.run is None) for proposal in state.proposals] == [("off", False), ("off", True)]


def test_a_local_time_is_proposed_as_utc() -> None:
    asked = {question.field: question for question in looked_at(drafted()).questions}
    start, end = (asked[f"/trials/tp2/windows/saturated/{name}"].proposals[0] for name in ("start", "end"))
    assert (start.value, end.value) == ("2026-03-01T10:14:10Z", "2026-03-01T10:15:00Z")
    assert end.sentence == "the file's local time as the end, taken as UTC: its zone is not in the file"


def test_degrees_that_no_file_states_are_proposed_from_the_name() -> None:
    draft = drafted({"tp2_pp2.json": bench()})
    asked = {question.field: question for question in looked_at(draft).questions}
    (instances,) = [question for field, question in asked.items() if field.endswith("/topology/instances")]
    assert instances.kind == "instances"
    assert instances.proposals[0].value == [{"tp": 2, "pp": 2, "ep": 1, "dp": 1, "world_size": 4}]


def test_an_importers_question_that_nothing_else_asks_is_asked() -> None:
    asked = [question for question in looked_at(drafted()).questions if question.group == "asked"]
    assert "/identities/tp2/stack/driver/version" in [question.field for question in asked]
    assert not any(question.needed for question in asked)


def test_a_device_is_named_by_its_number_where_one_node_can_be_meant() -> None:
    asked = {question.field: question for question in looked_at(drafted()).questions}
    names = asked["/trials/tp4/device_names"]
    assert names.rows == ("gpu-0", "gpu-1", "gpu-2", "gpu-3")
    assert names.proposals[0].value == {f"gpu-{index}": f"a{index}" for index in range(4)}


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("20260301-101500", "2026-03-01 10:15:00"),
        ("2026-03-01T10:15:00.123", "2026-03-01 10:15:00"),
        ("2026/03/01 10:15:00.9", "2026-03-01 10:15:00"),
        ("20261301-101500", None),
        ("03-01 10:15:00", None),
        ("19700101-000000", None),
        ("", None),
    ],
)
def test_a_local_time_is_read_as_far_as_it_goes(text: str, moment: str | None) -> None:
    found = moment_of(text)
    assert (None if found is None else str(found)) == moment


def test_what_a_model_predicts_stands_beside() -> None:
    draft = drafted({**FILES, "predicted.json": ROW})
    state = looked_at(draft)
    assert {prediction.file for prediction in state.predictions} == {"predicted.json"}
    assert 471.5 in [prediction.value.value for prediction in state.predictions]
    assert draft.trials == drafted().trials
    assert [note.file for note in state.refused] == ["predicted.json"]


@pytest.mark.parametrize("number", ["0", "01", "10", "9" * 5000, "²", "-1", ""])
def test_a_run_has_one_id(number: str) -> None:
    draft = drafted({"a.log": log(2)})
    with pytest.raises(DocumentRefusedError) as caught:
        run_of(draft, f"{run_named(draft, 'a.log').partition('.')[0]}.{number}")
    assert [problem.expected for problem in caught.value.problems] == ["a run of the draft"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"": 1}, [("builder/field", "/answers//value"), ("document/key", "/answers/")]),
        ({"/trials/t/topology/instances": 1}, [("document/type", "/answers/~1trials~1t~1topology~1instances/value")]),
        ({"/trials/t/speed": 1}, [("builder/field", "/answers/~1trials~1t~1speed/value")]),
    ],
    ids=["no field", "another type", "no field of a document"],
)
def test_an_answer_that_its_field_does_not_take_is_no_part_of_a_draft(
    said: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    tree = json.loads(draft_bytes(new_draft(contract())))
    tree["answers"] = {at: {"value": value, "by": "user-7"} for at, value in said.items()}
    assert sorted(problems(json.dumps(tree).encode())) == expected
