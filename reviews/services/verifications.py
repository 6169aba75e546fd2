"""Verifications of a log that people ask for; a worker makes them (``verification_runs``).

Rules kept: every member may verify what they may read; one verification of a workspace at a time, who asks meanwhile
is led to that one; that it was asked for and what was found are entries of the log.
"""

from functools import partial

from django.db import transaction

from reviews import queue
from reviews.audit import append, workspace_write
from reviews.clock import database_now
from reviews.models import Person, Verification, Workspace
from reviews.models.verifications import OPEN_STATES
from reviews.selectors.people import standing_of
from reviews.services.people import UNTRACED, Trace


def verification_request(*, actor: Person, workspace: Workspace, trace: Trace = UNTRACED) -> Verification:
    """Ask for a verification of the whole log; while one waits or runs, that is the one.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    with workspace_write(workspace.pk):
        running = Verification.objects.filter(workspace=workspace, state__in=OPEN_STATES).first()
        if running is not None:
            return running
        now = database_now()
        made = Verification.objects.create(
            workspace=workspace, asked_by_id=standing.person_id, asked_at=now, woken_at=now
        )
        append(
            workspace,
            trace.act(
                "verification.requested",
                standing.token,
                payload_type="topogate.verification/v1",
                payload={"verification": made.pk},
            ),
        )
        transaction.on_commit(partial(queue.wake, made.pk, queue.VERIFY_TASK))
    return made
