"""Evidence that was found faulty, and which decisions counted it."""

from collections.abc import Iterable

import msgspec
from django.db.models import Exists, OuterRef

from reviews.blobs import blob_read
from reviews.models import Activation, CountedTrial, Decision, Retraction, Revision, Workspace


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


def rests_on_retracted(decision_ids: Iterable[int]) -> frozenset[int]:
    """Return which decisions were last put into force on evidence, or a plan with a trial, that was retracted since."""
    retracted = Retraction.objects.filter(workspace=OuterRef("revision__decision__workspace"))
    counted = CountedTrial.objects.filter(activation=OuterRef(OuterRef("pk")))
    document = retracted.filter(content_id=OuterRef("revision__evidence__content_id"))
    trial = retracted.filter(content_id__in=counted.values("content_id"))
    rows = Activation.objects.filter(revision__decision__in=tuple(decision_ids)).order_by("pk")
    judged = rows.annotate(is_faulty=Exists(document) | Exists(trial))
    last = dict(judged.values_list("revision__decision", "is_faulty"))
    return frozenset(decision for decision, is_faulty in last.items() if is_faulty)
