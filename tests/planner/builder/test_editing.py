"""What a person changes of an arrangement: nothing is lost, and what cannot be done is refused with the reason."""

from collections.abc import Callable

import pytest

from planner.builder import (
    Draft,
    add_files,
    answer,
    decide_held,
    leave_out,
    merge_trials,
    move_run,
    new_draft,
    new_trial,
    new_window,
    remove_file,
    remove_trial,
    remove_window,
    rename_trial,
    rename_window,
    set_load_point,
    settle,
    split_trial,
    take_back,
)
from planner.builder.limits import MAX_FILES, MAX_RUNS, MAX_TRIALS, MAX_VALUES, check_files
from planner.errors import DocumentRefusedError
from tests.planner.builder.kit import (
    BECAUSE,
    BY,
    bench,
    contract,
    drafted,
    log,
    looked_at,
    placed_files,
    read,
    run_named,
)

PURPOSE = "/trials/{}/windows/{}/purpose"


def refusal(change: Callable[[], object]) -> tuple[str, str]:
    """Return code and expectation of the one problem of a refused change."""
    with pytest.raises(DocumentRefusedError) as caught:
        change()
    (problem,) = caught.value.problems
    return problem.code, problem.expected


def purposes(draft: Draft) -> list[str]:
    return sorted(at for at in draft.answers if at.endswith("/purpose"))


def counted(draft: Draft, trial: str, window: str) -> Draft:
    return answer(draft, contract(), PURPOSE.format(trial, window), "counted", by=BY)


def test_a_run_is_moved_from_where_it_was() -> None:
    draft = drafted()
    run = run_named(draft, "tp2_memory.json")
    moved = move_run(draft, run, trial="tp4", window="single")
    assert run not in moved.trials["tp2"].windows["saturated"].runs
    assert moved.trials["tp4"].windows["single"].runs[-1] == run
    assert (moved.arranged, moved.revision) == (True, draft.revision + 1)


def test_a_copied_run_stays_where_it_was() -> None:
    draft = drafted()
    run = run_named(draft, "tp2_memory.json")
    copied = move_run(draft, run, trial="tp4", copy=True)
    assert run in copied.trials["tp2"].windows["saturated"].runs
    assert run in copied.trials["tp4"].runs


def test_a_renamed_trial_keeps_its_answers_and_settlements() -> None:
    draft = counted(drafted(), "tp2", "single")
    draft = settle(draft, "/identities/tp2/precision/weights", by=BY, because=BECAUSE, value="bf16")
    renamed = rename_trial(draft, "tp2", "small")
    assert sorted(renamed.trials) == ["small", "tp4"]
    assert purposes(renamed) == [PURPOSE.format("small", "single")]
    assert list(renamed.settled) == ["/identities/small/precision/weights"]


def test_a_renamed_window_keeps_its_answers() -> None:
    renamed = rename_window(counted(drafted(), "tp2", "single"), "tp2", "single", "idle")
    assert sorted(renamed.trials["tp2"].windows) == ["idle", "saturated"]
    assert purposes(renamed) == [PURPOSE.format("tp2", "idle")]


def test_a_split_takes_windows_and_their_answers_along() -> None:
    draft = split_trial(counted(drafted(), "tp2", "single"), "tp2", ["single"], "apart")
    assert (list(draft.trials["tp2"].windows), list(draft.trials["apart"].windows)) == (["saturated"], ["single"])
    assert draft.trials["apart"].runs == draft.trials["tp2"].runs
    assert purposes(draft) == [PURPOSE.format("apart", "single")]


def test_merged_trials_keep_every_window() -> None:
    draft = merge_trials(counted(drafted(), "tp4", "single"), "tp2", "tp4")
    assert list(draft.trials) == ["tp2"]
    assert sorted(draft.trials["tp2"].windows) == ["saturated", "saturated-2", "single", "single-2"]
    assert purposes(draft) == [PURPOSE.format("tp2", "single-2")]
    assert sorted(placed_files(draft, draft.trials["tp2"].runs)) == ["config.json", "tp2.log", "tp4.log"]


def test_a_removed_trial_leaves_its_runs_unused() -> None:
    draft = remove_trial(counted(drafted(), "tp4", "single"), "tp4")
    assert (list(draft.trials), purposes(draft)) == (["tp2"], [])
    assert {"tp4_single.json", "tp4.log"} <= {note.file for note in looked_at(draft).unused}


def test_a_window_is_made_and_removed() -> None:
    made = new_window(drafted(), contract(), "tp2", "trace", "saturated", by=BY)
    assert made.trials["tp2"].windows["trace"].load_point == "saturated"
    assert made.trials["tp2"].windows["trace"].load_point_by == BY
    removed = remove_window(counted(made, "tp2", "trace"), "tp2", "trace")
    assert (sorted(removed.trials["tp2"].windows), purposes(removed)) == (["saturated", "single"], [])


def test_a_load_point_is_one_of_the_contract() -> None:
    draft = set_load_point(drafted(), contract(), "tp2", "single", "saturated", by=BY)
    assert draft.trials["tp2"].windows["single"].load_point == "saturated"
    asked = answer(drafted(), contract(), "/trials/*/windows/single/load_point", "saturated", by=BY)
    assert {trial.windows["single"].load_point for trial in asked.trials.values()} == {"saturated"}
    refused = refusal(lambda: set_load_point(drafted(), contract(), "tp2", "single", "peak", by=BY))
    assert refused == ("builder/load_point", "a load point of the contract: saturated, single")


def test_a_run_that_is_left_out_says_why_and_can_come_back() -> None:
    draft = drafted()
    run = run_named(draft, "tp2_single.json")
    without = leave_out(draft, run, by=BY, because="Old driver.")
    assert sorted(without.trials["tp2"].windows) == ["saturated"]
    assert [note.sentence for note in looked_at(without).unused] == ["left out: Old driver."]
    assert add_files(without, contract(), [read(log(8), "c.log")]).draft.trials["tp2"] == without.trials["tp2"]
    assert take_back(without, contract(), run).trials == draft.trials


def test_a_removed_file_takes_its_decisions_along() -> None:
    draft = drafted()
    run = run_named(draft, "tp2_single.json")
    removed = remove_file(leave_out(draft, run, by=BY, because=BECAUSE), contract(), run.partition(".")[0])
    assert removed.left_out == {}
    assert "tp2_single.json" not in [file.name for file in removed.files.values()]
    assert sorted(removed.trials["tp2"].windows) == ["saturated"]


def test_only_a_held_run_is_decided() -> None:
    draft = drafted({"a.log": log(2), "tp4.json": bench(), "conc32.json": bench(date="20260301-111500")})
    held = run_named(draft, "conc32.json")
    assert draft.files[held.partition(".")[0]].runs[0].status == "held"
    decided = decide_held(draft, held, use=True, by=BY, because=BECAUSE)
    assert decided.held[held].use is True
    other = run_named(draft, "tp4.json")
    assert refusal(lambda: decide_held(draft, other, use=True, by=BY, because=BECAUSE)) == (
        "builder/held",
        "a run that waits for a person",
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(lambda d: move_run(d, "0" * 16 + ".1", trial="tp2"), "a run of the draft", id="no such run"),
        pytest.param(lambda d: move_run(d, "x", trial="tp2"), "a run of the draft", id="no run at all"),
        pytest.param(lambda d: new_trial(d, "tp2"), "an id that is free", id="trial that is there"),
        pytest.param(lambda d: rename_trial(d, "tp3", "x"), "a trial of the draft", id="no such trial"),
        pytest.param(lambda d: merge_trials(d, "tp2", "tp2"), "another trial", id="merged with itself"),
        pytest.param(lambda d: split_trial(d, "tp2", ["peak"], "x"), "a window of the trial", id="no such window"),
        pytest.param(lambda d: remove_file(d, contract(), "x"), "a file of the draft", id="no such file"),
        pytest.param(lambda d: take_back(d, contract(), "x"), "a run that was left out", id="not left out"),
        pytest.param(
            lambda d: leave_out(d, run_named(d, "tp2.log"), by="A name", because=BECAUSE),
            "an id: 1 to 64 of a-z, 0-9, '.', '_', '-', first a letter or digit",
            id="a name for a label",
        ),
        pytest.param(
            lambda d: leave_out(d, run_named(d, "tp2.log"), by=BY, because=""),
            "text of 1 to 4,096 characters",
            id="no reason",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(change: Callable[[Draft], Draft], expected: str) -> None:
    draft = drafted()
    assert refusal(lambda: change(draft))[1] == expected


def test_a_draft_holds_so_much_and_no_more() -> None:
    files = [read(bench(date=f"2026030{n % 10}-1{n:05d}"), f"{n}.json") for n in range(MAX_FILES + 1)]
    assert refusal(lambda: add_files(new_draft(contract()), contract(), files))[1] == "at most 200 files in a draft"
    draft = drafted({"a.log": log(2)})
    for number in range(MAX_TRIALS - 1):
        draft = new_trial(draft, f"t{number}")
    assert refusal(lambda: new_trial(draft, "one-more"))[1] == "at most 100 trials in a draft"


@pytest.mark.parametrize(
    ("files", "runs", "values", "expected"),
    [
        (MAX_FILES, MAX_RUNS, MAX_VALUES, []),
        (MAX_FILES + 1, MAX_RUNS, MAX_VALUES, ["at most 200 files in a draft"]),
        (1, MAX_RUNS + 1, MAX_VALUES + 1, ["at most 5,000 runs in a draft", "at most 100,000 values in a draft"]),
    ],
)
def test_every_limit_that_is_exceeded_is_named(files: int, runs: int, values: int, expected: list[str]) -> None:
    found = []
    try:
        check_files(files, runs, values)
    except DocumentRefusedError as refused:
        found = [problem.expected for problem in refused.problems]
    assert found == expected
