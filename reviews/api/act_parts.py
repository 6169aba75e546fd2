"""What is sent with an act on a decision: a few fields, and the body of a proposal as a JSON file."""

from typing import Annotated, Any

import msgspec
from rest_framework.request import Request

from planner.times import parsed_time
from reviews.api.authentication import actor, trace_of
from reviews.api.parts import BINARY, check_outer_form, file_problems, repeated_parts, unknown_parts
from reviews.errors import Finding, InvalidRequestError, printable
from reviews.models import ProposalKind, Workspace
from reviews.services.acting import PROSE_LENGTH

MOST_BYTES = 2**20
REASON = {"type": "string", "minLength": 1, "maxLength": PROSE_LENGTH, "description": "kept in the audit log"}
TIME = {"type": "string", "format": "date-time", "description": "UTC in whole seconds, as in 2026-09-20T16:00:00Z"}


Id = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


class Waiver(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One gate of one candidate, until a time."""

    trial: str
    gate: str
    ends_at: str


class Emergency(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One candidate, before its review is done; every gate that it does not pass is named."""

    trial: str
    incident: str
    hours: int
    failing_gates: tuple[str, ...]


class Lifting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ``id`` of an objection."""

    signoff: Id


class Revocation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing but the decision itself."""


class Rollback(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number of the earlier decision."""

    to: Id


BODIES: dict[str, type[msgspec.Struct]] = {
    ProposalKind.WAIVER.value: Waiver,
    ProposalKind.EMERGENCY.value: Emergency,
    ProposalKind.LIFT_OBJECTION.value: Lifting,
    ProposalKind.REVOCATION.value: Revocation,
    ProposalKind.ROLLBACK.value: Rollback,
}
"""Kinds of proposals about a decision, with what their bodies hold."""
KIND = {"type": "string", "enum": list(BODIES)}
BODY = {
    **BINARY,
    "contentMediaType": "application/json",
    "description": "; ".join(f"{kind}: `{{{', '.join(body.__struct_fields__)}}}`" for kind, body in BODIES.items()),
}


def act_of(request: Request, workspace: Workspace) -> dict[str, Any]:
    """Return what every act names: who, where, and how they showed who they are."""
    trace = trace_of(request)
    return {"actor": actor(request), "workspace": workspace, "trace": trace}


def sent_fields(request: Request, *names: str, files: tuple[str, ...] = ()) -> dict[str, str]:
    """Take fields of text out of a body; one that was not sent is empty.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: with every part that is not taken here, repeated or no UTF-8.
    """
    check_outer_form(request)
    problems = [*unknown_parts(request, files=files, fields=names), *repeated_parts(request)]
    if problems:
        raise InvalidRequestError(tuple(problems))
    return {name: str(request.POST.get(name, "")) for name in names}


def sent_file(request: Request, name: str) -> bytes:
    """Take a small file out of a body whose parts were judged.

    Raises:
        InvalidRequestError: it is not there, or too large.
    """
    problems = file_problems(request, name, MOST_BYTES)
    if problems:
        raise InvalidRequestError(tuple(problems))
    return bytes(request.FILES[name].read())


def shape_of(kind: str) -> type[msgspec.Struct]:
    """Return what the body of a proposal of one kind holds.

    Raises:
        InvalidRequestError: there is no such kind.
    """
    shape = BODIES.get(kind)
    if shape is None:
        found = printable(kind) or "nothing"
        raise InvalidRequestError((Finding("request", "request/kind", "kind", f"one of {', '.join(BODIES)}", found),))
    return shape


def proposed_body(request: Request, shape: type[msgspec.Struct]) -> dict[str, Any]:
    """Read the body of a proposal.

    Raises:
        InvalidRequestError: it is not there, or has another form.
    """
    raw = sent_file(request, "body") if "body" in request.FILES or shape is not Revocation else b"{}"
    try:
        body: dict[str, Any] = msgspec.to_builtins(msgspec.json.decode(raw, type=shape))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        expected = f"an object with {', '.join(shape.__struct_fields__) or 'nothing in it'}"
        problem = Finding("request", "request/body", "body", expected, printable(str(wrong), 200))
        raise InvalidRequestError((problem,)) from wrong
    return body


def sent_times(fields: dict[str, str], *names: str) -> dict[str, Any]:
    """Read times, UTC in whole seconds.

    Raises:
        InvalidRequestError: with every field that holds none.
    """
    times = {name: parsed_time(fields[name]) for name in names}
    problems = [
        Finding("request", "request/time", name, "UTC in whole seconds", printable(fields[name]) or "nothing")
        for name, moment in times.items()
        if moment is None
    ]
    if problems:
        raise InvalidRequestError(tuple(problems))
    return times
