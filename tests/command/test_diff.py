"""``topogate diff``: two plans as Markdown."""

from pathlib import Path
from typing import Any

import pytest

from planner.canonical import canonical_bytes
from planner.command import main
from planner.plan import plan_bytes
from planner.strict_json import parse
from tests.planner.fleet import a_contract, a_floor, a_trial, planned

Capture = pytest.CaptureFixture[str]
TRIALS = {"a": a_trial(6400, tp=8), "b": a_trial(11200, tp=2, dp=8)}


def stored(folder: Path, name: str, contract: dict[str, Any], trials: dict[str, Any]) -> str:
    path = folder / name
    path.write_bytes(plan_bytes(planned(contract, trials)))
    return str(path)


def test_equal_plans_have_no_difference(tmp_path: Path, capsys: Capture) -> None:
    path = stored(tmp_path, "plan.json", a_contract(), TRIALS)
    assert main(["diff", path, path]) == 0
    plan_id = planned(a_contract(), TRIALS).plan_id
    assert capsys.readouterr().out == (
        f"## Topogate: demo/fleet\n\nNo difference: both are plan `{plan_id}`, SELECT_TOPOLOGY.\n"
    )


def test_another_winner_comes_with_the_verdict_and_reading_that_moved(tmp_path: Path, capsys: Capture) -> None:
    before = stored(tmp_path, "before.json", a_contract(), TRIALS)
    after = stored(tmp_path, "after.json", a_contract(gates=a_floor(7000)), TRIALS)
    assert main(["diff", before, after]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| decision | SELECT_TOPOLOGY | SELECT_TOPOLOGY |" in lines
    assert "| selected | tp8-pp1-ep1-dp1 (a) | tp2-pp1-ep1-dp8 (b) |" in lines
    assert "| a |  | **ELIGIBLE** | **REJECTED** |" in lines
    assert "| a | throughput | PASS | FAIL |" in lines
    assert "| a | throughput.floor | 6400 tok/s (≥ 6000) | 6400 tok/s (≥ 7000) |" in lines


def test_trials_that_came_and_went_are_named(tmp_path: Path, capsys: Capture) -> None:
    before = stored(tmp_path, "before.json", a_contract(), {"a": TRIALS["a"]})
    after = stored(tmp_path, "after.json", a_contract(), {"b": TRIALS["b"]})
    main(["diff", before, after])
    lines = capsys.readouterr().out.splitlines()
    assert "| a |  | **ELIGIBLE** | **not measured** |" in lines
    assert "| b |  | **not measured** | **ELIGIBLE** |" in lines


def test_text_of_a_document_cannot_break_out_of_its_cell(tmp_path: Path, capsys: Capture) -> None:
    before = stored(tmp_path, "before.json", a_contract(), TRIALS)
    hostile = {**a_contract(), "slot": "a|b</td> [x](y) `c`"}
    main(["diff", before, stored(tmp_path, "after.json", hostile, TRIALS)])
    assert r"| slot | demo/fleet | a\|b\</td\> \[x\](y) \`c\` |" in capsys.readouterr().out.splitlines()


def test_a_plan_that_was_changed_is_refused(tmp_path: Path, capsys: Capture) -> None:
    tree = parse(plan_bytes(planned(a_contract(), TRIALS)))
    path = tmp_path / "plan.json"
    path.write_bytes(canonical_bytes({**tree, "decision": "INCONCLUSIVE"}))
    assert main(["diff", str(path), str(path)]) == 2
    assert "[document/plan_id]" in capsys.readouterr().err
