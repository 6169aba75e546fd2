"""A document that passed intake: its record together with the digests it is known by.

Built by ``planner.intake`` only. The planner checks at its own door that nothing was changed since
(``planner.intake.recheck_contract`` and ``recheck_evidence``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.records.contract import Contract
from planner.records.evidence import Evidence


@dataclass(frozen=True, slots=True)
class ContractDocument:
    """A contract. ``limits`` is gate id -> limit id -> the limit record that the gate registers."""

    record: Contract
    limits: Mapping[str, Mapping[str, Any]]
    content_id: str
    file_sha256: str


@dataclass(frozen=True, slots=True)
class EvidenceDocument:
    """Evidence. ``trial_content_ids`` is trial id -> sha256 of the canonical form of the trial's body."""

    record: Evidence
    content_id: str
    file_sha256: str
    trial_content_ids: Mapping[str, str]
