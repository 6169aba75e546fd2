"""Keeps what each host of a slot said last, and whether that is something new. Called inside ``workspace_write``."""

from datetime import datetime, timedelta

from django.conf import settings

from planner.identity_live import Said
from reviews.clock import database_now
from reviews.models import HostReport, Person, Workspace
from reviews.policies.host_reports import Sent, outcome_id, said_bytes

MOST_PLACES = 4096
"""Hosts of one slot whose reports are kept; a fleet has fewer, made-up names do not stop."""
PRUNED_AT_ONCE = 500


def place_keep(
    workspace: Workspace, slot: str, sent: Sent, *, person: Person, subject: str, said: Said | None, now: datetime
) -> bool:
    """Keep a report in the place of the one before; return whether its outcome is another than that one's.

    ``said`` is None where it was compared with nothing.
    """
    outcome = outcome_id(subject, said or Said())
    known = HostReport.objects.filter(workspace=workspace, slot=slot, place=sent.place).only("outcome", "since").first()
    is_new = known is None or known.outcome != outcome
    HostReport.objects.update_or_create(
        workspace=workspace,
        slot=slot,
        place=sent.place,
        defaults={
            "host": sent.host,
            "person": person,
            "collected_at": sent.collected_at,
            "received_at": now,
            "sha256": sent.sha256,
            "body": sent.raw,
            "subject": subject,
            "said": said_bytes(said) if said is not None else b"",
            "outcome": outcome,
            "since": now if known is None or is_new else known.since,
            "refused_as": "",
            "refused_because": "",
            "refused_at": None,
        },
    )
    return is_new


def place_refuse(
    workspace: Workspace, slot: str, place: str, host: str, *, person: Person, codes: str, because: str
) -> bool:
    """Note that a host was refused; return whether it is refused for the same reason as before."""
    now = database_now()
    known = HostReport.objects.filter(workspace=workspace, slot=slot, place=place).first()
    if known is None:
        if HostReport.objects.filter(workspace=workspace, slot=slot).count() >= MOST_PLACES:
            return False
        known = HostReport(
            workspace=workspace, slot=slot, place=place, host=host, person=person, received_at=now, since=now
        )
    is_same = known.refused_as == codes
    known.refused_as, known.refused_because, known.refused_at = codes, because, now
    known.save()
    return is_same


def places_prune() -> int:
    """Forget hosts that have not reported for ``IDENTITY_KEEP_DAYS``; return how many. The log keeps what they changed.

    Safe to run from any number of processes at any time.
    """
    before = database_now() - timedelta(days=settings.IDENTITY_KEEP_DAYS)
    due = HostReport.objects.filter(received_at__lt=before, refused_at=None) | HostReport.objects.filter(
        received_at__lt=before, refused_at__lt=before
    )
    keys = list(due.order_by("pk").values_list("pk", flat=True)[:PRUNED_AT_ONCE])
    HostReport.objects.filter(pk__in=keys).delete()
    return len(keys)
