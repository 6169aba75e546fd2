"""What the log says of a new revision."""

from dataclasses import replace

from reviews.audit import Act
from reviews.models import Revision


def revision_act(attempt: Act, revision: Revision) -> Act:
    """Describe a new revision: what it is made of, and who counts as its authors."""
    decision = revision.decision
    return replace(
        attempt,
        action="revision.created",
        decision=decision.number,
        revision=revision.number,
        payload_type="topogate.revision/v2",
        payload={
            "title": decision.title,
            "slot": decision.slot,
            "contract": revision.contract.content_id,
            "contract_file_sha256": revision.contract.file_sha256,
            "evidence": revision.evidence.content_id,
            "evidence_file_sha256": revision.evidence.file_sha256,
            "evidence_receipt_sha256": revision.evidence.receipts.values_list("blob_id", flat=True).last(),
            "identity": revision.identity,
            "policy": revision.policy.content_id,
            "planner_version": revision.planner_version,
            "as_of": revision.as_of,
            "author": revision.author.token,
            "contract_by": revision.contract.stored_by.token,
            "evidence_by": revision.evidence.stored_by.token,
        },
    )
