"""Trials that several slots rest on, as rows of text. Pure."""

from collections.abc import Callable
from dataclasses import dataclass

from reviews.selectors.shared_trials import SharedTrials, TrialUse
from reviews.web.formats import count
from reviews.web.page_rows import STATES
from reviews.web.words import Word


@dataclass(frozen=True, slots=True, kw_only=True)
class UseLine:
    """A slot that counts a trial, with the decision and the place in its evidence."""

    slot: str
    slot_href: str
    word: Word
    label: str
    decision_href: str
    trial: str
    href: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLine:
    """A trial with what counts it; ``more`` counts the slots that are not named."""

    content_id: str
    is_retracted: bool
    slots: str
    uses: tuple[UseLine, ...]
    more: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """How to address what a row names: a slot, the revision of a decision, a trial in that revision's evidence."""

    slot: Callable[[str], str]
    revision: Callable[[int, int], str]
    trial: Callable[[int, int, str], str]


def shared_lines(found: SharedTrials, links: Links) -> tuple[SharedLine, ...]:
    """Make rows."""
    return tuple(
        SharedLine(
            content_id=row.content_id,
            is_retracted=row.is_retracted,
            slots=count(row.slots, "slot"),
            uses=tuple(_use(use, links) for use in row.uses),
            more=f"and {count(row.slots - len(row.uses), 'more slot')}" if row.slots > len(row.uses) else "",
        )
        for row in found.rows
    )


def _use(use: TrialUse, links: Links) -> UseLine:
    decision, held = use.fact.decision, use.fact.held
    revision = held.revision if held else 0
    return UseLine(
        slot=use.fact.slot,
        slot_href=links.slot(use.fact.slot),
        word=STATES[decision.state],
        label=f"{decision.label} r{revision}",
        decision_href=links.revision(decision.number, revision),
        trial=use.trial,
        href=links.trial(decision.number, revision, use.trial),
        role="put into force" if use.is_chosen else "compared with it",
    )
