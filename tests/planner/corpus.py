"""The recorded corpus: documents whose plan ids pin what the planner decides and writes.

Run ``python -m tests.planner.corpus`` to record it again after the planner's version changed.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from planner.documents import ContractDocument, EvidenceDocument
from planner.intake import read_contract, read_evidence
from planner.plan import plan_parallelism
from planner.version import PLANNER_VERSION
from tests.planner.documents import changed
from tests.planner.fleet import a_contract, a_price, a_trial, documents

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDED = Path(__file__).parent / "data" / "plan_ids.json"
AS_OF = "2026-10-01T00:00:00Z"

Documents = tuple[ContractDocument, EvidenceDocument]


def shipped(name: str) -> Documents:
    """Return the documents of an example."""
    contract = read_contract((EXAMPLES / name / "contract.json").read_bytes())
    return contract, read_evidence((EXAMPLES / name / "evidence.json").read_bytes(), contract)


def no_trial_fast_enough() -> Documents:
    """Every trial fails the floor."""
    return documents(a_contract(), {"a": a_trial(100, tp=8), "b": a_trial(200, tp=4)})


def a_duration_is_missing() -> Documents:
    """The only trial has no duration."""
    trial = changed(a_trial(6400, tp=8), ("/windows/w0/load/duration_s", None))
    return documents(a_contract(), {"a": trial})


def a_duration_of_nothing() -> Documents:
    """A duration is recorded and gives no rate; the other figures of the window stand."""
    trial = changed(a_trial(6400, tp=8), ("/windows/w0/load/duration_s", 0))
    return documents(a_contract(gates=a_price(2)), {"a": trial, "b": a_trial(6400, tp=4)})


def copies_by_cost() -> Documents:
    """Two units of the smallest trial win by cost."""
    need = {"capacity": {"output_tokens_per_s": 6000, "peak_factor": 1.25, "because": "Peak."}}
    selection = {"keys": [{"key": "usd_per_million_output_tokens"}], "scale": "independent_replicas"}
    contract = a_contract(gates=a_price(2), selection=selection, needs=need)
    return documents(contract, {"a": a_trial(6400, tp=8), "c": a_trial(3600, tp=4)})


def figures_beyond_a_double() -> Documents:
    """A duration with as many digits as a double has gives ratios that no JSON number holds."""
    trial = changed(
        a_trial(6400, tp=8),
        ("/windows/w0/load/duration_s", 100.12345678901234),
        ("/windows/w0/load/output_tokens_total", 640007),
    )
    return documents(a_contract(), {"a": trial})


def equal_trials() -> Documents:
    """Only the content id tells the trials apart."""
    trials = {"a": a_trial(6000, tp=4), "b": changed(a_trial(6000, tp=4), ("/source", "Second run."))}
    return documents(a_contract(), trials)


CORPUS: dict[str, Callable[[], Documents]] = {
    **{folder.parent.name: partial(shipped, folder.parent.name) for folder in sorted(EXAMPLES.glob("*/contract.json"))},
    "no-trial-fast-enough": no_trial_fast_enough,
    "a-duration-is-missing": a_duration_is_missing,
    "a-duration-of-nothing": a_duration_of_nothing,
    "copies-by-cost": copies_by_cost,
    "figures-beyond-a-double": figures_beyond_a_double,
    "equal-trials": equal_trials,
}


def planned_ids() -> dict[str, dict[str, str]]:
    """Return, for every entry, the content ids of its documents, the decision and the plan's id."""
    found = {}
    for name, build in sorted(CORPUS.items()):
        contract, evidence = build()
        plan = plan_parallelism(contract, evidence, AS_OF)
        found[name] = {
            "contract": contract.content_id,
            "evidence": evidence.content_id,
            "decision": plan.decision,
            "plan_id": str(plan.plan_id),
        }
    return found


if __name__ == "__main__":
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(
        json.dumps({"as_of": AS_OF, "planner_version": PLANNER_VERSION, "plans": planned_ids()}, indent=1) + "\n"
    )
