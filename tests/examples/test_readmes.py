"""Every example does what its README says."""

import csv
import json
from pathlib import Path

import pytest

from planner.command import main
from planner.intake import read_contract, read_evidence
from tests.examples.readme import EXAMPLES, Promise, promises

FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/contract.json"))


@pytest.mark.parametrize("promise", promises(), ids=lambda promise: f"{promise.example}-{promise.arguments[0]}")
def test_command_prints_what_the_readme_promises(
    promise: Promise, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    code = main(list(promise.arguments))
    assert (capsys.readouterr().out, code) == (promise.output, promise.exit_code)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_example_promises_a_plan(folder: Path) -> None:
    assert "plan" in [promise.arguments[0] for promise in promises() if promise.example == folder.name]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_evidence_is_accepted_for_its_contract(folder: Path) -> None:
    contract = read_contract((folder / "contract.json").read_bytes())
    raw = (folder / "evidence.json").read_bytes()
    evidence = read_evidence(raw, contract)
    assert evidence.record.contract_content_id == contract.content_id
    assert sorted(evidence.trial_content_ids) == sorted(json.loads(raw)["trials"])


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_example_is_listed_in_the_index(folder: Path) -> None:
    assert f"({folder.name}/)" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_the_trace_of_the_late_rank_spends_what_its_evidence_has() -> None:
    folder = EXAMPLES / "late-rank"
    values = json.loads((folder / "evidence.json").read_bytes())["trials"]["t-late"]["windows"]["trace"]["per_rank"]
    spent = {name: values[f"{name}_ms"]["values"] for name in ("step", "collective_wait", "collective_move")}
    own = dict.fromkeys(range(8), 0.0)
    left: dict[int, float] = {}
    with (folder / "trace.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rank = int(row["rank"])
            own[rank] += float(row["start"]) - left.get(rank, 0.0 if rank < 4 else 24000.0)
            left[rank] = float(row["end"])
    for rank, us in own.items():
        step, wait, move = (values[rank] for values in spent.values())
        assert us / 1000 == pytest.approx(step - wait - move, abs=0.01)
