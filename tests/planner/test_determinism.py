"""Equal inputs give equal bytes: under other orders, hash seeds, locales, time zones and processes; and a corpus.

A recorded plan id that changes means that the planner decides or writes differently: that takes a new
``PLANNER_VERSION``, and then the corpus is recorded again (``python -m tests.planner.corpus``).
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism
from planner.version import PLANNER_VERSION
from tests.planner.corpus import AS_OF, CORPUS, EXAMPLES, RECORDED, planned_ids
from tests.planner.documents import example, raw

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from pathlib import Path
from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism
contract = read_contract(Path(sys.argv[1], "contract.json").read_bytes())
evidence = read_evidence(Path(sys.argv[1], "evidence.json").read_bytes(), contract)
sys.stdout.buffer.write(plan_bytes(plan_parallelism(contract, evidence, sys.argv[2])))
"""


def shuffled(tree: Any, chance: random.Random) -> Any:
    """Return the tree with the members of every object in another order; arrays keep theirs."""
    if isinstance(tree, dict):
        members = list(tree.items())
        chance.shuffle(members)
        return {name: shuffled(value, chance) for name, value in members}
    return [shuffled(value, chance) for value in tree] if isinstance(tree, list) else tree


def in_process(name: str) -> bytes:
    folder = EXAMPLES / name
    contract = read_contract((folder / "contract.json").read_bytes())
    evidence = read_evidence((folder / "evidence.json").read_bytes(), contract)
    return plan_bytes(plan_parallelism(contract, evidence, AS_OF))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["worked", "blast-radius"])
def test_the_order_of_members_carries_no_meaning(name: str, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # shuffling test data, not a secret
    contract = read_contract(raw(shuffled(example(name, "contract"), chance)))
    evidence = read_evidence(raw(shuffled(example(name, "evidence"), chance)), contract)
    assert plan_bytes(plan_parallelism(contract, evidence, AS_OF)) == in_process(name)


@pytest.mark.parametrize(
    "surroundings",
    [
        pytest.param({"PYTHONHASHSEED": "1"}, id="hash seed 1"),
        pytest.param({"PYTHONHASHSEED": "4711"}, id="hash seed 4711"),
        pytest.param({"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, id="Turkish locale"),
        pytest.param({"LC_ALL": "C", "PYTHONUTF8": "0"}, id="C locale"),
        pytest.param({"TZ": "Pacific/Kiritimati"}, id="time zone UTC+14"),
        pytest.param({"PYTHONOPTIMIZE": "2"}, id="without docstrings and assertions"),
    ],
)
def test_another_process_in_other_surroundings_gives_the_same_bytes(surroundings: dict[str, str]) -> None:
    environment = {**os.environ, **surroundings}
    command = [sys.executable, "-c", PROGRAM, str(EXAMPLES / "worked"), AS_OF]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == in_process("worked")


def test_planning_twice_gives_the_same_bytes() -> None:
    assert in_process("blast-radius") == in_process("blast-radius")


def test_the_recorded_corpus_keeps_its_plan_ids() -> None:
    recorded = json.loads(RECORDED.read_text())
    assert planned_ids() == recorded["plans"]
    assert recorded["planner_version"] == PLANNER_VERSION


def test_the_corpus_holds_every_decision() -> None:
    assert {entry["decision"] for entry in json.loads(RECORDED.read_text())["plans"].values()} == {
        "SELECT_TOPOLOGY",
        "NO_ELIGIBLE_TOPOLOGY",
        "INCONCLUSIVE",
    }
    assert len(CORPUS) >= 8
