"""A whole slot reports what it is: an entry where that is new; where it differs, the decision turns stale.

Rules kept: what speaks for the whole slot has to say everything, so a missing key differs. Reports of single hosts are
another matter (``host_reports``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from planner.canonical import canonical_bytes
from planner.identity_check import KeyDifference
from planner.identity_live import Said, said_by_whole, seen_in
from reviews.audit import append, workspace_write
from reviews.blobs import blob_keep
from reviews.clock import database_now, when_exactly
from reviews.errors import ConflictError, Finding, InvalidRequestError, is_storable, printable
from reviews.models import Decision, DecisionState, HostReport, IdentityReport, Person, Workspace
from reviews.policies.host_reports import WHOLE, Sent, value_problems
from reviews.policies.permissions import may_report
from reviews.policies.report_news import News
from reviews.policies.validity import Difference, owned
from reviews.selectors.decided import decided_by, owners_of
from reviews.selectors.live_identity import Held, held_by
from reviews.selectors.people import standing_of
from reviews.selectors.reported_keys import keys_text, keys_value
from reviews.selectors.slot_check import SLOT_LENGTH, SlotCheck, checked_slot
from reviews.services.acting import require
from reviews.services.host_places import Change, places_keep, places_known
from reviews.services.people import UNTRACED, Trace
from reviews.services.report_entries import course_value, told_differences, told_text
from reviews.services.report_refusals import refusals_noted
from reviews.services.states import decision_move


def identity_report(
    *,
    actor: Person,
    workspace: Workspace,
    slot: str,
    live: Mapping[str, Any],
    collected_at: datetime | None = None,
    trace: Trace = UNTRACED,
) -> SlotCheck:
    """Record what a whole slot says it is, and return how that stands to the decision in force.

    ``collected_at`` is when it was so; now where nobody says it.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor may not report.
        InvalidRequestError: the slot has no such name, or the identity cannot be kept.
        ConflictError: it is from before the last one, or from before what is in force came so.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    standing = standing_of(actor, workspace)
    with refusals_noted(actor, workspace, slot, (), trace), workspace_write(workspace.pk):
        require(may_report(standing))
        raw = _raw(slot, live)
        require_slot(workspace, slot)
        now = database_now()
        found = checked_slot(workspace, slot, live, now)
        if collected_at is not None:
            _require_after(workspace, slot, collected_at, found)
        seen, at = seen_in(live), min(collected_at or now, now)
        sent = Sent(place=WHOLE, host="", collected_at=at, raw=raw, identity=live, seen=seen)
        held = held_by(workspace, slot, now)
        said = said_by_whole(decided_by(held.activation), live, seen) if held is not None else None
        change = _kept(actor, workspace, slot, sent, held, said, now)
        found = replace(_compared(found, held, said), matches=found.matches and not change.is_flapping)
        ends = bool(found.differences) and found.state == DecisionState.EFFECTIVE
        # What was told while the decision was contested, say, and ended nothing, ends it now.
        if change.news is News.NOTHING and not ends:
            return found
        differences = told_differences(found.differences, _owned(held, change.before))
        named = keys_value(differences)
        kept = blob_keep(raw).sha256
        IdentityReport.objects.create(
            workspace=workspace,
            slot=slot,
            decision=found.decision,
            identity_id=kept,
            matches=found.matches,
            differences=keys_text(named),
            person_id=standing.person_id,
            reported_at=now,
        )
        if ends and found.decision is not None:
            decision_move(found.decision, "differ", now)
        told = {"slot": slot, "identity": kept, "matches": found.matches, "differences": named, **course_value(change)}
        append(workspace, trace.act(actor=standing.token, **_told(found, change, differences, told)))
    return found


def _told(found: SlotCheck, change: Change, differences: Sequence[Difference], told: dict[str, Any]) -> dict[str, Any]:
    """Return what the entry of a report says of it."""
    return {
        "action": "identity.differs" if differences else "identity.reported",
        "decision": found.decision.number if found.decision else None,
        "revision": found.activation.revision.number if found.activation else None,
        "subject": found.activation.subject if found.activation else None,
        "team": differences[0].team if differences else None,
        "reason": told_text(change, differences),
        "payload_type": "topogate.identity/v1",
        "payload": told,
    }


def require_slot(workspace: Workspace, slot: str) -> None:
    """Refuse a slot for which there never was a decision.

    Raises:
        InvalidRequestError: there was none.
    """
    if not (is_storable(slot) and Decision.objects.filter(workspace=workspace, slot=slot).exists()):
        wanted = "a slot of this workspace that has a decision"
        raise InvalidRequestError((Finding("request", "request/unknown_slot", "slot", wanted, printable(slot, 128)),))


def _require_after(workspace: Workspace, slot: str, collected_at: datetime, found: SlotCheck) -> None:
    """Refuse what was collected before the last report of the whole slot, or before what is in force came so.

    Raises:
        ConflictError: it was.
    """
    last = HostReport.objects.filter(workspace=workspace, slot=slot, place=WHOLE).values_list("collected_at", flat=True)
    known = [at for at in last if at is not None]
    if found.activation is not None:
        known.append(found.activation.activated_at)
    if known and collected_at < max(known):
        raise ConflictError(
            f"Expected reports of {slot} after {when_exactly(max(known))} UTC, found some of "
            f"{when_exactly(collected_at)} UTC."
        )


def _kept(
    actor: Person, workspace: Workspace, slot: str, sent: Sent, held: Held | None, said: Said | None, now: datetime
) -> Change:
    """Keep what the slot says; return what that is after the last time."""
    (change,) = places_keep(
        workspace,
        slot,
        [(sent, said)],
        known=places_known(workspace, slot, [WHOLE]),
        person=actor,
        subject=held.activation.subject if held is not None else "",
        now=now,
    )
    return change


def _compared(found: SlotCheck, held: Held | None, said: Said | None) -> SlotCheck:
    """Return a check of nothing in force with what was put into force last, and how the slot differs from that."""
    if found.decision is not None or held is None or said is None:
        return found
    return replace(found, decision=held.decision, activation=held.activation, differences=_owned(held, said.differs))


def _owned(held: Held | None, differs: Sequence[KeyDifference]) -> tuple[Difference, ...]:
    if held is None or not differs:
        return ()
    owners = owners_of(held.activation)
    return tuple(owned(owners, one) for one in differs)


def _raw(slot: str, live: Mapping[str, Any]) -> bytes:
    problems = []
    if not (0 < len(slot) <= SLOT_LENGTH and is_storable(slot) and slot.isprintable()):
        expected = f"1 to {SLOT_LENGTH} printable characters"
        problems.append(Finding("request", "request/slot", "slot", expected, printable(slot) or "nothing"))
    try:
        raw = canonical_bytes(dict(live))
    except (TypeError, ValueError) as error:
        problems.append(Finding("request", "request/identity", "identity", "JSON that can be kept", f"{error}"[:120]))
        raw = b""
    problems += value_problems(live, "identity") if raw else ()
    if problems:
        raise InvalidRequestError(tuple(problems))
    return raw
