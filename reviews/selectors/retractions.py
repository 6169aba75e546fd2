"""Evidence that was found faulty, and which decisions counted it."""

from collections.abc import Iterable

import msgspec

from reviews.blobs import blob_read
from reviews.models import Decision, Retraction, Revision, Workspace


def retracted_in(decision: Decision) -> tuple[Retraction, ...]:
    """Return the retractions that concern the newest revision of a decision."""
    retractions = Retraction.objects.filter(workspace_id=decision.workspace_id).order_by("pk")
    if not retractions:
        return ()
    newest = Revision.objects.filter(decision=decision).select_related("evidence", "planned__plan").order_by("-number")
    counted = counted_evidence(newest[0])
    return tuple(row for row in retractions if row.content_id in counted)


def counted_evidence(revision: Revision) -> frozenset[str]:
    """Return the content ids of the evidence of a planned revision and of every trial in it; none without a plan."""
    planned = getattr(revision, "planned", None)
    if planned is None:
        return frozenset()
    plan = msgspec.json.decode(blob_read(planned.plan.blob_id, "plan"))
    trials: Iterable[dict[str, str]] = plan["candidates"].values()
    return frozenset({revision.evidence.content_id, *(trial["trial_content_id"] for trial in trials)})


def is_counted(workspace: Workspace, evidence: str) -> bool:
    """Whether any plan of the workspace counted a document of evidence, which makes it one to retract."""
    planned = Revision.objects.filter(decision__workspace=workspace, planned__isnull=False)
    return planned.filter(evidence__content_id=evidence).exists()
