"""Scrapes of exporters, taken as a batch: the server makes of them what ``topogate observe convert`` makes.

Rules kept: the batch is judged as any other; a series that nobody placed is left out and told, a place that there is
not is refused; a refusal of the scrapes themselves is an entry like that of a batch.
"""

from collections.abc import Mapping, Sequence

from django.conf import settings

from planner.errors import DocumentRefusedError, Problem
from planner.importers import Source
from planner.observations.scrapes import Said, batch_bytes, places_of
from reviews.audit import refusals_recorded
from reviews.errors import DocumentsRefusedError, Finding
from reviews.models import Person, Workspace
from reviews.policies.permissions import may_report
from reviews.selectors.people import standing_of
from reviews.services.acting import require
from reviews.services.observations import Taken, observations_take
from reviews.services.people import UNTRACED, Trace

__all__ = ["scrapes_take"]


def scrapes_take(
    *,
    actor: Person,
    workspace: Workspace,
    sources: Sequence[Source],
    said: Said,
    given: Mapping[str, Sequence[str]],
    trace: Trace = UNTRACED,
) -> tuple[Taken, tuple[str, ...]]:
    """Take scrapes, the earlier first; ``given`` says where series belong. Return what was left out as well.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not report.
        DocumentsRefusedError: the scrapes are none, or what was made of them may not be taken.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    standing = standing_of(actor, workspace)
    attempt = trace.act("observations.refused", standing.token)
    with refusals_recorded(workspace, attempt):
        require(may_report(standing))
        try:
            _require_bounded(sources)
            found = batch_bytes(sources, said, places_of(given, said))
        except DocumentRefusedError as refused:
            findings = tuple(Finding.of(problem, "observations") for problem in refused.problems)
            raise DocumentsRefusedError(findings) from refused
    return observations_take(actor=actor, workspace=workspace, raw=found.raw, trace=trace), found.notes


def _require_bounded(sources: Sequence[Source]) -> None:
    size, most = sum(source.size for source in sources), settings.OBSERVATION_BYTES
    if size > most:
        problem = Problem("observations/size", "", f"at most {most:,} bytes of scrapes, unpacked", f"{size:,} bytes")
        raise DocumentRefusedError((problem,))
