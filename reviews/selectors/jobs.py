"""Waiting for a job; and what has to be true of jobs, plans and revisions together, over the whole database."""

import time

from django.conf import settings
from django.db.models import Exists, OuterRef

from reviews.clock import database_now
from reviews.models import AuditEntry, JobState, Plan, PlanJob, PlannedRevision, Revision

LOOK_SECONDS = 0.02


def job_awaited(job: PlanJob, *, until: float) -> None:
    """Wait until a job is no longer queued or running, at most to ``until`` on the monotonic clock.

    It reads the row again and again and holds nothing meanwhile; call it outside any transaction.
    """
    state = job.state
    while state in (JobState.QUEUED, JobState.RUNNING) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
        state = PlanJob.objects.values_list("state", flat=True).get(pk=job.pk)


def job_faults() -> list[str]:
    """Return one sentence for everything that is not as it must be; waiting and running jobs are fine."""
    return [*_plans(), *_revisions(), *_leases(), *_entries()]


def _plans() -> list[str]:
    bare = PlanJob.objects.filter(state=JobState.DONE, plan__isnull=True)
    early = Plan.objects.exclude(job__state=JobState.DONE).exclude(job__state__in=(JobState.QUEUED, JobState.RUNNING))
    return [
        *(f"plan job {pk} is done and has no plan" for pk in bare.values_list("pk", flat=True)),
        *(f"plan {pk} belongs to a job that failed" for pk in early.values_list("pk", flat=True)),
    ]


def _revisions() -> list[str]:
    waiting = Revision.objects.filter(job__state=JobState.DONE, planned__isnull=True)
    return [f"revision {pk} waits for a job that is done" for pk in waiting.values_list("pk", flat=True)]


def _leases() -> list[str]:
    now = database_now()
    running = PlanJob.objects.filter(state=JobState.RUNNING).values_list("pk", "lease_until")
    return [
        f"plan job {pk} is held by a lease that ended long ago"
        for pk, until in running
        if until is not None and (now - until).total_seconds() > settings.PLAN_LEASE_SECONDS
    ]


def _entries() -> list[str]:
    entry = AuditEntry.objects.filter(
        workspace=OuterRef("revision__decision__workspace"), action="revision.planned", subject=OuterRef("subject")
    )
    unlogged = PlannedRevision.objects.filter(~Exists(entry)).values_list("pk", flat=True)
    return [f"planned revision {pk} has no entry in the audit log" for pk in unlogged]
