"""Coverage: which cells evidence measures, what lacks in the others, and which trials are no candidate."""

import json
from typing import Any

import pytest

from planner.intake import read_evidence
from planner.matrix import benchmark_matrix
from planner.records.matrix import Cell, Matrix
from tests.planner.documents import Change, changed, contract, example, raw

TRIALS = "/trials"


def told(name: str, *changes: Change) -> Matrix:
    """Return the matrix of an example with its evidence, changed."""
    document = contract(name=name)
    evidence = changed(example(name, "evidence"), *changes)
    return benchmark_matrix(document, read_evidence(raw(evidence), document))


def cell(matrix: Matrix, candidate: str, run: str) -> Cell:
    return next(each for each in matrix.cells if (each.candidate, each.run) == (candidate, run))


def first_trial(name: str) -> tuple[str, dict[str, Any]]:
    trials = example(name, "evidence")["trials"]
    trial = sorted(trials)[0]
    return trial, trials[trial]


@pytest.fixture(scope="module")
def worked() -> Matrix:
    return told("worked")


def test_a_trial_covers_the_candidate_of_its_degrees(worked: Matrix) -> None:
    covered = {each.candidate for each in worked.cells if each.trials}
    names = {
        f"tp{at['tp']}-pp{at['pp']}-ep{at['ep']}-dp{at['dp']}"
        for trial in example("worked", "evidence")["trials"].values()
        for at in (trial["topology"]["instances"][0],)
    }
    assert covered == names & set(worked.candidates)
    assert covered


def test_without_a_trial_a_cell_is_not_measured_and_says_so(worked: Matrix) -> None:
    found = cell(worked, next(iter(worked.candidates)), "saturated")
    assert (found.state, found.trials, found.lacks) == ("not_measured", (), ("No trial has this topology.",))


def test_the_meter_counts_every_cell_once(worked: Matrix) -> None:
    coverage = worked.coverage
    assert coverage is not None
    total = coverage.all
    assert total.measured + total.partly + total.not_measured == len(worked.cells)
    assert total.measured >= coverage.advised.measured > 0


def test_fewer_windows_than_asked_for_are_partly_measured(worked: Matrix) -> None:
    states = {each.run: each for each in worked.cells if each.trials}
    short = [each for each in states.values() if any("windows." in text for text in each.lacks)]
    assert all(each.state == "partly" for each in short)


def test_a_window_of_another_point_measures_nothing_of_this_one(worked: Matrix) -> None:
    names = {each.candidate for each in worked.cells if each.trials}
    candidate = sorted(names)[0]
    evidence = example("worked", "evidence")
    changes: list[Change] = []
    for trial, body in evidence["trials"].items():
        kept = {key: window for key, window in body["windows"].items() if window["load_point"] != "single"}
        changes.append((f"{TRIALS}/{trial}/windows", kept))
    found = cell(told("worked", *changes), candidate, "single")
    assert found.state == "not_measured"
    assert found.lacks == ("No counted window at single.",)


def test_a_trial_that_is_no_candidate_is_named() -> None:
    evidence = example("worked", "evidence")
    trial, body = first_trial("worked")
    degrees = body["topology"]["instances"][0]
    matrix = told("worked")
    name = f"tp{degrees['tp']}-pp{degrees['pp']}-ep{degrees['ep']}-dp{degrees['dp']}"
    assert matrix.coverage is not None
    assert set(matrix.coverage.unmatched) <= set(evidence["trials"])
    assert (trial in matrix.coverage.unmatched) is (name not in matrix.candidates)


def test_coverage_says_nothing_of_values() -> None:
    """The same cells are measured whether a limit holds or not."""
    before = told("worked")
    floors = json.loads(json.dumps(example("worked", "evidence")))
    changes: list[Change] = [
        (f"{TRIALS}/{trial}/windows/{window}/load/output_tokens_total", 1)
        for trial, body in floors["trials"].items()
        for window, record in body["windows"].items()
        if "output_tokens_total" in record.get("load", {})
    ]
    after = told("worked", *changes)
    assert [each.state for each in after.cells] == [each.state for each in before.cells]


def test_candidates_and_runs_do_not_depend_on_evidence(worked: Matrix) -> None:
    bare = benchmark_matrix(contract(name="worked"))
    assert (bare.candidates, bare.runs, bare.excluded) == (worked.candidates, worked.runs, worked.excluded)
    assert all(each.state is None for each in bare.cells)
