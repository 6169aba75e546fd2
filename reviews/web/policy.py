"""The policy of a workspace, changed by two admins; and seats that are lent for a time."""

import json
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from planner.document_diff import ABSENT, document_diff
from planner.times import lasting, parsed_day
from reviews.clock import when
from reviews.errors import (
    ConflictError,
    Finding,
    InvalidRequestError,
    NotAllowedError,
    ProofNeededError,
    ReviewError,
    printable,
)
from reviews.policies.document import PolicyDocument, team_title
from reviews.selectors.policy_page import DelegationRow, PolicyPage, delegation_page, policy_page
from reviews.selectors.proposals import ProposalRow
from reviews.services.delegations import delegation_end, delegation_make
from reviews.services.policy_changes import policy_tree
from reviews.services.proposal_ends import proposal_decline, proposal_withdraw
from reviews.services.proposals import HANDLERS
from reviews.services.two_persons import proposal_countersign, proposal_make
from reviews.web.frame import PersonRequest, frame, page, trace_of, workspace_of
from reviews.web.links import number_or_none
from reviews.web.reauthentication import ask_again, typed_before
from reviews.web.release_rows import Waiting, place_of, waiting_of

REFUSED = (ConflictError, InvalidRequestError, NotAllowedError)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def policy_detail(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the policy; take a proposal to change it, or the countersignature of another admin."""
    here = reverse("policy-detail", args=[slug])
    if request.method != "POST":
        return _policy_shown(request, slug, typed=typed_before(request))
    typed = {name: request.POST.get(name, "") for name in ("act", "policy", "base", "reason", "proposal")}
    try:
        _change(request, slug, typed)
    except ProofNeededError as refused:
        return ask_again(request, refused, back=here + place_of(typed), typed=typed)
    except REFUSED as refused:
        return _policy_shown(request, slug, typed=typed, refused=refused)
    return redirect(here)


def _change(request: PersonRequest, slug: str, typed: dict[str, str]) -> None:
    common = _common(request, slug)
    proposal_id = number_or_none(typed["proposal"]) or 0
    if typed["act"] == "countersign":
        proposal_countersign(HANDLERS, proposal_id=proposal_id, **common)
    elif typed["act"] == "decline":
        proposal_decline(HANDLERS, proposal_id=proposal_id, reason=typed["reason"], **common)
    elif typed["act"] == "withdraw_proposal":
        proposal_withdraw(proposal_id=proposal_id, reason=typed["reason"], **common)
    else:

        def body() -> dict[str, Any]:
            return {"base": typed["base"], "policy": policy_tree(typed["policy"].encode())}

        proposal_make(HANDLERS["policy"], body=body, reason=typed["reason"], **common)


def _common(request: PersonRequest, slug: str) -> dict[str, Any]:
    return {"actor": request.user, "workspace": workspace_of(slug), "trace": trace_of(request)}


def _policy_shown(
    request: PersonRequest, slug: str, *, typed: dict[str, str], refused: ReviewError | None = None
) -> HttpResponse:
    found = policy_page(actor=request.user, workspace=workspace_of(slug))
    context = frame(
        slug,
        "policy",
        version=found.version,
        content_id=found.content_id,
        teams=[
            (
                team.title,
                team.quorum,
                "hard veto" if team.hard_veto else "",
                ", ".join(found.members.get(name, ())) or "nobody",
            )
            for name, team in sorted(found.document.teams.items())
        ],
        owners=[
            *((pointer, team_title(team)) for pointer, team in sorted(found.document.identity_owners.items())),
            *((f"gates: {family}", team_title(team)) for family, team in sorted(found.document.gate_owners.items())),
            ("everything else", team_title(found.document.fallback_owner)),
        ],
        duties=_duties(found.document),
        lasting=_lasting(found.document.max_age_s),
        is_second_demanded=found.document.second_factor,
        versions=[
            (
                row.version,
                row.content_id,
                f"{row.proposed_by} and {row.made_by}" if row.proposed_by else row.made_by,
                when(row.made_at),
            )
            for row in found.versions
        ],
        waiting=tuple(_waiting(row, found, {} if refused else typed) for row in found.proposals),
        off="" if found.may_change.allowed else found.may_change.reason,
        policy=typed.get("policy") or json.dumps(found.tree, indent=2, sort_keys=True),
        reason=typed.get("reason", ""),
        problem=refused.message if refused else "",
        is_confirmed=not refused and typed.get("act") == "propose",
    )
    return render(request, "reviews/policy_detail.html", context, status=refused.status if refused else 200)


def _waiting(row: ProposalRow, found: PolicyPage, typed: dict[str, str]) -> Waiting:
    """Write a proposed policy as what it changes: nobody agrees to a page of JSON that they cannot compare."""
    if row.body.get("base") != found.content_id:
        return replace(waiting_of(row, typed=typed), lines=())
    changes = document_diff(found.tree, row.body["policy"])
    lines = tuple((one.pointer, f"{_json(one.before)} → {_json(one.after)}") for one in changes)
    return replace(waiting_of(row, typed=typed), lines=lines)


def _json(value: object) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)


def _duties(document: PolicyDocument) -> list[tuple[str, str]]:
    """Say which teams do what beside reviewing."""

    def named(*teams: str) -> str:
        return " and ".join(
            team_title(team) if team in document.teams else f"{team} (the policy has no such team)" for team in teams
        )

    duties = document.duties
    return [
        ("puts into force", " or ".join(map(team_title, duties.release)) or "every team"),
        ("declares emergencies", named(duties.emergency)),
        ("countersigns waivers", named(duties.waiver)),
        ("revokes", named(*duties.revocation)),
    ]


def _lasting(max_age_s: int | None) -> str:
    """Say how long a decision stays in force, in the largest unit that is exact."""
    return f"In force for {lasting(max_age_s)}" if max_age_s else "In force without a limit of time"


@require_http_methods(["GET", "HEAD", "POST"])
@page
def delegation_list(request: PersonRequest, slug: str) -> HttpResponse:
    """Show who signs in whose place; lend one's own seat, or end a delegation."""
    here = reverse("delegation-list", args=[slug])
    if request.method != "POST":
        return _delegations_shown(request, slug, typed=typed_before(request))
    typed = {name: request.POST.get(name, "") for name in ("act", "team", "taker", "starts", "ends", "reason", "id")}
    try:
        if typed["act"] == "end":
            delegation_end(delegation_id=number_or_none(typed["id"]) or 0, **_common(request, slug))
        else:
            starts, ends = _days(typed, "starts", "ends")
            delegation_make(
                team=typed["team"],
                taker=typed["taker"],
                starts_at=starts,
                ends_at=ends,
                reason=typed["reason"],
                **_common(request, slug),
            )
    except ProofNeededError as refused:
        return ask_again(request, refused, back=here, typed=typed)
    except REFUSED as refused:
        return _delegations_shown(request, slug, typed=typed, refused=refused)
    return redirect(here)


def _days(typed: dict[str, str], *names: str) -> list[datetime]:
    """Read days; each begins at midnight UTC.

    Raises:
        InvalidRequestError: with every field that holds none.
    """
    days, problems = [], []
    for name in names:
        day = parsed_day(typed[name])
        if day is not None:
            days.append(datetime.combine(day, time(), UTC))
        else:
            found = printable(typed[name]) or "nothing"
            problems.append(Finding("request", f"request/{name}", name, "a day such as 2026-09-20", found))
    if problems:
        raise InvalidRequestError(tuple(problems))
    return days


def _delegations_shown(
    request: PersonRequest, slug: str, *, typed: dict[str, str], refused: ReviewError | None = None
) -> HttpResponse:
    found = delegation_page(actor=request.user, workspace=workspace_of(slug))
    now = timezone.now()
    context = frame(
        slug,
        "delegations",
        rows=[
            (row, team_title(row.team), when(row.starts_at), when(row.ends_at), state_of(row, now))
            for row in found.rows
        ],
        teams=[(team, team_title(team)) for team in found.teams],
        typed=typed,
        problem=refused.message if refused else "",
    )
    return render(request, "reviews/delegation_list.html", context, status=refused.status if refused else 200)


def state_of(row: DelegationRow, now: datetime) -> str:
    """Say where a delegation stands."""
    if row.ended_at is not None:
        return f"ended {when(row.ended_at)} UTC"
    if now < row.starts_at:
        return "to come"
    return "holds" if now < row.ends_at else "over"
