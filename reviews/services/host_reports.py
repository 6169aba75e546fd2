"""Hosts report what they are: one request, one entry where that is something new, none where nothing changed (ADR 24).

Rules kept: a report never changes what a decision says, it can only turn it stale; what is refused is an entry, once
for each host and reason; a report is of the decision that it was launched under, and of nothing from before.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from planner.identity_live import Said, said_of
from reviews.audit import Act, append, refusals_recorded, without_names, workspace_write
from reviews.blobs import blob_keep
from reviews.clock import database_now, utc_text
from reviews.errors import (
    ConflictError,
    Finding,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    ReviewError,
    printable,
)
from reviews.models import Decision, DecisionState, HostReport, IdentityReport, Person, PlannedRevision, Workspace
from reviews.policies.host_reports import WHOLE, Sent, is_of_a_host, place_in, sent_reports, time_of_whole
from reviews.policies.permissions import may_report
from reviews.policies.validity import Difference, also_text, owned
from reviews.selectors.decided import decided_by, owners_of
from reviews.selectors.live_identity import Held, LiveIdentity, check_of, held_by, live_slot, standing
from reviews.selectors.people import standing_of
from reviews.selectors.reported_keys import fresh_for, keys_text, keys_value
from reviews.selectors.slot_check import SlotCheck, difference_text, live_identity
from reviews.services.acting import require
from reviews.services.host_places import MOST_PLACES, place_keep, place_refuse
from reviews.services.identity_reports import identity_report, require_slot
from reviews.services.people import UNTRACED, Trace
from reviews.services.states import decision_move

REFUSED = "identity.report_refused"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of reports: the slot as a check says it, what each host says, and of which ``places`` they are."""

    check: SlotCheck
    live: LiveIdentity
    places: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A report with what it says of the decision that holds; None where it is of nothing that holds."""

    sent: Sent
    said: Said | None
    differences: tuple[Difference, ...] = ()


def identity_reports_take(
    *, actor: Person, workspace: Workspace, slot: str, documents: Sequence[bytes], trace: Trace = UNTRACED
) -> Answer:
    """Take reports of hosts, or one identity of the whole slot, and say how the slot stands now.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not report.
        InvalidRequestError: a report is none, too old, ahead of its time, too large, or the slot is not known.
        ConflictError: a newer report of the host is there, or it runs what another decision launched.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    check, places = None, frozenset({WHOLE})
    if len(documents) == 1 and not is_of_a_host(documents[0]):
        with _refusals_noted(actor, workspace, slot, (), trace):
            live = live_identity(documents[0])
            at = time_of_whole(documents[0], now=database_now(), fresh=fresh_for())
        check = identity_report(actor=actor, workspace=workspace, slot=slot, live=live, collected_at=at, trace=trace)
    else:
        places = _hosts_take(actor, workspace, slot, documents, trace)
    found = live_slot(workspace, slot, database_now())
    return Answer(standing(check, found) if check else check_of(found), found, places)


def identity_report_refuse(
    *, actor: Person, workspace: Workspace, problems: tuple[Finding, ...], trace: Trace = UNTRACED
) -> None:
    """Refuse what did not get as far as a report, and record it as every refusal is.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not report.
        InvalidRequestError: with the problems.
    """
    standing = standing_of(actor, workspace)
    with refusals_recorded(workspace, _attempt(standing.token, trace)):
        require(may_report(standing))
        raise InvalidRequestError(problems)


def _attempt(token: str, trace: Trace) -> Act:
    return Act(action=REFUSED, actor=token, authentication=trace.authentication, request_id=trace.request_id)


def _hosts_take(
    actor: Person, workspace: Workspace, slot: str, documents: Sequence[bytes], trace: Trace
) -> frozenset[str]:
    """Take reports of hosts; return their places."""
    with _refusals_noted(actor, workspace, slot, documents, trace):
        require(may_report(standing_of(actor, workspace)))
        sent = sent_reports(documents, now=database_now(), fresh=fresh_for())
        with workspace_write(workspace.pk):
            require_slot(workspace, slot)
            _take(actor, workspace, slot, sent, trace)
    return frozenset(one.place for one in sent)


@contextmanager
def _refusals_noted(
    actor: Person, workspace: Workspace, slot: str, documents: Sequence[bytes], trace: Trace
) -> Iterator[None]:
    """Record a refusal once for each host and reason, so that a fleet which is refused every minute floods no log."""
    standing = standing_of(actor, workspace)
    try:
        yield
    except NotFoundError:
        raise
    except ReviewError as error:
        problems = error.problems if isinstance(error, InvalidRequestError) else ()
        codes = " ".join(sorted({problem.code for problem in problems})) or error.code
        place, host = _refused_place(documents, error)
        message = without_names(error.message)[:2000]
        with workspace_write(workspace.pk):
            is_known = bool(place) and not isinstance(error, NotAllowedError)
            is_known = is_known and Decision.objects.filter(workspace=workspace, slot=slot).exists()
            if not is_known or not place_refuse(
                workspace, slot, place, host, person=actor, codes=codes[:200], because=message
            ):
                append(workspace, replace(_attempt(standing.token, trace), reason=message))
        raise


def _refused_place(documents: Sequence[bytes], error: ReviewError) -> tuple[str, str]:
    """Return place and host of the first report at fault, else of the first that says one; "" where none does."""
    places = [place_in(raw) for raw in documents]
    if isinstance(error, InvalidRequestError):
        pointers = [problem.pointer for problem in error.problems]
        named = [found for at, found in enumerate(places) if any(one.startswith(f"identity[{at}]") for one in pointers)]
    else:
        named = [found for found in places if found[0] and f"{found[0]}: " in error.message]
    return named[0] if named else next((found for found in places if found[0]), ("", ""))


def _take(actor: Person, workspace: Workspace, slot: str, sent: Sequence[Sent], trace: Trace) -> None:
    now = database_now()
    held = held_by(workspace, slot, now)
    new = _not_yet_taken(workspace, slot, sent)
    _require_launched(workspace, slot, held, new)
    changed = []
    for one in new:
        judged = _judged(held, one)
        subject = held.activation.subject if held is not None and judged.said is not None else ""
        is_new = place_keep(workspace, slot, one, person=actor, subject=subject, said=judged.said, now=now)
        # What was told while the decision was contested, say, and ended nothing, ends it now.
        if is_new or (judged.differences and _is_effective(held)):
            changed.append(judged)
    if changed:
        _record(actor, workspace, slot, held, changed, trace)


def _is_effective(held: Held | None) -> bool:
    return held is not None and held.state == DecisionState.EFFECTIVE


def _not_yet_taken(workspace: Workspace, slot: str, sent: Sequence[Sent]) -> list[Sent]:
    """Return the reports that are newer than what is there; the very same one again is nothing new.

    Raises:
        ConflictError: there is a newer one, another of the same second, or there are too many hosts.
    """
    rows = HostReport.objects.filter(workspace=workspace, slot=slot)
    known = {row.place: row for row in rows.filter(place__in=[one.place for one in sent]).defer("body", "said")}
    problems, new = [], []
    for one in sent:
        row = known.get(one.place)
        if row is None or row.collected_at is None or one.collected_at > row.collected_at:
            new.append(one)
        elif one.sha256 != row.sha256:
            problems.append(
                f"{one.place}: expected a report after {utc_text(row.collected_at)[:19]}Z, which is there already, "
                f"found one of {utc_text(one.collected_at)[:19]}Z."
            )
    fresh = sum(one.place not in known for one in new)
    if fresh and rows.count() + fresh > MOST_PLACES:
        problems.append(f"{slot} has {rows.count():,} hosts; at most {MOST_PLACES:,} report.")
    if problems:
        raise ConflictError(" ".join(problems))
    return new


def _require_launched(workspace: Workspace, slot: str, held: Held | None, sent: Sequence[Sent]) -> None:
    """Refuse what says that it was launched under another decision than the one that holds.

    Raises:
        ConflictError: with every host.
    """
    holds = held.activation.subject if held is not None else ""
    others = [one for one in sent if one.subject and one.subject != holds]
    if not others:
        return
    planned = PlannedRevision.objects.filter(
        subject__in=[one.subject for one in others], revision__decision__workspace=workspace
    ).select_related("revision__decision")
    names = {row.subject: f"{row.revision.decision.label} r{row.revision.number}" for row in planned}
    instead = f"{held.name} is." if held is not None else "nothing is."
    raise ConflictError(
        " ".join(
            f"{one.place}: it runs what was launched under {names.get(one.subject, printable(one.subject, 80))}, "
            f"which is not in force for {slot}: {instead}"
            for one in others
        )
    )


def _judged(held: Held | None, sent: Sent) -> _Judged:
    """Judge a report by what holds; one from before that came into force says nothing of it."""
    if held is None or sent.collected_at < held.activation.activated_at:
        return _Judged(sent, None)
    said = said_of(decided_by(held.activation), sent.identity, sent.seen, sent.environment, node=sent.node)
    owners = owners_of(held.activation)
    return _Judged(sent, said, tuple(owned(owners, one) for one in said.differs))


def _record(
    actor: Person, workspace: Workspace, slot: str, held: Held | None, changed: Sequence[_Judged], trace: Trace
) -> None:
    """Keep what is new, turn the decision stale where a key differs, and write the entry of the request."""
    now = database_now()
    rows, told = [], []
    for one in changed:
        named = keys_value(one.differences)
        kept = blob_keep(one.sent.raw).sha256
        # A report that says nothing of what was decided does not say that it is as decided.
        matches = one.said is not None and bool(one.said.keys or one.said.ranks) and not one.differences
        rows.append(
            IdentityReport(
                workspace=workspace,
                slot=slot,
                decision=held.decision if held else None,
                identity_id=kept,
                place=one.sent.place,
                matches=matches,
                differences=keys_text(named),
                person=actor,
                reported_at=now,
            )
        )
        told.append({"place": one.sent.place, "identity": kept, "matches": matches, "differences": named})
    IdentityReport.objects.bulk_create(rows)
    differing = [(one.sent.place, each) for one in changed for each in one.differences]
    if differing and held is not None and _is_effective(held):
        decision_move(held.decision, "differ", now)
    append(workspace, _act(actor, slot, held, differing, told, trace))


def _act(
    actor: Person,
    slot: str,
    held: Held | None,
    differing: Sequence[tuple[str, Difference]],
    told: list[dict[str, Any]],
    trace: Trace,
) -> Act:
    place, first = differing[0] if differing else ("", None)
    return Act(
        action="identity.differs" if first else "identity.reported",
        actor=actor.token,
        decision=held.decision.number if held else None,
        revision=held.activation.revision.number if held else None,
        subject=held.activation.subject if held else None,
        team=first.team if first else None,
        reason=f"{place}: {difference_text(first)}{also_text([one for _, one in differing])}"[:2000] if first else None,
        authentication=trace.authentication,
        request_id=trace.request_id,
        payload_type="topogate.identity/v1",
        payload={"slot": slot, "reports": told},
    )
