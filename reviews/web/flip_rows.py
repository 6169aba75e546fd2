"""What would flip a decision, as rows of text. Pure; order and sentences are the planner's own."""

from dataclasses import dataclass

from planner.records.plan import Flip, Plan
from reviews.web.banner_rows import cell_link
from reviews.web.cells import ALWAYS
from reviews.web.formats import percent
from reviews.web.links import Query

EFFECTS = (
    ("OTHER_WINS", "Another topology wins"),
    ("NONE_LEFT", "No topology would be left"),
    ("SAME_WINNER", "Another becomes eligible, the winner stays"),
)
SHOWN = 4
"""Flips of one effect that are shown at once; the others are one click away."""


@dataclass(frozen=True, slots=True)
class FlipRow:
    """One flip; ``change`` is relative, empty for what was not measured."""

    sentence: str
    change: str
    href: str


@dataclass(frozen=True, slots=True)
class FlipGroup:
    """Flips with one effect, smallest change first."""

    title: str
    rows: tuple[FlipRow, ...]
    more: tuple[FlipRow, ...]


def flip_row(flip: Flip, query: Query) -> FlipRow:
    """Make a row of a flip, linked to its cell where it is about one trial."""
    href = cell_link(query, flip.trial, flip.gate, flip.limit_id or ALWAYS) if flip.trial else ""
    return FlipRow(flip.sentence, percent(flip.change) if flip.change is not None else "not measured", href)


def flip_groups(plan: Plan, *, query: Query) -> tuple[FlipGroup, ...]:
    """Group the plan's flips by effect: who else wins, what leaves nothing, what only becomes eligible."""
    groups = []
    for effect, title in EFFECTS:
        rows = tuple(flip_row(flip, query) for flip in plan.flips if flip.effect == effect)
        if rows:
            groups.append(FlipGroup(title, rows[:SHOWN], rows[SHOWN:]))
    return tuple(groups)
