"""The threads of a decision: what was said about what, and where that stands on the newest planned revision.

Placement is computed here, never stored. The number of queries is the same however many threads there are; the evidence
is read only where a thread is about a rank.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from reviews.blobs import checked
from reviews.facts import Authentication, Standing
from reviews.models import (
    Blob,
    Comment,
    CommentDraft,
    Membership,
    Mention,
    Person,
    Policy,
    Revision,
    TeamSeat,
    Thread,
    Workspace,
)
from reviews.models.people import token_label
from reviews.policies.anchors import Anchor, Content, Item, Place, find, owner, place, settled
from reviews.policies.document import PolicyDocument, read_policy
from reviews.policies.mentions import relabelled, strangers
from reviews.policies.permissions import Verdict, may_comment, may_resolve
from reviews.selectors.anchored import content_of
from reviews.selectors.decision_page import decision_named, decision_page
from reviews.selectors.judgement import UNDER_REVIEW, author_ids
from reviews.selectors.people import standing_of
from reviews.selectors.revisions import revisions_of
from reviews.selectors.rows import DecisionPage
from reviews.selectors.thread_pages import ALL, Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentRow:
    """A published comment. ``strangers`` are logins in its text that no member has; ``entry`` is its entry's seq."""

    number: int
    person: str
    posted_at: datetime
    text: str
    mentions: tuple[str, ...]
    strangers: tuple[str, ...]
    entry: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRow:
    """A thread. ``before`` is its item when it was opened, ``after`` the item now, None where it is gone."""

    number: int
    anchor: Anchor
    revision: int
    item_sha256: str
    team: str
    is_blocking: bool
    opener: str
    is_mine: bool
    opened_at: datetime
    place: Place
    before: Item
    after: Item | None
    comments: tuple[CommentRow, ...]
    resolved_by: str
    resolved_at: datetime | None
    resolved_because: str
    may_resolve: Verdict

    @property
    def is_open(self) -> bool:
        """Whether it is not resolved."""
        return self.resolved_at is None

    @property
    def blocks(self) -> bool:
        """Whether it blocks its team's requirement now."""
        return self.is_blocking and self.is_open


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRow:
    """A comment that only its writer sees. ``thread`` is None where it would open one."""

    id: int
    thread: int | None
    anchor: Anchor
    revision: int
    team: str
    is_blocking: bool
    text: str
    strangers: tuple[str, ...]
    changed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Discussion:
    """The threads of a decision in order of their numbers, placed on revision ``placed_on``; None before any plan.

    ``teams`` are those of the newest revision's policy. ``older_than`` is what the next page begins below, None after
    the last one.
    """

    page: DecisionPage
    placed_on: int | None
    threads: tuple[ThreadRow, ...]
    drafts: tuple[DraftRow, ...]
    may_comment: Verdict
    teams: tuple[str, ...]
    older_than: int | None = None

    def thread(self, number: int) -> ThreadRow | None:
        """Return a thread by its number."""
        return next((row for row in self.threads if row.number == number), None)

    def draft(self, draft_id: int) -> DraftRow | None:
        """Return one of the reader's drafts."""
        return next((row for row in self.drafts if row.id == draft_id), None)


def discussion(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    authentication: Authentication | None = None,
    wanted: Wanted = ALL,
) -> Discussion:
    """Return the threads of a decision with the reader's own drafts.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    standing = standing_of(actor, workspace)
    page = decision_page(actor=actor, workspace=workspace, number=number, read_plan=False)
    newest = _newest_planned(page, workspace)
    members = frozenset(
        Membership.objects.filter(workspace=workspace, person__is_active=True).values_list("person__login", flat=True)
    )
    rows, older_than = wanted.of(
        Thread.objects.filter(decision__workspace=workspace, decision__number=number).select_related(
            "opener", "revision", "resolution__person"
        )
    )
    return Discussion(
        page=page,
        placed_on=newest.number if newest else None,
        threads=_threads(rows, standing, newest, members, authentication or Authentication("none")),
        older_than=older_than,
        drafts=_drafts(page, standing, members),
        may_comment=may_comment(standing),
        teams=teams_of(page),
    )


def _newest_planned(page: DecisionPage, workspace: Workspace, number: int | None = None) -> Revision | None:
    """Return the newest revision that has a plan; the one with the number, where one is named."""
    rows = revisions_of((decision_named(workspace, page.number).pk,))
    planned = [row for row in rows if hasattr(row, "planned") and number in (None, row.number)]
    return planned[-1] if planned else None


def _threads(
    rows: Sequence[Thread],
    standing: Standing,
    newest: Revision | None,
    members: frozenset[str],
    authentication: Authentication,
) -> tuple[ThreadRow, ...]:
    if not rows or newest is None:
        return ()
    comments = _comments(rows, members)
    items = _items(rows)
    content = content_of(newest)
    leads = frozenset(
        TeamSeat.objects.filter(
            membership__workspace_id=standing.workspace_id, membership__person_id=standing.person_id, is_lead=True
        ).values_list("team__slug", flat=True)
    )
    authors = author_ids(newest.decision)
    return tuple(
        _thread(
            row,
            content,
            before=items[row.item_id],
            comments=comments[row.pk],
            is_mine=row.opener_id == standing.person_id,
            verdict=may_resolve(
                standing,
                opener_id=row.opener_id,
                is_blocking=row.is_blocking,
                leads=leads,
                team=row.team,
                author_ids=authors,
                authentication=authentication,
            ),
        )
        for row in rows
    )


def _thread(
    row: Thread,
    content: Content,
    *,
    before: Item,
    comments: Sequence[CommentRow],
    is_mine: bool,
    verdict: Verdict,
) -> ThreadRow:
    anchor = Anchor(row.kind, row.name)
    after = find(anchor, content)
    resolution = getattr(row, "resolution", None)
    return ThreadRow(
        number=row.number,
        anchor=anchor,
        revision=row.revision.number,
        item_sha256=row.item_id,
        team=row.team,
        is_blocking=row.is_blocking,
        opener=row.opener.display_name,
        is_mine=is_mine,
        opened_at=row.opened_at,
        place=place(row.item_id, after),
        before=before,
        after=after,
        comments=tuple(comments),
        resolved_by=resolution.person.display_name if resolution else "",
        resolved_at=resolution.resolved_at if resolution else None,
        resolved_because=resolution.reason if resolution else "",
        may_resolve=verdict,
    )


def _comments(threads: Iterable[Thread], members: frozenset[str]) -> Mapping[int, list[CommentRow]]:
    """Return thread id -> its comments in order."""
    rows = list(Comment.objects.filter(thread__in=list(threads)).select_related("person").order_by("thread", "number"))
    named: dict[int, list[Person]] = defaultdict(list)
    for mention in Mention.objects.filter(comment__thread__in=list(threads)).select_related("person").order_by("pk"):
        named[mention.comment_id].append(mention.person)
    found: dict[int, list[CommentRow]] = defaultdict(list)
    for row in rows:
        text = relabelled(row.text, {token_label(person.token): person.login for person in named[row.pk]})
        found[row.thread_id].append(
            CommentRow(
                number=row.number,
                person=row.person.display_name,
                posted_at=row.posted_at,
                text=text,
                mentions=tuple(person.display_name for person in named[row.pk]),
                strangers=strangers(text, members),
                entry=row.entry,
            )
        )
    return found


def _items(threads: Iterable[Thread]) -> Mapping[str, Item]:
    """Return digest -> the item as it was."""
    blobs = Blob.objects.in_bulk({row.item_id for row in threads})
    return {sha256: Item(_value(blob)) for sha256, blob in blobs.items()}


def _value(blob: Blob) -> Any:
    return msgspec.json.decode(checked(bytes(blob.data), blob.sha256, "item of a thread"))


def _drafts(page: DecisionPage, standing: Standing, members: frozenset[str]) -> tuple[DraftRow, ...]:
    rows = CommentDraft.objects.filter(
        decision__workspace_id=standing.workspace_id, decision__number=page.number, person_id=standing.person_id
    ).select_related("thread__revision", "revision")
    return tuple(
        DraftRow(
            id=row.pk,
            thread=row.thread.number if row.thread else None,
            anchor=Anchor(row.thread.kind, row.thread.name) if row.thread else Anchor(row.kind, row.name),
            revision=(row.thread.revision if row.thread else row.revision).number,  # type: ignore[union-attr] # one of both is there
            team=row.team,
            is_blocking=row.is_blocking,
            text=row.text,
            strangers=strangers(row.text, members),
            changed_at=row.changed_at,
        )
        for row in rows.order_by("pk")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenThread:
    """An open thread as other pages count it."""

    number: int
    anchor: Anchor
    is_blocking: bool
    team: str
    opener: str


def open_threads(workspace: Workspace, number: int) -> tuple[OpenThread, ...]:
    """Return the open threads of a decision, blocking ones first, in order of their numbers; one query."""
    rows = Thread.objects.filter(
        decision__workspace=workspace, decision__number=number, resolution__isnull=True
    ).select_related("opener")
    return tuple(
        OpenThread(
            number=row.number,
            anchor=Anchor(row.kind, row.name),
            is_blocking=row.is_blocking,
            team=row.team,
            opener=row.opener.display_name,
        )
        for row in rows.order_by("-is_blocking", "number")
    )


def teams_of(page: DecisionPage) -> tuple[str, ...]:
    """Return the teams of the newest revision's policy, each of which has a requirement."""
    return tuple(row.team for row in page.requirements)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewThread:
    """What a form for a new thread about ``anchor`` needs.

    ``item`` and ``revision`` are None where the revision has no such item. ``owner`` is the team that the policy gives
    the item to, empty where none; ``drafts`` counts the reader's.
    """

    page: DecisionPage
    anchor: Anchor
    revision: int | None
    item: Item | None
    owner: str
    teams: tuple[str, ...]
    can_block: bool
    drafts: int
    may_comment: Verdict


def new_thread(*, actor: Person, workspace: Workspace, number: int, revision: int | None, anchor: Anchor) -> NewThread:
    """Return what a thread about an item of a planned revision (the newest when None) begins with.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
    """
    standing = standing_of(actor, workspace)
    page = decision_page(actor=actor, workspace=workspace, number=number, read_plan=False)
    planned = _newest_planned(page, workspace, revision)
    item, team = None, ""
    if planned is not None:
        content = content_of(planned)
        anchor = settled(anchor, content)
        item = find(anchor, content)
        team = owner(anchor, content, _policy_of(page.newest.id)) if item else ""
    drafts = CommentDraft.objects.filter(
        decision__workspace=workspace, decision__number=number, person_id=standing.person_id
    )
    return NewThread(
        page=page,
        anchor=anchor,
        revision=planned.number if planned is not None and item else None,
        item=item,
        owner=team,
        teams=teams_of(page),
        can_block=page.state in UNDER_REVIEW,
        drafts=drafts.count(),
        may_comment=may_comment(standing),
    )


def _policy_of(revision_id: int) -> PolicyDocument:
    blob = Policy.objects.select_related("blob").get(revisions=revision_id).blob
    return read_policy(checked(bytes(blob.data), blob.sha256, "policy"))
