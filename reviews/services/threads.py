"""Commenting on a decision: drafts that only their writer sees, publishing in one act, resolving threads.

A publication is one entry of the audit log, however many comments it holds; a draft is none, for nobody else ever sees
it. Refused attempts are entries.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Max

from reviews.blobs import blob_keep
from reviews.clock import database_now
from reviews.errors import ConflictError, NotFoundError
from reviews.models import (
    Comment,
    CommentDraft,
    Membership,
    Mention,
    Person,
    TeamSeat,
    Thread,
    ThreadResolution,
    Workspace,
)
from reviews.models.people import token_label
from reviews.policies.mentions import mentioned, relabelled
from reviews.policies.permissions import may_comment, may_resolve
from reviews.selectors.judgement import Judgement, author_ids
from reviews.services.acting import Acting, acting, require, require_prose
from reviews.services.comment_checks import MOST_COMMENTS, Ready, Written, ready_to_publish
from reviews.services.people import UNTRACED, Trace
from reviews.services.publications import published, published_before

REFUSED = "comments.refused"
DRAFTED = ("thread", "revision", "kind", "name", "text", "team", "is_blocking")
"""What a draft keeps of a comment that can be published."""


def comments_publish(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    comments: Sequence[Written],
    key: str | None = None,
    trace: Trace = UNTRACED,
) -> tuple[Comment, ...]:
    """Publish comments on a decision in one act, all or none; the same under the same key again returns the first.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor is an auditor.
        InvalidRequestError: with every problem of every comment, or the key is none.
        ConflictError: the key belongs to other comments.
    """
    with acting(actor=actor, workspace=workspace, number=number, refused=REFUSED, trace=trace) as act:
        require(may_comment(act.standing))
        earlier = published_before(act, key, comments)
        if earlier:
            return earlier
        judgement = act.judged()
        made = _published(act, judgement, ready_to_publish(act.decision, judgement.document, comments))
        return published(act, key, comments, made)


def draft_save(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    written: Written,
    draft_id: int | None = None,
    publishes: bool = False,
    key: str | None = None,
    trace: Trace = UNTRACED,
) -> tuple[Comment, ...]:
    """Keep a comment for oneself, new or in place of a draft; ``publishes`` sends it out with all one's other drafts.

    Of a draft that is changed, what it is about stays. The same draft is kept once. What was published under the same
    key is returned, and published no second time.

    Raises:
        NotFoundError: no such decision or draft of the actor's, or they are no member of the workspace.
        NotAllowedError: the actor is an auditor.
        InvalidRequestError: with every problem of the comment, or of one that would be published with it.
        ConflictError: the actor has too many drafts on the decision, or the key belongs to another comment.
    """
    with acting(actor=actor, workspace=workspace, number=number, refused=REFUSED, trace=trace) as act:
        require(may_comment(act.standing))
        sent = (written,)
        earlier = published_before(act, key, sent) if publishes else ()
        if earlier:
            return earlier
        draft = _own_draft(act, draft_id) if draft_id is not None else CommentDraft(decision=act.decision)
        judgement = act.judged()
        if draft_id is not None:
            written = replace(as_written(draft), text=written.text, team=written.team, is_blocking=written.is_blocking)
        (ready,) = ready_to_publish(act.decision, judgement.document, (written,))
        said = {name: getattr(ready, name) for name in DRAFTED}
        if draft_id is None:
            draft = _own_drafts(act).filter(**said).first() or draft
        if draft.pk is None and _own_drafts(act).count() >= MOST_COMMENTS:
            raise ConflictError(f"You have {MOST_COMMENTS} drafts on {act.decision.label}. Publish or delete some.")
        draft.person_id = act.standing.person_id
        for name, value in said.items():
            setattr(draft, name, value)
        draft.changed_at = database_now()
        draft.save()
        return published(act, key, sent, _drafts_published(act, judgement)) if publishes else ()


def draft_delete(*, actor: Person, workspace: Workspace, number: int, draft_id: int, trace: Trace = UNTRACED) -> None:
    """Delete a draft of a comment for good.

    Raises:
        NotFoundError: no such decision or draft of the actor's, or they are no member of the workspace.
    """
    with acting(actor=actor, workspace=workspace, number=number, refused=REFUSED, trace=trace) as act:
        _own_draft(act, draft_id).delete()


def drafts_publish(
    *, actor: Person, workspace: Workspace, number: int, key: str | None = None, trace: Trace = UNTRACED
) -> tuple[Comment, ...]:
    """Publish all one's drafts on a decision in one act, all or none; where none is left, the key's are returned.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor is an auditor.
        InvalidRequestError: with every problem of every draft; a thread may have been resolved meanwhile.
        ConflictError: there is no draft.
    """
    with acting(actor=actor, workspace=workspace, number=number, refused=REFUSED, trace=trace) as act:
        require(may_comment(act.standing))
        earlier = published_before(act, key, ())
        if earlier and not _own_drafts(act).exists():
            return earlier
        made = _drafts_published(act, act.judged())
        return made if earlier else published(act, key, (), made)


def _drafts_published(act: Acting, judgement: Judgement) -> tuple[Comment, ...]:
    drafts = list(_own_drafts(act).select_related("thread", "revision").order_by("pk"))
    if not drafts:
        raise ConflictError(f"You have no draft on {act.decision.label}.")
    ready = ready_to_publish(act.decision, judgement.document, [as_written(draft) for draft in drafts])
    made = _published(act, judgement, ready)
    _own_drafts(act).delete()
    return made


def _own_drafts(act: Acting) -> Any:
    return CommentDraft.objects.filter(decision=act.decision, person_id=act.standing.person_id)


def _own_draft(act: Acting, draft_id: int) -> CommentDraft:
    draft: CommentDraft | None = _own_drafts(act).filter(pk=draft_id).select_related("thread", "revision").first()
    if draft is None:
        raise NotFoundError(f"You have no draft with this number on {act.decision.label}.")
    return draft


def as_written(draft: CommentDraft) -> Written:
    """Return a draft as it was written."""
    return Written(
        text=draft.text,
        thread=draft.thread.number if draft.thread else None,
        revision=draft.revision.number if draft.revision else None,
        kind=draft.kind,
        name=draft.name,
        team="" if draft.thread else draft.team,
        is_blocking=draft.is_blocking,
    )


def _published(act: Acting, judgement: Judgement, comments: Sequence[Ready]) -> tuple[Comment, ...]:
    """State comments that were judged: threads, comments, mentions, and the one entry of all of them."""
    now = database_now()
    threads = _threads(act, comments, now)
    last = dict(
        Comment.objects.filter(thread__in=[thread for thread in threads if thread.pk])
        .values_list("thread")
        .annotate(Max("number"))
    )
    members = _members_named(act, comments)
    labels = {login: token_label(person.token) for login, person in members.items()}
    made, said, mentions = [], [], []
    for ready, thread in zip(comments, threads, strict=True):
        last[thread.pk] = last.get(thread.pk, 0) + 1
        named = [members[login] for login in mentioned(ready.text) if login in members]
        comment = Comment(
            thread=thread,
            number=last[thread.pk],
            person_id=act.standing.person_id,
            text=relabelled(ready.text, labels),  # a published text only grows, and a name has to be able to go
            posted_at=now,
        )
        made.append(comment)
        mentions.append(named)
        said.append(_said(comment, ready, [person.token for person in named]))
    entry = act.record(
        "comments.published",
        revision=judgement.newest.number,
        payload_type="topogate.comments/v1",
        payload={"comments": said},
    )
    for comment in made:
        comment.entry = entry.seq
    made = Comment.objects.bulk_create(made)
    Mention.objects.bulk_create(
        Mention(comment=comment, person=person)
        for comment, named in zip(made, mentions, strict=True)
        for person in named
    )
    return tuple(made)


def _threads(act: Acting, comments: Sequence[Ready], now: datetime) -> list[Thread]:
    """Return the thread of every comment; those that are opened get the next numbers of the decision."""
    number = Thread.objects.filter(decision=act.decision).aggregate(last=Max("number"))["last"] or 0
    threads = []
    for ready in comments:
        thread = ready.thread
        if ready.revision is not None and ready.item is not None:
            number += 1
            thread = Thread.objects.create(
                decision=act.decision,
                number=number,
                revision=ready.revision,
                kind=ready.kind,
                name=ready.name,
                item_id=blob_keep(ready.item.raw).sha256,
                team=ready.team,
                is_blocking=ready.is_blocking,
                opener_id=act.standing.person_id,
                opened_at=now,
            )
        if thread is not None:
            threads.append(thread)
    return threads


def _members_named(act: Acting, comments: Sequence[Ready]) -> dict[str, Person]:
    logins = {login for ready in comments for login in mentioned(ready.text)}
    rows = Membership.objects.filter(workspace=act.workspace, person__login__in=logins, person__is_active=True)
    return {row.person.login: row.person for row in rows.select_related("person")}


def _said(comment: Comment, ready: Ready, mentions: list[str]) -> dict[str, Any]:
    """Return what the entry says of one comment; ``opens`` is there where it opens its thread."""
    thread = comment.thread
    said = {"thread": thread.number, "comment": comment.number, "text": comment.text, "mentions": mentions}
    if ready.thread is not None:
        return said
    return said | {
        "opens": {
            "kind": thread.kind,
            "name": thread.name,
            "item": thread.item_id,
            "revision": thread.revision.number,
            "team": thread.team or None,
            "blocking": thread.is_blocking,
        }
    }


def thread_resolve(
    *, actor: Person, workspace: Workspace, number: int, thread: int, reason: str = "", trace: Trace = UNTRACED
) -> ThreadResolution:
    """Say that a thread is done; a second time returns the first.

    Raises:
        NotFoundError: no such decision or thread, or the actor is no member of the workspace.
        NotAllowedError: it blocks, and the actor neither opened it nor leads the team that it blocks.
        InvalidRequestError: the lead gives no reason, or the reason is no prose.
    """
    refused = "thread.resolution_refused"
    with acting(actor=actor, workspace=workspace, number=number, refused=refused, trace=trace) as act:
        row = Thread.objects.filter(decision=act.decision, number=thread).select_related("opener", "resolution").first()
        if row is None:
            raise NotFoundError(f"There is no thread {thread} on {act.decision.label}.")
        require(
            may_resolve(
                act.standing,
                opener_id=row.opener_id,
                is_blocking=row.is_blocking,
                leads=_leads(act),
                team=row.team,
                author_ids=author_ids(act.decision),
                authentication=act.authentication,
            )
        )
        earlier: ThreadResolution | None = getattr(row, "resolution", None)
        if earlier is not None:
            return earlier
        is_owed = row.is_blocking and row.opener_id != act.standing.person_id
        said = require_prose("reason", reason) if is_owed or reason.strip() else ""
        made = ThreadResolution.objects.create(
            thread=row, person_id=act.standing.person_id, reason=said, resolved_at=database_now()
        )
        act.record(
            "thread.resolved",
            revision=act.judged().newest.number,
            team=row.team or None,
            reason=said or None,
            payload_type="topogate.thread/v1",
            payload={"thread": row.number, "blocking": row.is_blocking, "opener": row.opener.token},
        )
    return made


def _leads(act: Acting) -> frozenset[str]:
    """Return the teams that the actor leads."""
    seats = TeamSeat.objects.filter(
        membership__workspace=act.workspace, membership__person_id=act.standing.person_id, is_lead=True
    )
    return frozenset(seats.values_list("team__slug", flat=True))
