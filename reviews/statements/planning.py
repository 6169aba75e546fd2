"""What gates and planner said of one revision: a test-result for each trial, and a verification summary of the plan.

UNKNOWN blocks like FAIL, so a gate of either outcome is a failed test. Gates that are not declared, or do not apply,
were not run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from planner.canonical import file_sha256
from reviews.statements.intoto import digest_of, named, statement

TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
VERIFICATION_SUMMARY = "https://slsa.dev/verification_summary/v1"
SELECTED = "SELECT_TOPOLOGY"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFacts:
    """What the log says of a planned revision; digests are of the files in the bundle."""

    label: str
    slot: str
    subject: str
    contract: str
    evidence: str
    policy: str
    plan: str
    planner_version: str
    planned_at: str


def gate_results(facts: PlannedFacts, plan: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a statement for every trial of a plan, in its order."""
    configuration = [
        named("contract", facts.contract),
        named("evidence", facts.evidence),
        {"name": "planner", "uri": _planner(facts)},
    ]
    for trial, candidate in plan["candidates"].items():
        passed, failed = _gates(candidate, "PASS"), _gates(candidate, "FAIL", "UNKNOWN")
        subject = [named(trial, candidate["trial_content_id"]), named("plan", facts.plan)]
        predicate = {
            "result": "FAILED" if failed else "PASSED",
            "configuration": configuration,
            "passedTests": passed,
            "warnedTests": [],
            "failedTests": failed,
        }
        yield statement(subject, TEST_RESULT, predicate)


def verification_summary(facts: PlannedFacts, plan: Mapping[str, Any], inputs: Sequence[bytes]) -> dict[str, Any]:
    """Return the statement about the plan; ``inputs`` are the envelopes of all its test-results."""
    selected = plan["selected"] if plan["decision"] == SELECTED else None
    levels = ["FAILED"]
    if selected:
        levels = [f"TOPO_GATE_{gate.upper()}" for gate in _gates(plan["candidates"][selected["trial"]], "PASS")]
    predicate = {
        "verifier": {"id": "urn:topogate:planner", "version": {"topogate": facts.planner_version}},
        "timeVerified": facts.planned_at,
        "resourceUri": f"urn:topogate:slot:{quote(facts.slot, safe='')}",
        "policy": {"uri": "urn:topogate:policy", "digest": digest_of(facts.policy)},
        "inputAttestations": [{"digest": digest_of(file_sha256(line))} for line in inputs],
        "verificationResult": "PASSED" if selected else "FAILED",
        "verifiedLevels": levels,
    }
    return statement([named(facts.label, facts.subject), named("plan", facts.plan)], VERIFICATION_SUMMARY, predicate)


def _planner(facts: PlannedFacts) -> str:
    return f"urn:topogate:planner:{facts.planner_version}"


def _gates(candidate: Mapping[str, Any], *outcomes: str) -> list[str]:
    return [gate for gate, outcome in candidate["gates"].items() if outcome["outcome"] in outcomes]
