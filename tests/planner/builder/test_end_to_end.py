"""From files to a plan: what was measured decides, and what is UNKNOWN is what nobody measured."""

import json

from planner.builder import answer, assemble
from planner.intake import read_evidence
from planner.plan import plan_parallelism
from tests.planner.builder.kit import AS_OF, BY, completed, contract, drafted, looked_at, placed_files

LONGEST = "/trials/{}/windows/saturated/load/longest_sequence_tokens"


def test_files_make_trials_windows_and_machine() -> None:
    draft = drafted()
    assert sorted(draft.trials) == ["tp2", "tp4"]
    for name, trial in draft.trials.items():
        assert {window: placed_files(draft, held.runs) for window, held in trial.windows.items()} == {
            "saturated": [f"{name}_saturated.json", f"{name}_memory.json"],
            "single": [f"{name}_single.json"],
        }
        assert sorted(placed_files(draft, trial.runs)) == ["config.json", f"{name}.log"]


def test_what_was_not_measured_is_all_that_stays_unknown() -> None:
    document = contract()
    draft = completed(drafted())
    made = assemble(draft, document)
    assert made.open == ()
    plan = plan_parallelism(document, read_evidence(made.document, document), AS_OF)
    assert plan.decision == "INCONCLUSIVE"
    for name, candidate in plan.candidates.items():
        assert candidate.failing == ()
        assert candidate.unknown == ("telemetry", "memory_headroom")
        missing = {
            field
            for gate in candidate.unknown
            for limit in candidate.gates[gate].limits.values()
            for field in limit.missing
        }
        assert missing == {LONGEST.format(name)}


def test_with_that_answered_the_planner_selects() -> None:
    document = contract()
    draft = answer(completed(drafted()), document, LONGEST.replace("{}", "*"), 2048, by=BY)
    assert looked_at(draft).complete
    made = assemble(draft, document)
    plan = plan_parallelism(document, read_evidence(made.document, document), AS_OF)
    assert plan.decision == "SELECT_TOPOLOGY"
    assert plan.selected is not None
    assert plan.selected.trial == "tp2"
    tree = json.loads(made.document)
    assert tree["trials"]["tp2"]["windows"]["saturated"]["replicas"]["replica-0"] == {
        "kv_capacity_tokens": 2_000_000,
        "ranks": [0, 1],
    }
