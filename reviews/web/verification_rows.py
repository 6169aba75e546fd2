"""Verifications of a log as rows of text. Pure but for addresses."""

from dataclasses import dataclass

from django.urls import reverse

from reviews.clock import when
from reviews.models.verifications import COMPARED, VerificationOutcome
from reviews.selectors.verifications import VerificationRow
from reviews.web.formats import count, percent
from reviews.web.page_rows import Progress
from reviews.web.words import Word

OUTCOMES: dict[str, Word] = {
    VerificationOutcome.VERIFIED: Word("Verified", "pass", "pass"),
    VerificationOutcome.CONSISTENT: Word("Consistent only", "unk", "unk"),
    VerificationOutcome.BROKEN: Word("Broken", "fail", "fail"),
    VerificationOutcome.INCOMPLETE: Word("Incomplete", "unk", "unk"),
}
OPEN = Word("Running", "wait", "na")
FAILED = Word("No result", "fail", "fail")
TITLES: dict[str, str] = {
    VerificationOutcome.VERIFIED: "Verified, with the key of the worker",
    VerificationOutcome.CONSISTENT: "Consistent only",
    VerificationOutcome.BROKEN: "Broken",
    VerificationOutcome.INCOMPLETE: "Incomplete",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationLine:
    """A verification in a list."""

    id: int
    href: str
    word: Word
    asked_by: str
    asked_at: str
    finished_at: str
    headline: str
    entries: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """What a verification found. ``text`` is the verifier's own headline."""

    title: str
    text: str
    css: str
    icon: str
    checked: tuple[str, ...]
    not_checked: tuple[str, ...]
    head: str
    bad_seq: int | None
    finished_at: str
    href: str


def verification_line(row: VerificationRow, slug: str) -> VerificationLine:
    """Make a line of the list."""
    return VerificationLine(
        id=row.id,
        href=reverse("verification-detail", args=[slug, row.id]),
        word=OUTCOMES[row.outcome] if row.outcome else OPEN if row.is_open else FAILED,
        asked_by=row.asked_by,
        asked_at=when(row.asked_at),
        finished_at=when(row.finished_at) if row.finished_at else "",
        headline=row.headline or row.error,
        entries="" if row.entries is None else f"{row.entries:,}",
    )


def headline_of(row: VerificationRow, slug: str = "") -> Headline:
    """Say what was found, by which trust, and what nobody looked at."""
    broken = row.outcome == VerificationOutcome.BROKEN
    where = f" at seq {row.bad_seq}" if broken and row.bad_seq is not None else ""
    held = row.outcome in (VerificationOutcome.VERIFIED, VerificationOutcome.CONSISTENT)
    return Headline(
        title=f"{TITLES[row.outcome]}{where}",
        text=row.headline,
        css="" if row.outcome == VerificationOutcome.VERIFIED else "verdict-broken" if broken else "verdict-unk",
        icon="seal" if held else "broken",
        checked=row.checked,
        not_checked=row.not_checked,
        head=row.head if row.entries else "",
        bad_seq=row.bad_seq,
        finished_at=when(row.finished_at) if row.finished_at else "",
        href=reverse("verification-detail", args=[slug, row.id]) if slug else "",
    )


def progress_of_verification(row: VerificationRow) -> Progress:
    """Say how far a verification is, as a share of all its work, and what it is at."""
    if not row.is_open:
        return Progress(
            title="The verification stopped",
            text=row.error,
            label="stopped",
            width=0,
            note="Nothing was found either way. Ask for another one.",
            is_running=False,
        )
    total = row.entries_total
    done = row.entries_done / total if total else 0.0
    share = percent(done, signed=False) if total else "0 %"
    if not total:
        text = "Waiting for a worker."
    else:
        act = "Comparing what is stored" if done < COMPARED else "Writing the bundle and replaying the rules in it"
        text = f"{act}: {share} of {count(total, 'entry', 'entries')}."
    return Progress(
        title="Verifying the log",
        text=text,
        label=f"{share} done",
        width=100 * row.entries_done // total if total else 0,
        note="You can leave this page; the result stays in the list.",
        is_running=True,
    )
