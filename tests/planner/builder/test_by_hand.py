"""What gates lack and no file brings is asked of a person, in words that one answer may do for."""

import pytest

from planner.builder import answer, unanswer
from planner.builder.coverage import _spelled
from planner.builder.questions import _asked_of
from planner.builder.state import DraftState, Question
from tests.planner.builder.kit import BY, bench, completed, contract, drafted, log, looked_at

WINDOW = "/trials/tp2/windows/saturated"
EVERY = "/trials/*/windows/*/load/longest_sequence_tokens"


def question(state: DraftState, field: str) -> Question:
    return next(one for one in state.questions if one.field == field)


def test_a_reading_that_no_file_brings_is_asked_with_the_gates_that_lack_it() -> None:
    asked = question(looked_at(completed(drafted())), f"{WINDOW}/load/longest_sequence_tokens")
    assert (asked.kind, asked.unit, asked.needed, asked.group) == ("count", "tokens", False, "asked")
    assert asked.gates == ("Every reading that decides is recorded", "Every rank keeps its memory reserve")
    assert asked.answer_at[-1] == EVERY


def test_coverage_says_that_a_person_may_say_it() -> None:
    state = looked_at(completed(drafted()))
    lacks = [lack for trial in state.coverage for gate in trial.gates for lack in gate.lacks]
    assert {lack.asked for lack in lacks if lack.field.endswith("longest_sequence_tokens")} == {True}


def test_an_answer_stays_a_question_that_can_be_taken_back() -> None:
    draft = answer(completed(drafted()), contract(), EVERY, 2048, by=BY)
    said = question(looked_at(draft), f"{WINDOW}/load/longest_sequence_tokens")
    assert (said.answered, said.answer, said.gates) == (EVERY, 2048, ())
    assert question(looked_at(unanswer(draft, EVERY)), said.field).answered is None


def test_what_files_of_a_known_kind_hold_is_not_asked() -> None:
    state = looked_at(completed(drafted({"tp2.log": log(2), "c64.json": bench(64)})))
    asked = [one.field for one in state.questions if one.group == "asked"]
    assert not [field for field in asked if "/ttft_ms/" in field or "/replicas" in field]


def test_names_of_devices_are_asked_by_the_gates_that_lack_what_files_say_of_devices() -> None:
    asked = question(looked_at(drafted()), "/trials/tp2/device_names")
    assert "What ran is what the contract names" in asked.gates


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("hardware", "devices", "a0", "memory_bytes"), "How many bytes of memory had the device?"),
        (("hardware", "links", "l0", "class"), "Of which class was the link?"),
        (("hardware", "nics", "n0", "firmware"), "What was firmware of the NIC really?"),
        (("workload", "name"), "What was workload.name really?"),
    ],
)
def test_hardware_is_asked_in_the_same_words_of_every_thing(path: tuple[str, ...], text: str) -> None:
    assert _asked_of(path) == text


@pytest.mark.parametrize(
    ("one", "other", "is_spelling"),
    [
        ("openai/gpt-oss-120b", "openai--gpt-oss-120b", True),
        ("NVIDIA H200", "nvidia-h200", True),
        ("openai/gpt-oss-120b", "openai/gpt-oss-20b", False),
        (1, "1", False),
    ],
)
def test_a_folder_writes_the_name_of_a_model_with_dashes(one: object, other: object, is_spelling: bool) -> None:
    assert _spelled(one, other) is is_spelling
