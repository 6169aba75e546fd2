"""The planner's own door: a document that was altered after intake is refused."""

import msgspec

from planner.canonical import content_id
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import TamperedRecordError
from planner.records.contract import Contract
from planner.records.evidence import Evidence


def recheck_contract(document: ContractDocument) -> None:
    """Raise TamperedRecordError unless the document is as intake left it."""
    _recheck(document.record, Contract, document.content_id)


def recheck_evidence(document: EvidenceDocument) -> None:
    """Raise TamperedRecordError unless the document is as intake left it."""
    _recheck(document.record, Evidence, document.content_id)


def _recheck(record: Contract | Evidence, kind: type[Contract] | type[Evidence], expected: str) -> None:
    tree = msgspec.to_builtins(record)
    if type(record) is not kind or content_id(tree) != expected:
        raise TamperedRecordError("the record differs from the document that was read")
