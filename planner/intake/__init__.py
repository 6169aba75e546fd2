"""The one door for documents: bytes in, a record with its digests out, or every problem at once.

Page, API, worker, command line and importers all call these functions, so a document has one verdict everywhere.
"""

from planner.documents import ContractDocument, EvidenceDocument
from planner.intake.contract import read_contract
from planner.intake.evidence import read_evidence
from planner.intake.evidence_rules import binding_problems, load_point_problems
from planner.intake.plan import read_plan
from planner.intake.recheck import recheck_contract, recheck_evidence
from planner.intake.stored import Receipt, forget_arrays, read_stored_evidence, receipt_of
from planner.intake.verdict import Verdict, judge

__all__ = [
    "ContractDocument",
    "EvidenceDocument",
    "Receipt",
    "Verdict",
    "binding_problems",
    "forget_arrays",
    "judge",
    "load_point_problems",
    "read_contract",
    "read_evidence",
    "read_plan",
    "read_stored_evidence",
    "receipt_of",
    "recheck_contract",
    "recheck_evidence",
]
