"""Keeps what an activation takes and rests on, so that lists of many slots read no document and no plan."""

from functools import partial

from planner.records.plan import Plan
from reviews.blobs import blob_read
from reviews.models import Activation, ActivationFootprint, CountedTrial
from reviews.planning import footprint_columns, trial_footprint


def footprint_keep(activation: Activation, plan: Plan) -> None:
    """Store the footprint of a new activation and the trials that its plan counted. Call it inside ``workspace_write``.

    Raises:
        TamperedError: the contract, or the evidence of a trial that is not the selected one, is not what was stored.
    """
    revision = activation.revision
    found = trial_footprint(
        contract=blob_read(revision.contract.blob_id, "contract"),
        plan=plan,
        trial=activation.trial,
        evidence=partial(blob_read, revision.evidence.blob_id, "evidence"),
    )
    ActivationFootprint.objects.create(activation=activation, **footprint_columns(found))
    CountedTrial.objects.bulk_create(
        CountedTrial(activation=activation, trial=trial, content_id=candidate.trial_content_id)
        for trial, candidate in plan.candidates.items()
    )
