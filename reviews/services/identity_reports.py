"""A whole slot reports what it is: an entry where that is new; where it differs, the decision turns stale.

Rules kept: what speaks for the whole slot has to say everything, so a missing key differs. Reports of single hosts are
another matter (``host_reports``).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from planner.canonical import canonical_bytes
from planner.identity_live import said_by_whole, seen_in
from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.blobs import blob_keep
from reviews.clock import database_now, utc_text
from reviews.errors import ConflictError, Finding, InvalidRequestError, is_storable, printable
from reviews.models import Decision, DecisionState, HostReport, IdentityReport, Person, Workspace
from reviews.policies.host_reports import WHOLE, Sent
from reviews.policies.permissions import may_report
from reviews.policies.validity import also_text
from reviews.selectors.decided import decided_by
from reviews.selectors.live_identity import held_by
from reviews.selectors.people import standing_of
from reviews.selectors.reported_keys import keys_text, keys_value
from reviews.selectors.slot_check import SLOT_LENGTH, SlotCheck, checked_slot, difference_text
from reviews.services.acting import require
from reviews.services.host_places import place_keep
from reviews.services.people import UNTRACED, Trace
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
    attempt = Act(
        action="identity.report_refused",
        actor=standing.token,
        authentication=trace.authentication,
        request_id=trace.request_id,
    )
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        require(may_report(standing))
        raw = _raw(slot, live)
        require_slot(workspace, slot)
        now = database_now()
        found = checked_slot(workspace, slot, live, now)
        if collected_at is not None:
            _require_after(workspace, slot, collected_at, found)
        ends = bool(found.differences) and found.state == DecisionState.EFFECTIVE
        at = min(collected_at or now, now)
        # What was told while the decision was contested, say, and ended nothing, ends it now.
        if not _is_new(actor, workspace, slot, raw, live, at, now) and not ends:
            return found
        kept = blob_keep(raw).sha256
        named = keys_value(found.differences)
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
        append(workspace, replace(attempt, **_told(found, kept, named)))
    return found


def _told(found: SlotCheck, kept: str, named: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the entry of a report says of it."""
    first = found.differences[0] if found.differences else None
    return {
        "action": "identity.differs" if first else "identity.reported",
        "decision": found.decision.number if found.decision else None,
        "revision": found.activation.revision.number if found.activation else None,
        "subject": found.activation.subject if found.activation else None,
        "team": first.team if first else None,
        "reason": f"{difference_text(first)}{also_text(found.differences)}"[:2000] if first else None,
        "payload_type": "topogate.identity/v1",
        "payload": {"slot": found.slot, "identity": kept, "matches": found.matches, "differences": named},
    }


def require_slot(workspace: Workspace, slot: str) -> None:
    """Refuse a slot for which there never was a decision.

    Raises:
        InvalidRequestError: there was none.
    """
    if not Decision.objects.filter(workspace=workspace, slot=slot).exists():
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
            f"Expected reports of {slot} after {utc_text(max(known))[:19]}Z, found some of "
            f"{utc_text(collected_at)[:19]}Z."
        )


def _is_new(
    actor: Person,
    workspace: Workspace,
    slot: str,
    raw: bytes,
    live: Mapping[str, Any],
    collected_at: datetime,
    now: datetime,
) -> bool:
    """Keep what the slot says, and say whether it stands otherwise to what was decided than the last time."""
    seen = seen_in(live)
    sent = Sent(place=WHOLE, host="", collected_at=collected_at, raw=raw, identity=live, seen=seen)
    held = held_by(workspace, slot, now)
    if held is None:
        return place_keep(workspace, slot, sent, person=actor, subject="", said=None, now=now)
    said = said_by_whole(decided_by(held.activation), live, seen)
    return place_keep(workspace, slot, sent, person=actor, subject=held.activation.subject, said=said, now=now)


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
    if problems:
        raise InvalidRequestError(tuple(problems))
    return raw
