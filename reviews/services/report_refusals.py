"""Records what is refused of reports: an entry for each host and reason, so that a fleet floods no log.

Rules kept: a refusal is an entry where there was none for that host and reason for a day; what names no host of the
slot counts as one for the whole slot, what names no slot as one for the workspace, and who may not report as a reason
of their own; the page shows the last refusal whether or not it is an entry.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from reviews.audit import append, without_names, workspace_write
from reviews.clock import database_now
from reviews.errors import (
    Finding,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    ReviewError,
    TamperedError,
    is_storable,
)
from reviews.models import Decision, Person, Workspace
from reviews.policies.host_reports import place_in
from reviews.policies.permissions import may_report
from reviews.selectors.decided import decided_by
from reviews.selectors.live_identity import held_by
from reviews.selectors.people import standing_of
from reviews.services.acting import require
from reviews.services.host_places import UNDECIDED, place_refuse
from reviews.services.people import UNTRACED, Trace

REFUSED = "identity.report_refused"
OF_THE_SLOT = frozenset({UNDECIDED})
"""Reasons that are of no host by itself, whatever it is called."""


@contextmanager
def refusals_noted(
    actor: Person, workspace: Workspace, slot: str, documents: Sequence[bytes], trace: Trace
) -> Iterator[None]:
    """Note a refusal that the block raises, and record it where it is news; ``documents`` are reports of hosts."""
    standing = standing_of(actor, workspace)
    try:
        yield
    except NotFoundError:
        raise
    except ReviewError as error:
        reasons = _reasons(error, actor)
        is_of_slot = isinstance(error, NotAllowedError) or not reasons.isdisjoint(OF_THE_SLOT)
        named = ("", "") if is_of_slot else _refused_place(documents, error)
        message = without_names(error.message)[:2000]
        with workspace_write(workspace.pk):
            decides = is_storable(slot) and Decision.objects.filter(workspace=workspace, slot=slot).exists()
            is_known = place_refuse(
                workspace,
                slot if decides else "",
                named if decides else ("", ""),
                person=actor,
                reasons=reasons,
                because=message,
                decided=_decided(workspace, slot) if decides else frozenset(),
            )
            if not is_known:
                append(workspace, trace.act(REFUSED, standing.token, reason=message))
        raise


def _reasons(error: ReviewError, actor: Person) -> frozenset[str]:
    if isinstance(error, InvalidRequestError):
        return frozenset(problem.code for problem in error.problems)
    return frozenset({f"{error.code} {actor.pk}" if isinstance(error, NotAllowedError) else error.code})


def _decided(workspace: Workspace, slot: str) -> frozenset[str]:
    """Return the nodes that were decided for a slot; none where what was decided can not be read."""
    held = held_by(workspace, slot, database_now())
    try:
        return decided_by(held.activation).places if held is not None else frozenset()
    except TamperedError:
        return frozenset()


def identity_report_refuse(
    *, actor: Person, workspace: Workspace, problems: tuple[Finding, ...], trace: Trace = UNTRACED
) -> None:
    """Refuse what did not get as far as a report, and record it as every refusal is.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not report.
        InvalidRequestError: with the problems.
    """
    with refusals_noted(actor, workspace, "", (), trace):
        require(may_report(standing_of(actor, workspace)))
        raise InvalidRequestError(problems)


def _refused_place(documents: Sequence[bytes], error: ReviewError) -> tuple[str, str]:
    """Return place and host of the first report at fault, else of the first that says one; "" where none does."""
    places = [place_in(raw) for raw in documents]
    if isinstance(error, InvalidRequestError):
        pointers = [problem.pointer for problem in error.problems]
        named = [found for at, found in enumerate(places) if any(one.startswith(f"identity[{at}]") for one in pointers)]
    else:
        named = [found for found in places if found[0] and f"{found[0]}: " in error.message]
    return named[0] if named else next((found for found in places if found[0]), ("", ""))
