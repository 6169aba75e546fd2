"""Read evidence: strict JSON, the types of its fields, what joins them, and whether it belongs to a contract."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from planner.canonical import canonical_bytes, file_sha256
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import Problem
from planner.intake.evidence_rules import evidence_problems
from planner.intake.opening import opened
from planner.intake.parts import object_at
from planner.records.evidence import Evidence
from planner.strict_json import Reading, read

__all__ = ["EVIDENCE_SCHEMA", "evidence_content_id", "evidence_from", "read_evidence", "trial_bodies"]

EVIDENCE_SCHEMA = "topogate.evidence/v1"


def read_evidence(raw: bytes, contract: ContractDocument | None = None) -> EvidenceDocument:
    """Read evidence from the bytes of its file; with ``contract``, also refuse evidence that is not bound to it.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    return evidence_from(read(raw), contract)


def evidence_from(reading: Reading, contract: ContractDocument | None = None) -> EvidenceDocument:
    """Read evidence from strict JSON; see ``read_evidence``."""
    bodies: dict[str, bytes] = {}

    def rules(tree: Any) -> Iterator[Problem]:
        # Kept for the digests below: writing the canonical form is the longest step of all.
        bodies.update(trial_bodies(tree))
        yield from evidence_problems(tree, bodies, contract)

    record = opened(reading, Evidence, EVIDENCE_SCHEMA, rules)
    return EvidenceDocument(
        record=record,
        content_id=evidence_content_id(reading.tree, bodies),
        file_sha256=file_sha256(reading.raw),
        trial_content_ids={trial: file_sha256(body) for trial, body in bodies.items()},
    )


def trial_bodies(tree: Any) -> dict[str, bytes]:
    """Return the canonical form of every trial's body."""
    return {trial: canonical_bytes(body) for trial, body in object_at(tree, "trials").items()}


def evidence_content_id(tree: Mapping[str, Any], bodies: Mapping[str, bytes]) -> str:
    """Return the content id of evidence whose trials' canonical forms are known.

    The whole form is never held at once: it is as long as the evidence.
    """
    digest = hashlib.sha256()
    for part in _canonical_parts(tree, bodies):
        digest.update(part)
    return f"sha256:{digest.hexdigest()}"


def _canonical_parts(tree: Mapping[str, Any], bodies: Mapping[str, bytes]) -> Iterator[bytes]:
    opening = b"{"
    for key in sorted({*tree, "trials"}, key=_utf_16):
        yield opening + canonical_bytes(key) + b":"
        opening = b","
        if key != "trials":
            yield canonical_bytes(tree[key])
            continue
        yield b"{"
        for at, trial in enumerate(sorted(bodies, key=_utf_16)):
            yield (b"," if at else b"") + canonical_bytes(trial) + b":"
            yield bodies[trial]
        yield b"}"
    yield b"}"


def _utf_16(key: str) -> bytes:
    """Return what the canonical form orders keys by."""
    return key.encode("utf-16-be")
