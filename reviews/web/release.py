"""Putting a decision into force, ending its review, or going past it: one page, one form for each act that fits."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from reviews.errors import (
    ConflictError,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    ProofNeededError,
    ReviewError,
    TamperedError,
)
from reviews.selectors.pages import release_view
from reviews.services.activation import decision_activate
from reviews.services.closing import decision_close, decision_reject, decision_withdraw
from reviews.services.proposal_ends import proposal_decline, proposal_withdraw
from reviews.services.proposals import HANDLERS
from reviews.services.re_reviews import re_review_ask
from reviews.services.reproductions import revision_reproduce
from reviews.services.retractions import evidence_retract
from reviews.services.two_persons import proposal_countersign, proposal_make
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, page, trace_of, workspace_of
from reviews.web.links import number_or_none
from reviews.web.page_rows import subject_digests
from reviews.web.reauthentication import ask_again, typed_before
from reviews.web.release_rows import acts_of, in_force_of, place_of, waiting_of, waiver_line
from reviews.web.signoff_rows import requirements_of

Typed = Mapping[str, Sequence[str]]


@require_http_methods(["GET", "HEAD", "POST"])
@page
def decision_release(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show what can be done with a reviewed decision, or do it; a refused form keeps what was typed."""
    if request.method != "POST":
        kept = typed_before(request)
        return _shown(request, slug, number, typed={name: value.split("\x1f") for name, value in kept.items()})
    typed: Typed = {name: request.POST.getlist(name) for name in request.POST if name != "csrfmiddlewaretoken"}
    try:
        _done(request, slug, number, typed)
    except ProofNeededError as refused:
        kept = {name: "\x1f".join(values) for name, values in typed.items()}
        back = reverse("decision-release", args=[slug, number]) + place_of(kept)
        return ask_again(request, refused, back=back, typed=kept)
    except (ConflictError, NotAllowedError, InvalidRequestError, TamperedError) as refused:
        return _shown(request, slug, number, typed=typed, refused=refused)
    return redirect(reverse("decision-release", args=[slug, number]))


def _done(request: PersonRequest, slug: str, number: int, typed: Typed) -> None:
    """Carry out the act that a form names.

    Raises:
        NotFoundError: there is no such act.
        ReviewError: what the act's service refuses.
    """
    act = ACTS.get(_one(typed, "act"))
    if act is None:
        raise NotFoundError("There is no such act.")
    trace = trace_of(request)
    act({"actor": request.user, "workspace": workspace_of(slug), "trace": trace}, number, typed)


def _one(typed: Typed, name: str) -> str:
    return next(iter(typed.get(name, ())), "")


def _activate(common: dict[str, Any], number: int, typed: Typed) -> None:
    decision_activate(
        number=number,
        statement=_one(typed, "statement"),
        seen_subject=_one(typed, "seen_subject"),
        rollback=_one(typed, "rollback"),
        **common,
    )


def _re_review(common: dict[str, Any], number: int, typed: Typed) -> None:
    re_review_ask(number=number, teams=tuple(typed.get("teams", ())), reason=_one(typed, "reason"), **common)


def _reproduce(common: dict[str, Any], number: int, typed: Typed) -> None:
    revision_reproduce(number=number, revision=number_or_none(_one(typed, "revision")) or 0, **common)


def _retract(common: dict[str, Any], number: int, typed: Typed) -> None:
    evidence_retract(content_id=_one(typed, "content_id"), reason=_one(typed, "reason"), **common)


def _countersign(common: dict[str, Any], number: int, typed: Typed) -> None:
    proposal_countersign(HANDLERS, proposal_id=number_or_none(_one(typed, "proposal")) or 0, **common)


def _decline(common: dict[str, Any], number: int, typed: Typed) -> None:
    proposal_id = number_or_none(_one(typed, "proposal")) or 0
    proposal_decline(HANDLERS, proposal_id=proposal_id, reason=_one(typed, "reason"), **common)


def _withdraw_proposal(common: dict[str, Any], number: int, typed: Typed) -> None:
    proposal_id = number_or_none(_one(typed, "proposal")) or 0
    proposal_withdraw(proposal_id=proposal_id, reason=_one(typed, "reason"), **common)


def _ending(end: Callable[..., object]) -> Callable[[dict[str, Any], int, Typed], None]:
    def act(common: dict[str, Any], number: int, typed: Typed) -> None:
        end(number=number, reason=_one(typed, "reason"), **common)

    return act


def _proposing(kind: str, body_of: Callable[[Typed], dict[str, Any]]) -> Callable[[dict[str, Any], int, Typed], None]:
    def act(common: dict[str, Any], number: int, typed: Typed) -> None:
        proposal_make(
            HANDLERS[kind],
            body=body_of(typed),
            reason=_one(typed, "reason"),
            number=number,
            seen_subject=_one(typed, "seen_subject"),
            **common,
        )

    return act


def _waiver_body(typed: Typed) -> dict[str, Any]:
    trial, _, gate = _one(typed, "gate").rpartition(":")
    return {"trial": trial, "gate": gate, "ends_at": f"{_one(typed, 'ends')}T00:00:00Z"}


def _emergency_body(typed: Typed) -> dict[str, Any]:
    gates = [line.strip() for line in _one(typed, "failing_gates").splitlines() if line.strip()]
    named = {name: _one(typed, name) for name in ("trial", "incident")}
    return {**named, "hours": number_or_none(_one(typed, "hours")), "failing_gates": gates}


ACTS: dict[str, Callable[[dict[str, Any], int, Typed], None]] = {
    "activate": _activate,
    "close": _ending(decision_close),
    "reject": _ending(decision_reject),
    "withdraw": _ending(decision_withdraw),
    "re_review": _re_review,
    "reproduce": _reproduce,
    "retract": _retract,
    "waiver": _proposing("waiver", _waiver_body),
    "emergency": _proposing("emergency", _emergency_body),
    "lift_objection": _proposing(
        "lift_objection", lambda typed: {"signoff": number_or_none(_one(typed, "signoff")) or 0}
    ),
    "revocation": _proposing("revocation", lambda typed: {}),
    "rollback": _proposing("rollback", lambda typed: {"to": number_or_none(_one(typed, "to")) or 0}),
    "countersign": _countersign,
    "decline": _decline,
    "withdraw_proposal": _withdraw_proposal,
}


def _shown(
    request: PersonRequest, slug: str, number: int, *, typed: Typed, refused: ReviewError | None = None
) -> HttpResponse:
    found = release_view(actor=request.user, workspace=workspace_of(slug), number=number)
    problem = refused.message if refused else ""
    before = {} if refused else {name: _one(typed, name) for name in typed}
    acts = acts_of(found, typed=typed, problem=problem)
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-release"),
        number=number,
        acts=acts,
        # An act that fits no more has no form that could say why it was refused.
        problem="" if any(act.problem for act in acts) else problem,
        in_force=in_force_of(found.page.activation),
        waiting=tuple(waiting_of(row, typed=before) for row in found.proposals),
        waivers=tuple(map(waiver_line, found.page.waivers)),
        requirements=requirements_of(found.page, timezone.now()),
        subject=found.page.newest.subject or "",
        revision=found.page.newest.number,
        digests=subject_digests(found.page.newest),
        state_because=found.page.state_because,
    )
    return render(request, "reviews/decision_release.html", context, status=refused.status if refused else 200)
