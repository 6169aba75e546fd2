"""The only bridge between stored rows and the planner: bytes in, records, plans and digests out. Knows no people."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import msgspec

from planner.canonical import canonical_bytes, content_id, file_sha256
from planner.collection import rare_collection
from planner.errors import DocumentRefusedError, TamperedRecordError
from planner.footprint import Footprint, footprint
from planner.intake import ContractDocument, EvidenceDocument, Receipt, read_contract, read_evidence, receipt_of
from planner.plan import plan_stored, plan_with_bytes
from planner.records.contract import Contract
from planner.records.plan import Plan as PlanRecord
from planner.version import PLANNER_VERSION
from reviews.errors import DocumentsRefusedError, Finding
from reviews.facts import SubjectParts

__all__ = [
    "PLANNER_VERSION",
    "Documents",
    "MadePlan",
    "StoredBytes",
    "StoredBytesError",
    "intake_receipt",
    "make_plan",
    "read_documents",
]

Progress = Callable[[int, int], None]
"""Called with candidates done and candidates in all."""


class StoredBytesError(Exception):
    """Stored bytes are not what was stored; ``code`` is stable, the text names the document."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Documents:
    """A contract and the evidence that belongs to it."""

    contract: ContractDocument
    evidence: EvidenceDocument


@dataclass(frozen=True, slots=True)
class MadePlan:
    """A plan as canonical bytes and as a record."""

    raw: bytes
    record: PlanRecord

    @property
    def plan_id(self) -> str:
        """The plan's own id."""
        return str(self.record.plan_id)

    def count(self, state: str) -> int:
        """Return how many candidates are in a state."""
        return sum(candidate.state == state for candidate in self.record.candidates.values())


def read_documents(contract: bytes, evidence: bytes) -> Documents:
    """Read both documents as uploaded.

    Raises:
        DocumentsRefusedError: with every problem of both; evidence is still read when the contract is refused.
    """
    findings: list[Finding] = []
    read = _contract(contract, findings)
    belonging = _evidence(evidence, read, findings)
    if read is None or belonging is None:
        raise DocumentsRefusedError(tuple(findings))
    return Documents(read, belonging)


def _contract(raw: bytes, findings: list[Finding]) -> ContractDocument | None:
    try:
        return read_contract(raw)
    except DocumentRefusedError as refused:
        findings += [Finding.of(problem, "contract") for problem in refused.problems]
        return None


def _evidence(raw: bytes, contract: ContractDocument | None, findings: list[Finding]) -> EvidenceDocument | None:
    try:
        return read_evidence(raw, contract)
    except DocumentRefusedError as refused:
        findings += [Finding.of(problem, "evidence") for problem in refused.problems]
        return None


def identity_digest(contract: ContractDocument) -> str:
    """Return the content id of the contract's identity."""
    return content_id(msgspec.to_builtins(contract.record.identity))


def contract_tree(contract: bytes) -> dict[str, Any]:
    """Return a stored contract as plain JSON values."""
    tree: dict[str, Any] = msgspec.json.decode(contract)
    return tree


def identity_tree(contract: bytes) -> dict[str, Any]:
    """Return the identity of a stored contract as plain JSON values."""
    identity: dict[str, Any] = msgspec.json.decode(contract)["identity"]
    return identity


def subject_digest(parts: SubjectParts) -> str:
    """Return the digest that sign-offs are bound to: the content id over everything the revision states."""
    return content_id(asdict(parts))


def intake_receipt(evidence: EvidenceDocument) -> bytes:
    """Return what intake found out about evidence that it has just accepted, to be stored beside it."""
    return canonical_bytes(msgspec.to_builtins(receipt_of(evidence)))


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """Bytes with the digest under which they were stored."""

    raw: bytes
    sha256: str

    def check(self, name: str) -> None:
        """Raise StoredBytesError unless they are the bytes that were stored."""
        found = file_sha256(self.raw)
        if found != self.sha256:
            raise StoredBytesError(
                "tampered", f"The stored {name} is not what was uploaded: expected {self.sha256}, found {found}."
            )


def make_plan(
    *,
    contract: StoredBytes,
    evidence: StoredBytes,
    receipt: StoredBytes | None,
    as_of: str,
    progress: Progress,
) -> MadePlan:
    """Plan from stored bytes after checking that they are the ones that were stored.

    Without a receipt of intake that this release can read, the evidence is read as if it were new.

    Raises:
        StoredBytesError: a digest does not match, or the planner refuses what intake once accepted.
    """
    contract.check("contract")
    evidence.check("evidence")
    try:
        with rare_collection():
            record, raw = _planned(contract.raw, evidence.raw, receipt, as_of, progress)
    except (DocumentsRefusedError, DocumentRefusedError, TamperedRecordError) as refused:
        raise StoredBytesError("refused", f"The planner refuses the stored documents: {refused}") from refused
    return MadePlan(raw=raw, record=record)


def _planned(
    contract: bytes, evidence: bytes, receipt: StoredBytes | None, as_of: str, progress: Progress
) -> tuple[PlanRecord, bytes]:
    found = _read_receipt(receipt)
    if found is None:
        documents = read_documents(contract, evidence)
        return plan_with_bytes(documents.contract, documents.evidence, as_of, progress=progress)
    return plan_stored(contract, evidence, found, as_of, progress=progress)


def _read_receipt(stored: StoredBytes | None) -> Receipt | None:
    """Return what intake found out; None where it left nothing, or another release wrote it in another form."""
    if stored is None:
        return None
    stored.check("intake receipt")
    try:
        return msgspec.json.decode(stored.raw, type=Receipt)
    except msgspec.ValidationError:
        return None


def decode_plan(raw: bytes) -> PlanRecord:
    """Return a stored plan as a record."""
    return msgspec.json.decode(raw, type=PlanRecord)


def plan_tree(raw: bytes) -> dict[str, Any]:
    """Return a stored plan as plain JSON values."""
    tree: dict[str, Any] = msgspec.json.decode(raw)
    return tree


class _Place(msgspec.Struct):
    device: str


class _Trial(msgspec.Struct):
    rank_map: list[_Place]


class _Trials(msgspec.Struct):
    """Evidence as far as placing one trial needs it."""

    trials: dict[str, msgspec.Raw]


def trial_footprint(*, contract: bytes, plan: PlanRecord, trial: str, evidence: Callable[[], bytes]) -> Footprint:
    """Return what a trial takes of its contract's fleet; the evidence is read only for one that is not the selected."""
    selected = plan.selected
    if selected is not None and selected.trial == trial:
        devices = [place.device for place in selected.rank_map]
    else:
        stored = msgspec.json.decode(evidence(), type=_Trials)
        devices = [place.device for place in msgspec.json.decode(stored.trials[trial], type=_Trial).rank_map]
    return footprint(msgspec.json.decode(contract, type=Contract), devices)


def footprint_columns(found: Footprint) -> dict[str, Any]:
    """Return a footprint as its row holds it: numbers exactly, device types as canonical JSON."""
    return {
        "charge": found.charge,
        "used": found.used,
        "spares": found.spares,
        "stranded": found.stranded,
        "types": canonical_bytes(dict(found.types)).decode(),
        "usd_per_hour": "" if found.usd_per_hour is None else str(found.usd_per_hour),
        "unpriced": found.unpriced,
    }


def footprint_from(
    charge: str, used: int, spares: int, stranded: int, types: str, usd_per_hour: str, unpriced: str
) -> Footprint:
    """Return a footprint from its row; the inverse of ``footprint_columns``."""
    return Footprint(
        charge=charge,
        used=used,
        spares=spares,
        stranded=stranded,
        types=msgspec.json.decode(types, type=dict[str, int]),
        usd_per_hour=Fraction(usd_per_hour) if usd_per_hour else None,
        unpriced=unpriced,
    )
