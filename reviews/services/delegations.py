"""Lets somebody sign in one's place for a time: dated, at most 30 days, not passed on, both names printed."""

from dataclasses import replace
from datetime import datetime, timedelta

from reviews.audit import Act, append, refusals_recorded, workspace_write
from reviews.clock import database_now, utc_text
from reviews.errors import ConflictError, Finding, InvalidRequestError, NotAllowedError, NotFoundError, printable
from reviews.facts import Standing
from reviews.models import Delegation, DelegationEnd, Membership, Person, Role, Team, Workspace
from reviews.policies.permissions import SIGNING_ROLES, may_comment
from reviews.selectors.people import standing_of
from reviews.services.acting import require, require_proof, require_prose
from reviews.services.people import UNTRACED, Trace

LONGEST = timedelta(days=30)


def delegation_make(
    *,
    actor: Person,
    workspace: Workspace,
    team: str,
    taker: str,
    starts_at: datetime,
    ends_at: datetime,
    reason: str,
    trace: Trace = UNTRACED,
) -> Delegation:
    """Let the member with the login ``taker`` sign for the team in the actor's place.

    The same again returns the first.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        NotAllowedError: the actor has no seat in the team, or has not shown recently who they are.
        InvalidRequestError: with every problem of taker, times and reason.
        ConflictError: the actor delegated this seat for a part of that time already.
    """
    standing = standing_of(actor, workspace)
    attempt = _attempt("delegation.refused", standing, team, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        if team not in standing.teams or standing.role not in SIGNING_ROLES:
            raise NotAllowedError(f"You have no seat in {printable(team)}. Only one's own seat is lent, and once.")
        if trace.authentication is None or trace.authentication.method == "token":
            raise NotAllowedError("An API token lends no seat. Do it on the page.")
        require_proof(trace.authentication, workspace.pk)
        said = require_prose("reason", reason)
        person = _taker(workspace, standing, team, taker)
        _require_time(starts_at, ends_at)
        lent = Delegation.objects.filter(
            workspace=workspace, giver_id=standing.person_id, team__slug=team, end__isnull=True
        )
        same = lent.filter(taker=person, starts_at=starts_at, ends_at=ends_at, reason=said).first()
        if same is not None:
            return same
        if lent.filter(starts_at__lt=ends_at, ends_at__gt=starts_at).exists():
            raise ConflictError(f"Your seat in {team} is lent for a part of this time already.")
        made = Delegation.objects.create(
            workspace=workspace,
            team=Team.objects.get(workspace=workspace, slug=team),
            giver_id=standing.person_id,
            taker=person,
            starts_at=starts_at,
            ends_at=ends_at,
            reason=said,
            made_at=database_now(),
        )
        append(workspace, _entry("delegation.made", attempt, made, said))
    return made


def delegation_end(
    *, actor: Person, workspace: Workspace, delegation_id: int, trace: Trace = UNTRACED
) -> DelegationEnd:
    """End a delegation before its time; a second time returns the first. Its giver does it, or an admin.

    Raises:
        NotFoundError: no such delegation, or the actor is no member of the workspace.
        NotAllowedError: it is somebody else's.
    """
    standing = standing_of(actor, workspace)
    rows = Delegation.objects.filter(workspace=workspace, pk=delegation_id)
    delegation = rows.select_related("team", "giver", "taker").first()
    if delegation is None:
        raise NotFoundError("There is no such delegation in this workspace.")
    attempt = _attempt("delegation.end_refused", standing, delegation.team.slug, trace)
    with refusals_recorded(workspace, attempt), workspace_write(workspace.pk):
        require(may_comment(standing))
        if delegation.giver_id != standing.person_id and standing.role != Role.ADMIN:
            raise NotAllowedError("A delegation is ended by who gave it, or by an admin.")
        earlier = DelegationEnd.objects.filter(delegation=delegation).first()
        if earlier is not None:
            return earlier
        end = DelegationEnd.objects.create(delegation=delegation, person_id=standing.person_id, ended_at=database_now())
        append(workspace, _entry("delegation.ended", attempt, delegation, None))
    return end


def _taker(workspace: Workspace, standing: Standing, team: str, login: str) -> Person:
    membership = (
        Membership.objects.filter(workspace=workspace, person__login=printable(login), person__is_active=True)
        .select_related("person")
        .first()
    )
    found = ""
    if membership is None:
        found = "nobody of this login in the workspace"
    elif membership.role not in SIGNING_ROLES:
        found = f"somebody with the role {membership.role}, which never signs"
    elif membership.person_id == standing.person_id:
        found = "yourself"
    elif membership.seats.filter(team__slug=team).exists():
        found = "a member of the team, who signs from their own seat"
    if membership is None or found:
        problem = Finding("request", "request/taker", "taker", "another member who may sign", found)
        raise InvalidRequestError((problem,))
    person: Person = membership.person
    return person


def _require_time(starts_at: datetime, ends_at: datetime) -> None:
    now = database_now()
    # The difference, not the sum: a sum beyond the year 9999 is no time.
    if not timedelta() < ends_at - starts_at <= LONGEST or ends_at <= now:
        expected = f"after the start and now, in at most {LONGEST.days} days"
        problem = Finding("request", "request/ends_at", "ends_at", expected, utc_text(ends_at))
        raise InvalidRequestError((problem,))


def _attempt(action: str, standing: Standing, team: str, trace: Trace) -> Act:
    return trace.act(action, standing.token, team=printable(team))


def _entry(action: str, attempt: Act, delegation: Delegation, reason: str | None) -> Act:
    return replace(
        attempt,
        action=action,
        reason=reason,
        payload_type="topogate.delegation/v1",
        payload={
            "person": delegation.taker.token,
            "in_place_of": delegation.giver.token,
            "starts_at": utc_text(delegation.starts_at),
            "ends_at": utc_text(delegation.ends_at),
        },
    )
