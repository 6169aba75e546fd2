"""Print how long the way from bytes to a plan takes, beside the cheapest reading of the same bytes.

The yardstick is ``orjson.loads`` and a sha256 of the same bytes: no check, no record, no plan. Stored bytes are those
that intake accepted before and gave a receipt for, which is what a worker plans from.

``python -m bench.bytes_to_plan [--runs 5] [--trials 500] [--no-memory]``
"""

import argparse
import hashlib

import orjson

from bench.big_evidence import TRIALS, big_contract, big_evidence
from bench.measure import Step, median_seconds, peak_bytes
from planner.canonical import file_sha256
from planner.collection import rare_collection
from planner.documents import EvidenceDocument
from planner.intake import read_contract, read_evidence, read_stored_evidence, receipt_of, recheck_evidence
from planner.plan import plan_bytes, plan_stored, plan_with_bytes
from planner.strict_json import parse

AS_OF = "2026-10-01T00:00:00Z"


def steps(contract_bytes: bytes, evidence_bytes: bytes) -> dict[str, Step]:
    """Return what is measured, by name; the first is the yardstick."""
    contract = read_contract(contract_bytes)
    evidence = read_evidence(evidence_bytes, contract)
    receipt = receipt_of(evidence)

    def yardstick() -> None:
        orjson.loads(evidence_bytes)
        hashlib.sha256(evidence_bytes).hexdigest()

    def intake() -> EvidenceDocument:
        return read_evidence(evidence_bytes, contract)

    plan, _ = plan_stored(contract_bytes, evidence_bytes, receipt, AS_OF)

    def only_read_and_written() -> None:
        read_stored_evidence(evidence_bytes, receipt)
        file_sha256(plan_bytes(plan))

    return {
        "orjson.loads + sha256": yardstick,
        "strict parse": lambda: parse(evidence_bytes),
        "intake: parse, records, digests": intake,
        "stored bytes to records": lambda: read_stored_evidence(evidence_bytes, receipt),
        "stored bytes read, plan written": only_read_and_written,
        "stored bytes to plan bytes": lambda: plan_stored(contract_bytes, evidence_bytes, receipt, AS_OF),
        "check that records are unchanged": lambda: recheck_evidence(evidence),
        "records to plan bytes": lambda: plan_with_bytes(contract, evidence, AS_OF),
        "new bytes to plan bytes": lambda: plan_with_bytes(contract, intake(), AS_OF),
    }


def report(trials: int, runs: int, *, memory: bool) -> None:
    """Measure every step ``runs`` times in turn and print medians, ratios and, with ``memory``, peaks."""
    contract, evidence = big_contract(), big_evidence(trials)
    measured = steps(contract, evidence)
    with rare_collection():
        medians = median_seconds(measured, runs)
    yardstick = next(iter(medians.values()))
    print(f"{trials} trials x 64 ranks x 20 metrics, {len(evidence) / 1e6:.1f} MB, median of {runs} runs")
    print(f"{'step':<34}{'seconds':>9}{'ratio':>8}{'MB/s':>8}{'peak':>8}")
    for name, step in measured.items():
        rate = len(evidence) / 1e6 / medians[name]
        peak = f"{peak_bytes(step) / len(evidence):.1f}x" if memory else "-"
        print(f"{name:<34}{medians[name]:>9.3f}{medians[name] / yardstick:>7.1f}x{rate:>8.1f}{peak:>8}", flush=True)
    print("peak: most memory that Python's allocator holds at once for the step, over the size of the evidence")


def main() -> None:
    """Read the options and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--no-memory", action="store_true", help="leave out the slow runs that count memory")
    options = parser.parse_args()
    report(options.trials, options.runs, memory=not options.no_memory)


if __name__ == "__main__":
    main()
