"""Verifies a log in a worker: what is stored against the entries, then a bundle by the verifier that lies in it.

The bundle is the one that an export of the whole workspace is, written to a temporary file, and the headline is that of
the verifier, so that both say the same. The key that it is given is the one that this worker signs with, which no row
of the database can change. As with plan jobs, the row is the queue and a lease says who works on it.
"""

import io
import os
import tempfile
from typing import IO

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from planner.verifier.verify import BROKEN, CONSISTENT, INCOMPLETE, VERIFIED, WORDS, Result
from planner.verifier.verify import verify as verify_bundle
from reviews import queue
from reviews.audit import Act, append, workspace_write
from reviews.bundle.archive import TooLargeError
from reviews.bundle.work import Progress
from reviews.errors import ConflictError
from reviews.log_keys import log_signer
from reviews.models import AuditEntry, JobState, Verification, VerificationOutcome, Workspace
from reviews.models.verifications import BUNDLED, COMPARED
from reviews.services.exports import write_bundle
from reviews.services.leases import Hold, Line, beating, claim, waiting_wake
from reviews.verification import Verification as Found
from reviews.verification import verify

OUTCOMES = {
    VERIFIED: VerificationOutcome.VERIFIED,
    CONSISTENT: VerificationOutcome.CONSISTENT,
    BROKEN: VerificationOutcome.BROKEN,
    INCOMPLETE: VerificationOutcome.INCOMPLETE,
}
STORED = (
    "entry by entry: canonical bytes, sequence, and the entry before",
    "documents, plans, sign-offs, comments and every other fact as they are stored, none without an entry",
    "kept tiles and signed checkpoints against the entries",
)
REPLAYED = (
    "root, signature and checkpoint of the bundle, with the key that this worker signs with",
    "quorum, authorship, delegations and carries, replayed from the entries alone",
    "statements and documents of the bundle",
)
NOT_CHECKED = (
    "whether this server tells the truth about itself: check an export outside of it",
    "whether a person read what was shown to them",
    "whether the measurements are true: only that they are the ones reviewed",
)


VERIFICATIONS = Line(Verification.objects, JobState.QUEUED, JobState.RUNNING, queue.VERIFY_TASK)


def verification_run(verification_id: int) -> JobState | None:
    """Make a verification, if it is free; return the state that it is in then, None when it was not free."""
    most = settings.PLAN_MAX_ATTEMPTS
    hold = claim(VERIFICATIONS, verification_id, most=most, started_at=Now(), entries_done=0)
    if hold is None:
        return None
    finished = False
    try:
        row = Verification.objects.select_related("workspace").get(pk=verification_id)
        with beating(hold, lambda: {"entries_done": hold.done}):
            entries = AuditEntry.objects.filter(workspace=row.workspace).count()
            hold.rows().update(entries_total=entries)
            stored, result = _verified(row.workspace, lambda share: hold.tell(int(share * entries)), entries)
        state = _finish(row, hold, stored, result)
        finished = True
        return state
    finally:
        if not finished:
            hold.end(JobState.QUEUED, woken_at=Now())


class _Watched(io.BufferedReader):
    """A bundle that tells how much of it the verifier read; it reads all of it twice, and little of it oftener."""

    def __init__(self, file: IO[bytes], tell: Progress) -> None:
        file.flush()
        super().__init__(io.FileIO(os.dup(file.fileno())))
        self._tell, self._done, self._total = tell, 0, max(1, 2 * self.seek(0, io.SEEK_END))

    def read(self, size: int | None = -1, /) -> bytes:
        """Read on, and tell."""
        data = super().read(size)
        self._done += len(data)
        self._tell(min(1.0, self._done / self._total))
        return data


def _verified(workspace: Workspace, tell: Progress, entries: int) -> tuple[Found, Result]:
    """Return what the database says of itself, and what the verifier says of its bundle."""
    stored = verify(workspace, lambda done: tell(COMPARED * done / entries))
    if not stored.holds:
        return stored, (BROKEN, _headline(BROKEN, stored.reason, stored.bad_seq), stored.bad_seq, [])

    signer = log_signer(workspace)
    if signer is None:
        return stored, (INCOMPLETE, _headline(INCOMPLETE, "this installation has no key that signs its logs"), None, [])
    with tempfile.TemporaryFile() as file:
        try:
            written = write_bundle(workspace, file, progress=lambda share: tell(COMPARED + BUNDLED * share))
        except (ConflictError, TooLargeError) as error:
            return stored, (INCOMPLETE, _headline(INCOMPLETE, str(error)), None, [])
        with _Watched(file, lambda share: tell(COMPARED + BUNDLED + (1 - COMPARED - BUNDLED) * share)) as bundle:
            result = verify_bundle(bundle, [str(signer.verifier)])
    if written.faults and result[0] == VERIFIED:
        return stored, (BROKEN, _headline(BROKEN, written.faults[0]), None, result[3])
    return stored, result


def _headline(code: int, text: str, seq: int | None = None) -> str:
    """Write a headline in the words of the verifier."""
    where = "" if seq is None else f" at seq {seq}"
    return f"{WORDS[code]}{where}: {text}"


def _finish(row: Verification, hold: Hold, stored: Found, result: Result) -> JobState | None:
    """Keep what was found, with its entry; None where somebody else works on it by now."""
    code, headline, seq, unchecked = result
    checked = [*(STORED if stored.holds else ()), *(REPLAYED if code in (VERIFIED, CONSISTENT) else ())]
    with workspace_write(row.workspace_id):
        ended = hold.end(
            JobState.DONE,
            finished_at=Now(),
            entries_done=F("entries_total"),
            outcome=OUTCOMES[code],
            headline=headline,
            report={"checked": checked, "not_checked": [*unchecked, *NOT_CHECKED]},
            entries=stored.entries,
            head=stored.head,
            bad_seq=seq,
        )
        if not ended:
            return None
        payload = {
            "verification": row.pk,
            "outcome": str(OUTCOMES[code]),
            "entries": stored.entries,
            "head": stored.head,
            "bad_seq": seq,
        }
        append(
            row.workspace,
            Act(
                action="verification.finished",
                reason=headline[:2000],
                payload_type="topogate.verification/v1",
                payload=payload,
            ),
        )
    return JobState.DONE


def verifications_sweep() -> tuple[int, ...]:
    """Give up what failed too often, wake workers for what waits or was left behind.

    Returns those of which the broker took no message. Safe to run from any number of processes at any time.
    """
    VERIFICATIONS.hopeless(settings.PLAN_MAX_ATTEMPTS).update(
        state=JobState.FAILED,
        lease_token=None,
        lease_until=None,
        finished_at=Now(),
        error_detail=f"It ended {settings.PLAN_MAX_ATTEMPTS} times without a result. The worker's log says how.",
    )
    return waiting_wake(VERIFICATIONS).unheard
