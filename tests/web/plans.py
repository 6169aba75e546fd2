"""Plans for the tests of pages: the worked example as the planner decides it, and small ones made by hand."""

from functools import cache
from typing import Any

from planner.intake import ContractDocument, EvidenceDocument, read_contract, read_evidence
from planner.plan import plan_parallelism
from planner.records.plan import (
    CLAIM,
    Bound,
    Candidate,
    Eligible,
    GateOutcome,
    LimitOutcome,
    OrderKey,
    Plan,
    RankPlace,
    Ratio,
    Selected,
)
from reviews.web.document_links import DocumentLinks
from tests.shared import ROOT

AS_OF = "2026-09-20T16:00:00Z"
DIGEST = "sha256:" + "ab" * 32
DOCUMENTS = DocumentLinks("/documents/contract/", "/documents/evidence/", 1)


@cache
def example_documents(name: str) -> tuple[ContractDocument, EvidenceDocument]:
    """The documents of a shipped example."""
    folder = ROOT / "examples" / name
    contract = read_contract((folder / "contract.json").read_bytes())
    return contract, read_evidence((folder / "evidence.json").read_bytes(), contract)


@cache
def example_plan(name: str) -> Plan:
    """The plan of a shipped example."""
    return plan_parallelism(*example_documents(name), AS_OF)


def limit(outcome: str = "PASS", **fields: Any) -> LimitOutcome:
    """One limit's outcome; a TTFT of 420 ms under a limit of 500 unless told otherwise."""
    values: dict[str, Any] = {
        "outcome": outcome,
        "sentence": "TTFT p95 is 420 ms; at most 500 ms.",
        "unit": "ms",
        "measured": 420,
        "comparator": "<=",
        "limit": 500,
        "margin": 80,
        "margin_share": Ratio(num=4, den=25),
        "because": "Half a second.",
        "limit_at": "/gates/ttft/p95/max_ms",
        "measured_at": ("/trials/t-1/windows/sat/load/ttft_ms/p95",),
    }
    return LimitOutcome(**(values | fields))


def gate(outcome: str = "PASS", family: str = "slo", **limits: LimitOutcome) -> GateOutcome:
    """A gate's outcome with its limits."""
    return GateOutcome(family=family, outcome=outcome, limits=limits)  # type: ignore[arg-type] # a word of the tests


def candidate(state: str = "ELIGIBLE", **fields: Any) -> Candidate:
    """A candidate without a gate unless told otherwise."""
    values: dict[str, Any] = {
        "trial_content_id": DIGEST,
        "topology": "tp4-pp2-ep2-dp1",
        "layout": "closed",
        "ranks": 16,
        "nodes": 2,
        "ranks_per_node": (8, 8),
        "serving_groups": (tuple(range(16)),),
        "charged_devices": 16,
        "stranded_devices": 0,
        "rank_map_digest": DIGEST,
        "groups_from": "rule",
        "state": state,
        "failing": (),
        "unknown": (),
        "gates": {},
        "keys": {"output_tokens_per_s_per_charged_device": 60},
        "missing_keys": (),
        "hints": (),
    }
    return Candidate(**(values | fields))


def plan(candidates: dict[str, Candidate], **fields: Any) -> Plan:
    """A plan over candidates; the first eligible one is selected."""
    eligible = [trial for trial, found in candidates.items() if found.state == "ELIGIBLE"]
    gates = dict.fromkeys(name for found in candidates.values() for name in found.gates)
    word = "SELECT_TOPOLOGY" if eligible else "NO_ELIGIBLE_TOPOLOGY"
    chosen = candidates[eligible[0]] if eligible else None
    values: dict[str, Any] = {
        "schema": "topogate.plan/v1",
        "planner_version": "1.0.0",
        "claim": CLAIM,
        "as_of": AS_OF,
        "slot": "chat/eu-west",
        "illustrative": False,
        "contract": Bound(content_id=DIGEST),
        "evidence": Bound(content_id=DIGEST),
        "decision": word,
        "undeclared": (),
        "selected": Selected(
            trial=eligible[0],
            trial_content_id=DIGEST,
            topology=chosen.topology,
            rank_map_digest=DIGEST,
            rank_map=(RankPlace(rank=0, node="node-a", device="a0", nic=None),),
        )
        if chosen
        else None,
        "decisive": None,
        "contenders": (),
        "order": (OrderKey(key="output_tokens_per_s_per_charged_device", direction="desc", load_point="saturated"),),
        "order_notes": (),
        "eligible": tuple(Eligible(trial=trial, values=(60,)) for trial in eligible),
        "frontier": (),
        "justification": (),
        "flips": (),
        "baseline": "",
        "demand": None,
        "gates": tuple(gates),
        "candidates": candidates,
    }
    return Plan(**(values | fields))
