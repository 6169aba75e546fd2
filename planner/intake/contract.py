"""Read a contract: strict JSON, the types of its fields, its limits as the gates type them, and what joins them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from planner.canonical import content_id, file_sha256
from planner.documents import ContractDocument
from planner.intake.contract_rules import contract_problems
from planner.intake.limit_rules import LIMIT_RECORDS
from planner.intake.opening import opened
from planner.records.contract import Contract
from planner.strict_json import Reading, read

__all__ = ["CONTRACT_SCHEMA", "contract_from", "read_contract", "typed_limits"]

CONTRACT_SCHEMA = "topogate.contract/v1"


def read_contract(raw: bytes) -> ContractDocument:
    """Read a contract from the bytes of its file.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    return contract_from(read(raw))


def contract_from(reading: Reading) -> ContractDocument:
    """Read a contract from strict JSON; see ``read_contract``."""
    record = opened(reading, Contract, CONTRACT_SCHEMA, contract_problems)
    return ContractDocument(
        record=record,
        limits=typed_limits(record.gates),
        content_id=content_id(reading.tree),
        file_sha256=file_sha256(reading.raw),
    )


def typed_limits(declared: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return gate id -> limit id -> limit record, for limits that were checked.

    Raises:
        KeyError: a gate is not registered.
        msgspec.ValidationError: a limit is not of its gate's record.
    """
    return {
        gate: {limit_id: msgspec.convert(limit, LIMIT_RECORDS[gate]) for limit_id, limit in limits.items()}
        for gate, limits in declared.items()
    }
