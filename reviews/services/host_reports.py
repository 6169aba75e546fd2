"""Hosts report what they are: one request, one entry where that is something new, none where nothing changed (ADR 24).

Rules kept: a report never changes what a decision says, it can only turn it stale; what is refused is an entry, once
for each host and reason; a report is of the decision that it was launched under, and of nothing from before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.identity_live import Said, said_of
from reviews.audit import Act, append, workspace_write
from reviews.blobs import blob_keep
from reviews.clock import database_now, when_exactly
from reviews.errors import ConflictError, InvalidRequestError, printable
from reviews.models import DecisionState, HostReport, IdentityReport, Person, PlannedRevision, Workspace
from reviews.policies.host_reports import WHOLE, Sent, is_of_a_host, part_problems, sent_reports, time_of_whole
from reviews.policies.permissions import may_report
from reviews.policies.report_news import News
from reviews.policies.validity import Difference, owned
from reviews.selectors.decided import decided_by, owners_of
from reviews.selectors.live_identity import Held, LiveIdentity, check_of, held_by, live_slot, standing
from reviews.selectors.people import standing_of
from reviews.selectors.reported_keys import fresh_for, keys_text, keys_value
from reviews.selectors.slot_check import SlotCheck, live_identity
from reviews.services.acting import require
from reviews.services.host_places import Change, places_keep, places_known, room_require
from reviews.services.identity_reports import identity_report, require_slot
from reviews.services.people import UNTRACED, Trace
from reviews.services.report_entries import course_value, told_differences, told_text
from reviews.services.report_refusals import refusals_noted
from reviews.services.states import decision_move


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


@dataclass(frozen=True, slots=True)
class _Told:
    """A report that is told: what it is after the one before, and what differs, or did where its place flaps."""

    judged: _Judged
    change: Change
    differences: tuple[Difference, ...]

    @property
    def place(self) -> str:
        """Whose report it is."""
        return self.judged.sent.place


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
        with refusals_noted(actor, workspace, slot, (), trace):
            live = live_identity(documents[0])
            at = time_of_whole(documents[0], now=database_now(), fresh=fresh_for())
        check = identity_report(actor=actor, workspace=workspace, slot=slot, live=live, collected_at=at, trace=trace)
    else:
        places = _hosts_take(actor, workspace, slot, documents, trace)
    found = live_slot(workspace, slot, database_now())
    return Answer(standing(check, found) if check else check_of(found), found, places)


def _hosts_take(
    actor: Person, workspace: Workspace, slot: str, documents: Sequence[bytes], trace: Trace
) -> frozenset[str]:
    """Take reports of hosts; return their places."""
    with refusals_noted(actor, workspace, slot, documents, trace):
        require(may_report(standing_of(actor, workspace)))
        sent = sent_reports(documents, now=database_now(), fresh=fresh_for())
        with workspace_write(workspace.pk):
            require_slot(workspace, slot)
            _take(actor, workspace, slot, sent, trace)
    return frozenset(one.place for one in sent)


def _take(actor: Person, workspace: Workspace, slot: str, sent: Sequence[Sent], trace: Trace) -> None:
    now = database_now()
    held = held_by(workspace, slot, now)
    known = places_known(workspace, slot, [one.place for one in sent])
    new = _not_yet_taken(known, sent)
    newcomers = [one.place for one in new if one.place not in known or not known[one.place].sha256]
    room_require(workspace, slot, newcomers, decided_by(held.activation).places if held else frozenset(), now)
    _require_launched(workspace, slot, held, new)
    _require_whole(held, sent)
    judged = [_judged(held, one) for one in new]
    changes = places_keep(
        workspace,
        slot,
        [(one.sent, one.said) for one in judged],
        known=known,
        person=actor,
        subject=held.activation.subject if held is not None else "",
        now=now,
    )
    told = [
        _Told(one, change, told_differences(one.differences, _before(held, change)))
        for one, change in zip(judged, changes, strict=True)
        # What was told while the decision was contested, say, and ended nothing, ends it now.
        if change.news is not News.NOTHING or (one.differences and _is_effective(held))
    ]
    if told:
        _record(actor, workspace, slot, held, told, trace)


def _is_effective(held: Held | None) -> bool:
    return held is not None and held.state == DecisionState.EFFECTIVE


def _not_yet_taken(known: Mapping[str, HostReport], sent: Sequence[Sent]) -> list[Sent]:
    """Return the reports that are newer than what is there; the very same one again is nothing new.

    Raises:
        ConflictError: there is a newer one, or another of the same second.
    """
    problems, new = [], []
    for one in sent:
        row = known.get(one.place)
        if row is None or row.collected_at is None or one.collected_at > row.collected_at:
            new.append(one)
        elif one.sha256 != row.sha256:
            problems.append(
                f"{one.place}: expected a report after {when_exactly(row.collected_at)} UTC, which is there already, "
                f"found one of {when_exactly(one.collected_at)} UTC."
            )
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


def _require_whole(held: Held | None, sent: Sequence[Sent]) -> None:
    """Refuse rank maps that hold only the ranks of one host.

    Raises:
        InvalidRequestError: with every such map.
    """
    problems = tuple(part_problems(sent, decided_by(held.activation))) if held is not None else ()
    if problems:
        raise InvalidRequestError(problems)


def _judged(held: Held | None, sent: Sent) -> _Judged:
    """Judge a report by what holds; one from before that came into force says nothing of it."""
    if held is None or sent.collected_at < held.activation.activated_at:
        return _Judged(sent, None)
    said = said_of(decided_by(held.activation), sent.identity, sent.seen, sent.environment, node=sent.node)
    owners = owners_of(held.activation)
    return _Judged(sent, said, tuple(owned(owners, one) for one in said.differs))


def _record(
    actor: Person, workspace: Workspace, slot: str, held: Held | None, told: Sequence[_Told], trace: Trace
) -> None:
    """Keep what is new, turn the decision stale where a key differs, and write the entry of the request."""
    now = database_now()
    rows, values = [], []
    for one in told:
        said = one.judged.said
        named = keys_value(one.differences)
        kept = blob_keep(one.judged.sent.raw).sha256
        # A report that says nothing of what was decided does not say that it is as decided.
        matches = said is not None and bool(said.keys or said.ranks) and not one.differences
        rows.append(
            IdentityReport(
                workspace=workspace,
                slot=slot,
                decision=held.decision if held else None,
                identity_id=kept,
                place=one.place,
                matches=matches,
                differences=keys_text(named),
                person=actor,
                reported_at=now,
            )
        )
        value = {"place": one.place, "identity": kept, "matches": matches, "differences": named}
        values.append(value | course_value(one.change))
    IdentityReport.objects.bulk_create(rows)
    if any(one.judged.differences for one in told) and held is not None and _is_effective(held):
        decision_move(held.decision, "differ", now)
    append(workspace, _act(actor, slot, held, told, values, trace))


def _before(held: Held | None, change: Change) -> tuple[Difference, ...]:
    """Return what differed until now on a host that flaps from now on."""
    if held is None or not change.before:
        return ()
    owners = owners_of(held.activation)
    return tuple(owned(owners, one) for one in change.before)


def _act(
    actor: Person,
    slot: str,
    held: Held | None,
    told: Sequence[_Told],
    values: list[dict[str, Any]],
    trace: Trace,
) -> Act:
    one = next((one for one in told if one.differences), told[0])
    first = one.differences[0] if one.differences else None
    others = [difference for other in told if other is not one for difference in other.differences]
    return trace.act(
        "identity.differs" if first else "identity.reported",
        actor.token,
        decision=held.decision.number if held else None,
        revision=held.activation.revision.number if held else None,
        subject=held.activation.subject if held else None,
        team=first.team if first else None,
        reason=told_text(one.change, (*one.differences, *others), one.place),
        payload_type="topogate.identity/v1",
        payload={"slot": slot, "reports": values},
    )
