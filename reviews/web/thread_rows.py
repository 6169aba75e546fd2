"""Threads, comments and drafts as rows of text. Pure but for reversing addresses."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from django.urls import reverse

from reviews.clock import when
from reviews.policies.anchors import PART, Anchor, Item
from reviews.policies.document import team_title
from reviews.selectors.threads import CommentRow, Discussion, DraftRow, OpenThread, ThreadRow
from reviews.web.document_links import links_of
from reviews.web.formats import ago, count, listed
from reviews.web.pager import Pager, first_row, pager
from reviews.web.words import OUTCOMES, STATES, Word

LONGEST_VALUE = 240
PAGE_SIZE = 25
KIND_WORDS = {
    "gate": "Gate",
    "trial": "Trial",
    "rank": "Rank",
    "candidate": "Candidate",
    "identity": "Identity key",
    "contract": "Contract field",
}
NAMED_BY_KIND = ("trial", "rank", "candidate")
"""Kinds whose items say in their words what they are."""
OPEN = Word("Open", "wait", "plain")
RESOLVED = Word("Resolved", "pass", "pass")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentLine:
    """One published comment; ``named`` says whom it mentions, ``unnamed`` which logins are nobody's."""

    number: int
    person: str
    initials: str
    when: str
    text: str
    named: str
    unnamed: str
    entry_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCard:
    """One thread. ``lead`` says where its item stands now; ``before`` and ``after`` are given where it changed."""

    number: int
    href: str
    word: Word
    kind: str
    about: str
    item_href: str
    item_sha256: str
    lead: str
    place: str
    before: str
    after: str
    is_blocking: bool
    comments: tuple[CommentLine, ...]
    summary: str
    first: str
    resolved: str
    resolved_because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftLine:
    """A draft: what it is about, its text, and what publishing it does."""

    id: int
    href: str
    about: str
    text: str
    effect: str
    unnamed: str
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadPart:
    """Threads of one kind: how many there are, and those that are on this page."""

    total: int
    shown: tuple[ThreadCard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadList:
    """One page of the threads of a decision: those whose item is gone first, then open ones, then resolved ones."""

    gone: ThreadPart
    open: ThreadPart
    resolved: ThreadPart
    summary: str
    drafts: tuple[DraftLine, ...]
    pager: Pager


@dataclass(frozen=True, slots=True)
class Place:
    """Where a discussion's addresses lead: workspace and decision."""

    slug: str
    number: int

    def href(self, name: str, *more: int) -> str:
        """Return the address of a page of the decision."""
        return reverse(name, args=[self.slug, self.number, *more])

    def item(self, anchor: Anchor, revision: int) -> str:
        """Return where a revision shows an item."""
        documents = links_of(self.slug, self.number, revision)
        trial, _, rest = anchor.name.partition(PART)
        query = f"?revision={revision}"
        if anchor.kind == "gate":
            return f"{self.href('decision-detail')}{query}&cell={anchor.name}#cell"
        if anchor.kind == "rank":
            return f"{self.href('decision-map')}{query}&trial={trial}&rank={rest}#rank"
        if anchor.kind == "candidate":
            return f"{self.href('decision-map')}{query}&trial={trial}"
        if anchor.kind == "trial":
            return documents.to(f"/trials/{trial}")
        return documents.to(f"/identity{anchor.name}" if anchor.kind == "identity" else anchor.name)


def kind_word(anchor: Anchor) -> str:
    """Say what kind of item it is, where its own words do not."""
    return "" if anchor.kind in NAMED_BY_KIND else KIND_WORDS.get(anchor.kind, "")


def thread_list(found: Discussion, place: Place, now: datetime, *, page: int = 1) -> ThreadList:
    """Make a page of the list, the first where there is no such page; what is gone stands first and is never folded."""
    gone = sorted((row for row in found.threads if row.place == "GONE"), key=_order)
    opened = sorted((row for row in found.threads if row.place != "GONE" and row.is_open), key=_order)
    resolved = [row for row in reversed(found.threads) if row.place != "GONE" and not row.is_open]
    total = len(found.threads)
    start = first_row(page, total, PAGE_SIZE)
    on_page = {row.number for row in (*gone, *opened, *resolved)[start : start + PAGE_SIZE]}

    def part(rows: Sequence[ThreadRow]) -> ThreadPart:
        shown = (thread_card(row, found.placed_on, place, now) for row in rows if row.number in on_page)
        return ThreadPart(total=len(rows), shown=tuple(shown))

    return ThreadList(
        gone=part(gone),
        open=part(opened),
        resolved=part(resolved),
        summary=summary_of(found.threads),
        drafts=tuple(draft_line(row, place, now) for row in found.drafts),
        pager=pager(start, total, PAGE_SIZE, "thread", lambda at: f"?page={at}"),
    )


def _order(row: ThreadRow) -> tuple[bool, bool, int]:
    return not row.is_open, not row.is_blocking, row.number


def summary_of(threads: Sequence[ThreadRow]) -> str:
    """Count the threads by what they ask for."""
    blocking, unresolved = sum(row.blocks for row in threads), sum(row.is_open for row in threads)
    resolved = len(threads) - unresolved
    parts = (
        [f"{unresolved} open"] + [f"{blocking} blocking"] * (blocking > 0) + [f"{resolved} resolved"] * (resolved > 0)
    )
    return ", ".join(parts)


def thread_card(row: ThreadRow, placed_on: int | None, place: Place, now: datetime) -> ThreadCard:
    """Make one thread."""
    shown_on = row.revision if row.place == "GONE" else placed_on or row.revision
    is_changed = row.place == "CHANGED"
    return ThreadCard(
        number=row.number,
        href=place.href("thread-detail", row.number),
        word=_word(row),
        kind=kind_word(row.anchor),
        about=row.anchor.words,
        item_href=place.item(row.anchor, shown_on),
        item_sha256=row.item_sha256,
        lead=_lead(row, placed_on),
        place=row.place,
        before=item_text(row.anchor, row.before) if row.place != "SAME" else "",
        after=item_text(row.anchor, row.after) if is_changed and row.after else "",
        is_blocking=row.blocks,
        comments=tuple(_comment(comment, place) for comment in row.comments),
        summary=f"{count(len(row.comments), 'comment')} · {row.opener}, {ago(row.opened_at, now)}",
        first=_shortened(row.comments[0].text, 120) if row.comments else "",
        resolved=f"Resolved by {row.resolved_by}, {when(row.resolved_at)}" if row.resolved_at else "",
        resolved_because=row.resolved_because,
    )


def _word(row: ThreadRow) -> Word:
    if not row.is_open:
        return RESOLVED
    return Word(f"Blocks {team_title(row.team).lower()}", "fail", "fail") if row.is_blocking else OPEN


def _lead(row: ThreadRow, placed_on: int | None) -> str:
    if row.place == "GONE":
        return f"gone from r{placed_on}, was in r{row.revision}"
    if row.place == "CHANGED":
        return f"changed since r{row.revision}"
    return f"same as in r{row.revision}" if placed_on != row.revision else f"on r{row.revision}"


def item_text(anchor: Anchor, item: Item) -> str:
    """Write an item's value in one line."""
    value = item.value
    if isinstance(value, dict) and anchor.kind == "gate":
        return f"{OUTCOMES[value['outcome']].text}. {value['sentence']}"
    if isinstance(value, dict) and anchor.kind == "rank":
        nic = f", {value['nic']}" if value.get("nic") else ""
        return f"{value.get('node')}, device {value.get('device')}{nic}"
    if isinstance(value, dict) and anchor.kind == "candidate":
        fails = f", fails {listed(value['failing'])}" if value["failing"] else ""
        unknown = f", unknown: {listed(value['unknown'])}" if value["unknown"] else ""
        return f"{value['topology']}: {STATES[value['state']].text.lower()}{fails}{unknown}"
    if isinstance(value, dict) and anchor.kind == "trial":
        return f"{value['topology']}, content {value['trial_content_id']}"
    return _shortened(_json(value), LONGEST_VALUE)


def _json(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest].rstrip()}…"


def _comment(row: CommentRow, place: Place) -> CommentLine:
    return CommentLine(
        number=row.number,
        person=row.person,
        initials="".join(part[0] for part in row.person.split()[:2]).upper(),
        when=when(row.posted_at),
        text=row.text,
        named=listed(row.mentions) if row.mentions else "",
        unnamed=unnamed_text(row.strangers),
        entry_href=reverse("audit-entry", args=[place.slug, row.entry]),
    )


def unnamed_text(strangers: Sequence[str]) -> str:
    """Say which logins of a text are nobody's."""
    if not strangers:
        return ""
    names = listed([f"@{login}" for login in strangers])
    return f"{names} {'is no member' if len(strangers) == 1 else 'are no members'} of this workspace."


def draft_line(row: DraftRow, place: Place, now: datetime) -> DraftLine:
    """Make a line of a draft."""
    opens = f"Opens a thread that blocks {team_title(row.team).lower()}" if row.is_blocking else "Opens a thread"
    return DraftLine(
        id=row.id,
        href=place.href("comment-draft", row.id),
        about=row.anchor.words,
        text=row.text,
        effect=opens if row.thread is None else f"Replies in thread {row.thread}",
        unnamed=unnamed_text(row.strangers),
        when=ago(row.changed_at, now),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenLine:
    """An open thread as the decision's page lists it."""

    number: int
    href: str
    about: str
    opener: str
    word: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many open threads are about one thing, and where to read them; ``label`` says it in words."""

    text: str
    href: str
    label: str
    is_blocking: bool


def open_lines(threads: Sequence[OpenThread], place: Place) -> tuple[OpenLine, ...]:
    """Make the lines of open threads, blocking ones first."""
    return tuple(
        OpenLine(
            number=row.number,
            href=place.href("thread-detail", row.number),
            about=row.anchor.words,
            opener=row.opener,
            word=Word(f"Blocks {team_title(row.team).lower()}", "fail", "fail") if row.is_blocking else OPEN,
        )
        for row in threads
    )


def counts_of(threads: Sequence[OpenThread], place: Place) -> dict[str, Count]:
    """Return counts of open threads: ``gate~limit`` over all candidates, and a trial's id for its candidate."""
    about: dict[str, list[OpenThread]] = {}
    for row in threads:
        trial, _, rest = row.anchor.name.partition(PART)
        if row.anchor.kind == "gate":
            about.setdefault(rest, []).append(row)
        elif row.anchor.kind in ("trial", "candidate", "rank"):
            about.setdefault(trial, []).append(row)
    return {name: _count(rows, place) for name, rows in about.items()}


def _count(rows: Sequence[OpenThread], place: Place) -> Count:
    blocking = sum(row.is_blocking for row in rows)
    href = place.href("thread-detail", rows[0].number) if len(rows) == 1 else place.href("decision-threads")
    text = count(len(rows), "thread")
    label = f"{text} open, {blocking} blocking" if blocking else f"{text} open"
    return Count(text=text, href=href, label=label, is_blocking=blocking > 0)
