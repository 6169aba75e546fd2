"""Threads of a decision: reading them with their places, publishing comments in one act, resolving."""

from typing import Any

import msgspec
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api import serializers_threads as shapes
from reviews.api.act_parts import sent_fields
from reviews.api.authentication import actor, trace_of
from reviews.api.base import WorkspaceView
from reviews.api.documentation import IDEMPOTENCY_KEY as SUBMISSION_KEY
from reviews.api.documentation import PAGING, READING, SENDING, body, refusals
from reviews.api.parts import BINARY, only_file
from reviews.api.queries import PAGING as PAGING_READERS
from reviews.api.queries import read_query
from reviews.api.rows import Links
from reviews.errors import Finding, InvalidRequestError, printable
from reviews.selectors.decisions import PAGE_SIZE
from reviews.selectors.thread_pages import Wanted
from reviews.selectors.threads import ThreadRow, discussion
from reviews.services.acting import PROSE_LENGTH
from reviews.services.comment_checks import Written
from reviews.services.threads import comments_publish, thread_resolve

MOST_BYTES = 8 * 2**20
COMMENTS = {
    **BINARY,
    "contentMediaType": "application/json",
    "description": '`{"comments": [{"text": "...", "kind": "gate", "name": "t-1~ttft~peak", "blocking": true}, '
    '{"text": "...", "thread": 3}]}`; also `revision`, and `team` for what no team owns',
}
IDEMPOTENCY_KEY = OpenApiParameter(
    SUBMISSION_KEY.name,
    SUBMISSION_KEY.type,
    SUBMISSION_KEY.location,
    description="The same comments under the same key again are not published again; their threads are the answer.",
)
REASON = {"type": "string", "maxLength": PROSE_LENGTH, "description": "why; the opener may leave it out"}


class _Comment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comment as it is sent."""

    text: str
    thread: int | None = None
    revision: int | None = None
    kind: str = ""
    name: str = ""
    team: str = ""
    blocking: bool = False


class _Comments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a publication holds."""

    comments: tuple[_Comment, ...]


class ThreadView(WorkspaceView):
    """A view of a decision's threads."""

    def asked(self, request: Request, number: int) -> dict[str, Any]:
        """Return what every act names."""
        trace = trace_of(request)
        return {"actor": actor(request), "workspace": self.space, "number": number, "trace": trace}

    def state(self, request: Request, number: int, wanted: Wanted, status: int = 200) -> Response:
        """Answer with threads, newest first."""
        found = discussion(actor=actor(request), workspace=self.space, number=number, wanted=wanted)
        value = {
            "placed_on": found.placed_on,
            "threads": [thread_value(row, number, self.links) for row in reversed(found.threads)],
            "next": self.links.older(found.older_than),
        }
        return Response(shapes.Threads(value).data, status=status)


class Threads(ThreadView):
    """The threads of a decision."""

    @extend_schema(operation_id="thread_list", parameters=PAGING, responses={200: shapes.Threads, **refusals(*READING)})
    def get(self, request: Request, workspace: str, number: int) -> Response:
        """List threads with their comments, and where their items stand now, newest first."""
        query = read_query(request.GET, PAGING_READERS)
        return self.state(request, number, Wanted(most=query.get("limit", PAGE_SIZE), older_than=query.get("before")))

    @extend_schema(
        operation_id="comments_publish",
        parameters=[IDEMPOTENCY_KEY],
        request=body(("comments",), comments=COMMENTS),
        responses={
            201: OpenApiResponse(shapes.Threads, description="The threads that were written in, as they are now"),
            **refusals(*SENDING),
        },
    )
    def post(self, request: Request, workspace: str, number: int) -> Response:
        """Publish comments in one act, all or none: each opens a thread about an item, or replies in one."""
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        made = comments_publish(comments=sent_comments(request), key=key, **self.asked(request, number))
        written_in = frozenset(comment.thread.number for comment in made)
        return self.state(request, number, Wanted(numbers=written_in), 201)


class ThreadResolution(ThreadView):
    """The end of one thread."""

    @extend_schema(
        operation_id="thread_resolve",
        request=body((), reason=REASON),
        responses={200: shapes.Threads, **refusals(*SENDING)},
    )
    def post(self, request: Request, workspace: str, number: int, thread: int) -> Response:
        """Resolve a thread that does not block, and answer with it; a blocking one is resolved on the page."""
        reason = sent_fields(request, "reason")["reason"]
        thread_resolve(thread=thread, reason=reason, **self.asked(request, number))
        return self.state(request, number, Wanted(numbers=frozenset({thread})))


def sent_comments(request: Request) -> tuple[Written, ...]:
    """Take the comments out of a body.

    Raises:
        UnsupportedMediaType: see ``check_outer_form``.
        InvalidRequestError: there are none, or they have another form.
    """
    return tuple(
        Written(
            text=one.text,
            thread=one.thread,
            revision=one.revision,
            kind=one.kind,
            name=one.name,
            team=one.team,
            is_blocking=one.blocking,
        )
        for one in _decoded(only_file(request, "comments", MOST_BYTES))
    )


def _decoded(raw: bytes) -> tuple[_Comment, ...]:
    try:
        return msgspec.json.decode(raw, type=_Comments).comments
    except msgspec.ValidationError as wrong:
        # The message of the decoder names expectation, finding and place: "... - at `$.comments[0].text`".
        text, _, place = str(wrong).partition(" - at `$")
        pointer = place.rstrip("`").replace(".", "/").replace("[", "/").replace("]", "").strip("/") or "comments"
        finding = Finding("request", "request/comment", pointer, "comments as documented", printable(text, 200))
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        finding = Finding("request", "request/comment", "comments", "JSON", printable(str(wrong), 200))
    raise InvalidRequestError((finding,))


def thread_value(row: ThreadRow, number: int, links: Links) -> dict[str, Any]:
    """Return a thread as the API shows it."""
    resolution = None
    if row.resolved_at is not None:
        resolution = {"person": row.resolved_by, "reason": row.resolved_because, "resolved_at": row.resolved_at}
    return {
        "number": row.number,
        "kind": row.anchor.kind,
        "name": row.anchor.name,
        "revision": row.revision,
        "item": row.item_sha256,
        "team": row.team or None,
        "blocking": row.blocks,
        "opener": row.opener,
        "opened_at": row.opened_at,
        "place": row.place,
        "before": row.before.value,
        "after": row.after.value if row.after else None,
        "comments": row.comments,
        "resolution": resolution,
        "page": links.to("thread-detail", number, row.number),
    }
