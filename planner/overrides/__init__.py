"""Several limits, or readings, taken to be other ones: both decisions, and what turned between them.

Rules kept (spec 2.3): overrides act on the contract or on gate readings after aggregation, never on evidence bytes; a
changed contract passes the same intake as any other, and every trial is judged by it; a reading moves the selection
keys that are read from the same windows. Nothing is stored and the answer holds no plan. Not handled: the identity,
because evidence is about one identity; readings of gates that follow from another reading (``cost``).
"""

from collections.abc import Sequence

import msgspec

from planner.canonical import canonical_bytes
from planner.collection import paused_collection
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import DocumentRefusedError
from planner.intake import recheck_contract, recheck_evidence
from planner.overrides.decided import decided
from planner.overrides.readings import FOLLOWS, Reading, no_trial, reading_overrides, with_readings
from planner.overrides.settings import CODE, SECTIONS, Setting, changed_contract
from planner.overrides.turned import trial_turned
from planner.plan import check_binding
from planner.records.overrides import OVERRIDDEN_CLAIM, Overridden
from planner.records.plan import Bound
from planner.version import PLANNER_VERSION

__all__ = [
    "CODE",
    "FOLLOWS",
    "SECTIONS",
    "Reading",
    "Setting",
    "overridden",
    "overridden_bytes",
    "overridden_of_stored",
]


def overridden(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    as_of: str,
    *,
    settings: Sequence[Setting] = (),
    readings: Sequence[Reading] = (),
) -> Overridden:
    """Decide as it is and under all overrides together.

    ``as_of`` is ``YYYY-MM-DDThh:mm:ssZ``, as for a plan.

    Raises:
        TamperedRecordError: a document is not as intake left it.
        DocumentRefusedError: the evidence belongs to another contract, an override is about something that is not
            there, or the changed contract is refused; with every problem found.
        ValueError: ``as_of`` is no such time.
    """
    recheck_contract(contract)
    recheck_evidence(evidence)
    return overridden_of_stored(contract, evidence, as_of, settings=settings, readings=readings)


@paused_collection()
def overridden_of_stored(
    contract: ContractDocument,
    evidence: EvidenceDocument,
    as_of: str,
    *,
    settings: Sequence[Setting] = (),
    readings: Sequence[Reading] = (),
) -> Overridden:
    """Do the same with documents that were checked before.

    Raises:
        DocumentRefusedError: as above.
        ValueError: ``as_of`` is no such time.
    """
    check_binding(contract, evidence)
    try:
        changed, overrides = changed_contract(msgspec.to_builtins(contract.record), settings)
    except DocumentRefusedError as refused:
        # Of readings only the trial can be asked for while there is no contract to judge by.
        absent = (no_trial(reading) for reading in readings if reading.trial not in evidence.record.trials)
        raise DocumentRefusedError((*refused.problems, *absent)) from refused
    before, after = decided(contract, evidence, as_of), decided(changed, evidence, as_of)
    overrides += reading_overrides(after, readings)
    after = with_readings(after, readings)
    return Overridden(
        schema="topogate.what-if/v1",
        injected=True,
        claim=OVERRIDDEN_CLAIM,
        planner_version=PLANNER_VERSION,
        as_of=as_of,
        slot=contract.record.slot,
        contract=Bound(content_id=contract.content_id),
        evidence=Bound(content_id=evidence.content_id),
        overrides=overrides,
        decision_before=before.selection.decision,
        decision_after=after.selection.decision,
        winner_before=before.selection.winner,
        winner_after=after.selection.winner,
        trials={name: trial_turned(name, before, after) for name in before.candidates},
    )


def overridden_bytes(answer: Overridden) -> bytes:
    """Return the answer's canonical bytes."""
    return canonical_bytes(msgspec.to_builtins(answer))
