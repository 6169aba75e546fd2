"""For how much a settlement counts, and which questions gates read."""

import pytest

from planner.builder import answer, answering, move_run, settle
from planner.builder.trees import trees_of
from planner.errors import DocumentRefusedError
from tests.planner.builder.kit import BECAUSE, BY, bench, contract, drafted, log, looked_at, run_named

NAME = "/identities/tp2/model/name"
OTHER = "example/model-9b"


def test_a_run_chosen_for_every_trial_stands_for_its_kind_of_file() -> None:
    draft = drafted({"a.log": log(2, model=OTHER), "b.json": bench(), "c.log": log(4, model=OTHER)})
    for trial in ("tp2", "tp4"):
        draft = move_run(draft, run_named(draft, "b.json"), trial=trial, copy=True)
    assert [one.field for one in looked_at(draft).conflicts] == [NAME, NAME.replace("tp2", "tp4")]
    settled = settle(draft, "/identities/*/model/name", by=BY, because=BECAUSE, run=run_named(draft, "a.log"))
    trials = trees_of(settled, contract()).trials
    assert [trials[name].values[NAME.replace("tp2", name)].value for name in ("tp2", "tp4")] == [OTHER, OTHER]
    assert all(one.settled for one in looked_at(settled).conflicts)


def test_files_of_one_kind_that_differ_are_settled_trial_by_trial() -> None:
    draft = drafted({"a.log": log(2, model=OTHER), "b.log": log(2)})
    draft = move_run(draft, run_named(draft, "b.log"), trial="tp2")
    (conflict,) = (one for one in looked_at(draft).conflicts if one.field == NAME)
    assert conflict.settle_at == (NAME, "/identities/tp2/model")


def test_a_question_names_the_gates_that_are_unknown_without_its_answer() -> None:
    asked = {question.field: question for question in looked_at(drafted()).questions}
    assert asked["/identities/tp2/model/revision"].gates == (
        "What ran is what the contract names",
        "The trial gives the service that the contract compares",
    )
    assert asked["/provenance/collected_by"].gates == ()


def test_the_reason_of_a_load_point_is_kept() -> None:
    at = "/trials/tp2/windows/single/load_point"
    said = answer(drafted(), contract(), at, "saturated", by=BY, because=BECAUSE)
    window = said.trials["tp2"].windows["single"]
    assert (window.load_point, window.load_point_by, window.load_point_because) == ("saturated", BY, BECAUSE)


def test_a_draft_holds_a_bounded_number_of_settlements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "MAX_ANSWERS", 1)
    draft = settle(drafted(), NAME, by=BY, because=BECAUSE, value=OTHER)
    again = settle(draft, NAME, by=BY, because="Another reason.", value=OTHER)
    with pytest.raises(DocumentRefusedError) as refused:
        settle(again, "/identities/tp2/model/revision", by=BY, because=BECAUSE, value="r2")
    assert [problem.expected for problem in refused.value.problems] == ["at most 1 settlements in a draft"]
