"""Which runs make up which trial and window, and why."""

import itertools
from typing import Any

import pytest

from planner.builder import Draft, add_files, draft_bytes, new_draft, proposed, read_draft, rename_trial
from tests.planner.builder.kit import (
    CONFIG,
    CONTRACT,
    FILES,
    bench,
    contract,
    drafted,
    log,
    looked_at,
    memory,
    placed_files,
    read,
)
from tests.planner.importers.test_serving_console import ARGUMENTS, vllm_block


def arrangement(draft: Draft) -> dict[str, Any]:
    """Trials with the files of their windows and of the whole trial."""
    return {
        name: {
            **{window: sorted(placed_files(draft, held.runs)) for window, held in trial.windows.items()},
            "": sorted(placed_files(draft, trial.runs)),
        }
        for name, trial in draft.trials.items()
    }


def unused(draft: Draft) -> dict[str, str]:
    """Why runs have no place, by file."""
    return {note.file: note.sentence for note in looked_at(draft).unused}


def test_the_order_of_files_changes_nothing() -> None:
    whole = drafted()
    for files in itertools.islice(itertools.permutations(FILES.items()), 0, 362_880, 60_480):
        assert drafted(dict(files)) == whole
    one_by_one = new_draft(contract())
    for name, content in FILES.items():
        one_by_one = add_files(one_by_one, contract(), [read(content, name)]).draft
    assert one_by_one.trials == whole.trials


def test_degrees_that_a_tool_states_make_a_trial() -> None:
    draft = drafted({"a.log": log(4), "b.json": bench()})
    assert arrangement(draft) == {"tp4": {"saturated": ["b.json"], "": ["a.log"]}}
    assert draft.trials["tp4"].why == "tp 4 as the tools state; there is no other trial"
    assert draft.trials["tp4"].windows["saturated"].why == "the load of saturated"


def test_a_name_is_a_hint_that_joins_a_run() -> None:
    draft = drafted({"a.log": log(2), "b.log": log(4), "run-tp4.json": bench()})
    assert arrangement(draft)["tp4"] == {"saturated": ["run-tp4.json"], "": ["b.log"]}
    assert draft.trials["tp4"].why.endswith("the name says tp 4, which has to be confirmed")


def test_what_fits_several_trials_has_no_place() -> None:
    draft = drafted({"a.log": log(2), "b.log": log(4), "run.json": bench()})
    assert "saturated" not in arrangement(draft)["tp2"] | arrangement(draft)["tp4"]
    assert unused(draft) == {"run.json": "several trials fit, or none: move it where it belongs"}


def test_names_alone_make_trials_where_no_tool_states_a_degree() -> None:
    draft = drafted({"tp2.json": bench(), "tp8_run.json": bench(date="20260301-111500")})
    assert arrangement(draft) == {
        "tp2": {"saturated": ["tp2.json"], "": []},
        "tp8": {"saturated": ["tp8_run.json"], "": []},
    }


def test_with_no_degree_at_all_there_is_one_trial() -> None:
    assert arrangement(drafted({"run.json": bench()})) == {"trial-1": {"saturated": ["run.json"], "": []}}


def test_what_is_about_the_machine_belongs_to_every_trial() -> None:
    draft = drafted({"a.log": log(2), "b.log": log(4), "config.json": CONFIG})
    assert [found[""] for found in arrangement(draft).values()] == [
        ["a.log", "config.json"],
        ["b.log", "config.json"],
    ]


@pytest.mark.parametrize(("requests", "said"), [(32, "32"), (1_234_567, "1,234,567")])
def test_a_load_that_is_like_no_load_point_is_named(requests: int, said: str) -> None:
    draft = drafted({"a.log": log(2), "run.json": bench(requests)})
    assert arrangement(draft) == {"tp2": {"": ["a.log"]}}
    assert unused(draft) == {"run.json": f"it has {said} requests, and no load point of the contract is like it"}


def test_repeats_are_windows_in_the_order_of_time() -> None:
    draft = drafted({"late.json": bench(date="20260301-121500"), "early.json": bench(date="20260301-101500")})
    (trial,) = arrangement(draft).values()
    assert (trial["saturated-1"], trial["saturated-2"]) == (["early.json"], ["late.json"])


def test_two_outputs_of_one_benchmark_share_a_window() -> None:
    console = f"{ARGUMENTS.replace('max_concurrency=4', 'max_concurrency=64')}\n" + vllm_block(
        **{
            "Maximum request concurrency": "64",
            "Successful requests": "2000",
            "Total input tokens": "200000",
            "Total generated tokens": "100000",
        }
    )
    draft = drafted({"a.log": log(2), "run.json": bench(), "run.txt": console})
    assert arrangement(draft) == {"tp2": {"saturated": ["run.json", "run.txt"], "": ["a.log"]}}
    assert draft.trials["tp2"].windows["saturated"].why == "the load of saturated, told by several files"


def test_a_run_that_stands_twice_is_used_once() -> None:
    draft = drafted({"run.json": bench(), "summary.json": [bench(), bench(date="20260301-111500")]})
    (note,) = looked_at(draft).repeated
    assert (note.file, note.sentence) == (
        "summary.json",
        "the same figures as run 1 of run.json: taken twice, it counts twice",
    )
    (trial,) = arrangement(draft).values()
    assert (trial["saturated-1"], trial["saturated-2"]) == (["run.json"], ["summary.json"])


def test_the_same_bytes_are_the_same_file() -> None:
    draft = drafted()
    added = add_files(draft, contract(), [read(bench(), "another name.json")])
    assert added.draft is draft
    assert [draft.files[own].name for own in added.again] == ["tp2_saturated.json"]


def test_telemetry_joins_the_window_of_its_time() -> None:
    files = {"a.log": log(2), "s.json": bench(), "one.json": bench(1, date="20260301-110000"), "m.json": memory(2)}
    assert arrangement(drafted(files)) == {
        "tp2": {"saturated": ["m.json", "s.json"], "single": ["one.json"], "": ["a.log"]}
    }
    later = drafted({**files, "m.json": memory(2, hour="15:00")})
    assert arrangement(later)["tp2"][""] == ["a.log", "m.json"]


@pytest.mark.parametrize("devices", [2, 4])
def test_telemetry_of_as_many_devices_joins_a_trial(devices: int) -> None:
    draft = drafted({"a.log": log(2), "b.log": log(4), "m.json": memory(devices)})
    assert "m.json" in arrangement(draft)[f"tp{devices}"][""]


def test_a_refused_run_has_no_place() -> None:
    failed = bench(completed=0, failed=2000, total_output_tokens=0, output_throughput=0.0)
    draft = drafted({"a.log": log(2), "failed.json": failed})
    assert arrangement(draft) == {"tp2": {"": ["a.log"]}}
    (note,) = looked_at(draft).refused
    assert note.sentence.startswith("no request completed")


def test_once_arranged_new_files_join_and_nothing_moves() -> None:
    files = dict(FILES)
    late: dict[str, Any] = {"tp2_second.json": bench(date="20260301-103000"), "tp8.log": log(8)}
    draft = rename_trial(drafted(files), "tp2", "small")
    grown = add_files(draft, contract(), [read(content, name) for name, content in late.items()]).draft
    found = arrangement(grown)
    assert sorted(found) == ["small", "tp4", "tp8"]
    assert found["small"]["saturated-2"] == ["tp2_second.json"]
    assert {name: held for name, held in found["small"].items() if name != "saturated-2"} == arrangement(draft)["small"]
    assert sorted(proposed(grown, contract(), anew=True).trials) == ["tp2", "tp4", "tp8"]


def test_a_new_file_of_the_machine_goes_to_every_trial_once_arranged() -> None:
    files = {name: content for name, content in FILES.items() if name != "config.json"}
    draft = rename_trial(drafted(files), "tp2", "small")
    grown = add_files(draft, contract(), [read(CONFIG, "config.json")]).draft
    assert ["config.json" in found[""] for found in arrangement(grown).values()] == [True, True]


def test_windows_have_ids_of_their_own_whatever_load_points_are_called() -> None:
    long = "s" * 64
    points = {"s": 64, "s-1": 32, long: 16, "saturated": 8}
    workload = {
        **CONTRACT["identity"]["workload"],
        "load_points": {
            name: {"arrival": "closed", "concurrent_requests": requests} for name, requests in points.items()
        },
    }
    document = contract(
        identity={**CONTRACT["identity"], "workload": workload},
        gates={"tensor_locality": CONTRACT["gates"]["tensor_locality"]},
        evidence_required={"kv": {**CONTRACT["evidence_required"]["kv"], "load_points": ["s"]}},
    )
    loads = [(64, 1), (64, 2), (32, 3), (16, 4), (16, 5)]
    files = {f"{day}.json": bench(requests, date=f"2026030{day}-101500") for requests, day in loads}
    draft = drafted(files, document)
    (trial,) = draft.trials.values()
    assert {name: window.load_point for name, window in trial.windows.items()} == {
        "s-1": "s",
        "s-2": "s",
        "s-1-2": "s-1",
        f"{'s' * 58}-1": long,
        f"{'s' * 58}-2": long,
    }
    assert read_draft(draft_bytes(draft)) == draft
