"""What would flip a decision, as rows of text. Pure; which changes and their order are the planner's own.

Rules kept: candidates have the names of the matrix; a change is relative to what changes, the reading or the limit,
and the row says which, because margins of the matrix are relative to the limit.
"""

from dataclasses import dataclass

from planner.records.plan import Flip, Plan
from reviews.web.banner_rows import cell_link
from reviews.web.cells import ALWAYS
from reviews.web.formats import count, limit_text, percent, quantity
from reviews.web.links import Query
from reviews.web.names import Names, candidate_names
from reviews.web.what_if_asked import address, asked_of_flip

EFFECTS = (
    ("OTHER_WINS", "Another topology wins"),
    ("NONE_LEFT", "No topology would be left"),
    ("SAME_WINNER", "Another becomes eligible, the winner stays"),
)
SHOWN = 4
"""Flips of one effect that are shown at once; the others are one click away."""
OF_WHAT = {"reading": "of what was measured", "limit": "of the limit", "unmeasured": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipRow:
    """One flip: who, then what happens, then on which condition; ``change`` is relative to what ``of`` names."""

    name: str
    verb: str
    lead: str
    gate: str
    condition: str
    now: str
    change: str
    of: str
    href: str
    what_if_href: str


@dataclass(frozen=True, slots=True)
class FlipGroup:
    """Flips with one effect, smallest change first."""

    title: str
    rows: tuple[FlipRow, ...]
    more: tuple[FlipRow, ...]


def happening(flip: Flip, names: Names) -> tuple[str, str]:
    """Say whom a flip is about, and what becomes of them."""
    trial, winner = names.get(flip.trial or "", ""), names.get(flip.winner or "", "")
    if flip.effect == "OTHER_WINS":
        return winner, "wins"
    if flip.effect == "SAME_WINNER":
        return trial, "becomes eligible"
    return trial, "drops out and nothing is left"


def condition(flip: Flip, names: Names, subject: str) -> tuple[str, str, str]:
    """Say what has to change, to which value, and what it is now."""
    value = quantity(flip.bound, flip.unit)
    if flip.kind == "limit":
        return "if the limit of", f"were {value}", f"it is {quantity(flip.old, flip.unit)}"
    whose = names.get(flip.trial or "", "")
    lead = "if its" if whose == subject else f"if {whose}’s"
    sign = limit_text(flip.comparator, flip.bound, flip.unit)
    if flip.kind == "unmeasured":
        return lead, f"is measured {sign}", "not measured yet"
    windows = f" in {count(flip.raw_values, 'window')}" if flip.raw_values else ""
    return lead, f"were {sign}{windows}", f"measured {quantity(flip.old, flip.unit)}"


def flip_row(flip: Flip, plan: Plan, names: Names, query: Query, what_if_href: str) -> FlipRow:
    """Make a row of a flip, linked to its cell where it is about one trial, and to the what-if that asks for it."""
    asked = asked_of_flip(flip, plan)
    name, verb = happening(flip, names)
    lead, text, now = condition(flip, names, name)
    return FlipRow(
        name=name,
        verb=verb,
        lead=lead,
        gate=" ".join(part for part in (flip.gate, flip.limit_id) if part),
        condition=text,
        now=now,
        change=change_text(flip),
        of=OF_WHAT[flip.kind] if flip.old else "",
        href=cell_link(query, flip.trial, flip.gate, flip.limit_id or ALWAYS) if flip.trial else "",
        what_if_href=what_if_href + address(asked, query.get("revision")) if asked else "",
    )


def change_text(flip: Flip) -> str:
    """Write how much has to change: a share of the old value, or a difference where that is zero."""
    if flip.change is None:
        return "not measured"
    if flip.old:
        return percent(flip.change)
    text = quantity(flip.change, flip.unit)
    return text if text.startswith("−") else f"+{text}"


def flip_groups(plan: Plan, *, query: Query, what_if_href: str) -> tuple[FlipGroup, ...]:
    """Group the plan's flips by effect: who else wins, what leaves nothing, what only becomes eligible."""
    names = candidate_names(plan)
    groups = []
    for effect, title in EFFECTS:
        rows = tuple(flip_row(flip, plan, names, query, what_if_href) for flip in plan.flips if flip.effect == effect)
        if rows:
            groups.append(FlipGroup(title, rows[:SHOWN], rows[SHOWN:]))
    return tuple(groups)
