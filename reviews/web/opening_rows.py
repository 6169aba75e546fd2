"""Items to open before approving, and what moved in the signer's scope, as rows of text. Pure."""

from dataclasses import dataclass
from typing import Any

from planner.numbers import exact
from planner.records.plan import Flip, Plan
from reviews.policies.opening import Item
from reviews.policies.scope import GATE, IDENTITY, TRIAL
from reviews.selectors.reviewing import Delta, Reviewing, Said
from reviews.web.banner_rows import cell_link
from reviews.web.formats import count
from reviews.web.links import Query
from reviews.web.words import OUTCOMES

SHARED = {
    "selected": "selected topology",
    "decision": "what the plan decides",
    "policy": "policy",
    "planner": "planner",
}
STEP, GAP, WIDTH = 100, 6, 94
"""Geometry of one part of the meter, in the units of its picture."""


@dataclass(frozen=True, slots=True)
class Check:
    """One item: its name, why it is to be opened, whether it was."""

    id: str
    name: str
    why: str
    is_opened: bool


@dataclass(frozen=True, slots=True)
class MeterPart:
    """One part of the meter, ``x`` from its left end."""

    x: int
    is_on: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """One thing that moved in the scope; ``lead`` says what happened where there is no before and after."""

    id: str
    name: str
    before: str
    after: str
    lead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningPanel:
    """What is to be opened, what was, and what moved. ``next_item`` is the first that was not opened."""

    team: str
    title: str
    total: int
    opened: int
    parts: tuple[MeterPart, ...]
    width: int
    checks: tuple[Check, ...]
    next_item: str
    since: int | None
    moved: tuple[Moved, ...]
    action: str

    @property
    def missing(self) -> int:
        """How many items are still to be opened."""
        return self.total - self.opened


def opening_panel(found: Reviewing, plan: Plan, *, action: str) -> OpeningPanel:
    """Make the panel; ``action`` is where a form sends the item that is opened. What is still to open comes first."""
    openings = found.openings
    missing = {item.id for item in openings.missing}
    ordered = sorted(openings.items, key=lambda item: item.id not in missing)
    total, opened = len(openings.items), len(openings.items) - len(missing)
    return OpeningPanel(
        team=found.team,
        title=f"Opened {opened} of {count(total, 'item')}",
        total=total,
        opened=opened,
        parts=tuple(MeterPart(STEP * at, at < opened) for at in range(total)),
        width=max(1, STEP * total - GAP),
        checks=tuple(
            Check(item.id, name_of(item, plan), why_of(item, plan), item.id not in missing) for item in ordered
        ),
        next_item=ordered[0].id if missing else "",
        since=openings.since,
        moved=tuple(moved_of(delta, plan) for delta in found.deltas),
        action=action,
    )


def name_of(item: Item, plan: Plan) -> str:
    """Name an item as the matrix and the documents do."""
    if item.flip is not None:
        return flip_name(plan.flips[item.flip])
    if item.kind == "change":
        if item.about in SHARED:
            return SHARED[item.about]
        return item.about.removeprefix(GATE).removeprefix(f"{IDENTITY}/").removeprefix(TRIAL).replace("/", ".")
    return f"{item.gate} × {item.trial}" if item.trial else item.gate


def flip_name(flip: Flip) -> str:
    """Name a flip by what would move: a limit, or a reading of a trial."""
    what = " ".join(part for part in (flip.gate, flip.limit_id) if part)
    return f"{what} × {flip.trial}" if flip.trial else what


def flip_words(flip: Flip) -> str:
    """Say what a flip gives, so that two flips of one reading are told apart."""
    if flip.effect == "OTHER_WINS":
        gives = f"{flip.winner} wins"
    else:
        gives = "none is left" if flip.effect == "NONE_LEFT" else "it gets eligible"
    return f"{flip.kind} flip, {gives}"


def why_of(item: Item, plan: Plan) -> str:
    """Say why an item is to be opened."""
    if item.kind == "change":
        return "changed"
    if item.flip is not None:
        return flip_words(plan.flips[item.flip])
    if item.is_waived:
        return "waived"
    return OUTCOMES[plan.candidates[item.trial].gates[item.gate].outcome].text.lower()


def moved_of(delta: Delta, plan: Plan) -> Moved:
    """Write one thing that moved."""
    item, before, after = delta.item, delta.before, delta.after
    lead = "" if before is not None and after is not None else "gone" if before is not None else "new"
    if before is None and after is None:
        lead = "moved"
    was, now = _value(before), _value(after)
    if isinstance(before, Said) and isinstance(after, Said) and was == now:
        return Moved(item.id, name_of(item, plan), "", now, _alike(before, after))
    return Moved(item.id, name_of(item, plan), was, now, lead)


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Said):
        return f"{OUTCOMES[value.outcome].text}. {value.sentence}".strip()
    return value if isinstance(value, str) else str(value)


def _alike(before: Said, after: Said) -> str:
    """Say what moved where the same words stand for both revisions."""
    if before.measured == after.measured:
        return "What stands behind it moved, the outcome did not:"
    return f"The reading moved by less than is shown, from {_digits(before)} to {_digits(after)}:"


def _digits(said: Said) -> str:
    """Write a reading, in the unit of the plan, with more digits than pages show."""
    value = said.measured
    return str(value) if value is None or isinstance(value, str) else f"{float(exact(value)):.12g}"


def place_of(item: Item, plan: Plan, query: Query) -> str:
    """Return where on the decision's page an item stands, as the end of its address."""
    if item.kind == "flip":
        return "#h-flip"
    if item.kind == "change":
        return "#moved"
    outcome = plan.candidates[item.trial].gates[item.gate]
    limit = next((key for key, found in outcome.limits.items() if found.outcome == outcome.outcome), "always")
    return cell_link(query, item.trial, item.gate, limit)


def item_named(found: Reviewing, wanted: str) -> Item | None:
    """Return an item of the panel."""
    return next((item for item in found.openings.items if item.id == wanted), None)
