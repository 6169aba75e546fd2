"""Read evidence."""

import msgspec

from planner.canonical import content_id, file_sha256
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import DocumentRefusedError, Problem
from planner.records.evidence import Evidence
from planner.strict_json import parse


def read_evidence(raw: bytes, contract: ContractDocument | None = None) -> EvidenceDocument:
    """Read evidence from bytes; with ``contract``, also check that it belongs to it.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    tree = parse(raw)
    try:
        record = msgspec.convert(tree, Evidence)
    except msgspec.ValidationError as error:
        raise DocumentRefusedError((Problem("document/type", "", "evidence", str(error)),)) from error
    trial_ids = {trial_id: content_id(body) for trial_id, body in tree["trials"].items()}
    return EvidenceDocument(
        record=record, content_id=content_id(tree), file_sha256=file_sha256(raw), trial_content_ids=trial_ids
    )
