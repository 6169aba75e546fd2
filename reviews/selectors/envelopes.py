"""What a revision's topology was qualified for, from the stored bytes of its documents.

Rules kept: stored bytes passed intake when they were uploaded, so they are decoded without being judged again; the same
documents give the same envelope, so a process keeps the last few.
"""

from planner.intake import read_contract
from planner.intake.stored import decoded_evidence
from planner.observations.qualified import Qualified, qualified
from reviews.blobs import blob_read
from reviews.last_few import LastFew
from reviews.models import Revision

__all__ = ["qualified_of"]

MOST_KEPT = 4
"""An envelope of ten thousand ranks takes some tens of megabytes."""
_KEPT: LastFew[Qualified] = LastFew(MOST_KEPT)


def qualified_of(revision: Revision, trial: str) -> Qualified:
    """Return what a trial of a revision was qualified for.

    Raises:
        TamperedError: stored bytes are not the ones that were stored.
    """
    contract, evidence = revision.contract.blob_id, revision.evidence.blob_id

    def made() -> Qualified:
        document = read_contract(blob_read(contract, "contract"))
        record = decoded_evidence(blob_read(evidence, "evidence"))
        return qualified(document, trial, record.trials[trial])

    return _KEPT.get((contract, evidence, trial), made)
