"""Read a contract."""

from typing import Any

import msgspec

from planner.canonical import content_id, file_sha256
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError, Problem
from planner.gates import GATES
from planner.records.contract import Contract
from planner.strict_json import parse


def read_contract(raw: bytes) -> ContractDocument:
    """Read a contract from bytes.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    tree = parse(raw)
    try:
        record = msgspec.convert(tree, Contract)
        limits = typed_limits(tree["gates"])
    except msgspec.ValidationError as error:
        raise DocumentRefusedError((Problem("document/type", "", "a contract", str(error)),)) from error
    return ContractDocument(record=record, limits=limits, content_id=content_id(tree), file_sha256=file_sha256(raw))


def typed_limits(declared: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Type every limit by the record that its gate registers."""
    records = {gate.id: gate.limit for gate in GATES}
    return {
        gate_id: {limit_id: msgspec.convert(limit, records.get(gate_id) or Any) for limit_id, limit in limits.items()}
        for gate_id, limits in declared.items()
    }
