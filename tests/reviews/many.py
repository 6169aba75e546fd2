"""Many decisions and sign-offs at once, copied from one of each: rows as services write them, without the entries."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Model

from reviews.models import (
    Activation,
    ActivationFootprint,
    CountedTrial,
    Decision,
    HostReport,
    IdentityReport,
    PlannedRevision,
    ReviewBasis,
    Revision,
    SignOff,
    TeamScope,
)


def decisions_copied(revision: Revision, count: int) -> None:
    """Add so many decisions whose only revision is planned as this one is."""
    first = revision.decision
    last = Decision.objects.latest("number").number
    decisions = Decision.objects.bulk_create(
        Decision(**_values(first) | {"slot": f"{first.slot}-{number}", "number": number})
        for number in range(last + 1, last + 1 + count)
    )
    revisions = Revision.objects.bulk_create(
        Revision(**_values(revision) | {"decision_id": decision.pk, "number": 1}) for decision in decisions
    )
    planned = PlannedRevision.objects.bulk_create(
        PlannedRevision(**_values(revision.planned) | {"revision_id": made.pk}) for made in revisions
    )
    bases = ReviewBasis.objects.bulk_create(
        ReviewBasis(**_values(revision.planned.basis) | {"planned_id": made.pk}) for made in planned
    )
    TeamScope.objects.bulk_create(_scopes(revision.planned.basis, bases))


def _scopes(first: ReviewBasis, bases: list[ReviewBasis]) -> Iterable[TeamScope]:
    scopes = list(TeamScope.objects.filter(basis=first))
    return (TeamScope(**_values(scope) | {"basis_id": basis.pk}) for basis in bases for scope in scopes)


def slots_copied(activation: Activation, count: int) -> None:
    """Add so many slots in which the same was put into force, and of which the same was reported."""
    last = Decision.objects.latest("number").number
    decisions_copied(activation.revision, count)
    revisions = list(Revision.objects.filter(decision__number__gt=last).select_related("decision").order_by("pk"))
    made = Activation.objects.bulk_create(
        Activation(**_values(activation) | {"revision_id": revision.pk}) for revision in revisions
    )
    ids = [row.pk for row in made]
    taken = ActivationFootprint.objects.get(activation=activation)
    ActivationFootprint.objects.bulk_create(ActivationFootprint(**_values(taken) | {"activation_id": pk}) for pk in ids)
    counted = list(CountedTrial.objects.filter(activation=activation))
    CountedTrial.objects.bulk_create(
        CountedTrial(**_values(row) | {"activation_id": pk}) for pk in ids for row in counted
    )
    reports = list(IdentityReport.objects.filter(decision=activation.revision.decision))
    hosts = list(HostReport.objects.filter(slot=activation.revision.decision.slot))
    for revision in revisions:
        place = {"slot": revision.decision.slot}
        IdentityReport.objects.bulk_create(
            IdentityReport(**_values(row) | place | {"decision_id": revision.decision_id}) for row in reports
        )
        HostReport.objects.bulk_create(HostReport(**_values(row) | place) for row in hosts)


def signed_again(signoff: SignOff, count: int) -> None:
    """Add so many later turns of a sign-off."""
    SignOff.objects.bulk_create(
        SignOff(**_values(signoff) | {"turn": turn}) for turn in range(signoff.turn + 1, signoff.turn + 1 + count)
    )


def _values(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.primary_key}
