"""What a signer has to open before approving. That it was opened proves that it was presented, not that it was read.

Rules kept: every failing, unknown and waived gate of the selected topology and of the baseline; the ten smallest
flips; everything in the team's scope that changed since the signer's last signature for it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from planner.justification import baseline_trial
from planner.numbers import exact
from planner.records.plan import Flip, Plan
from reviews.policies.scope import GATE, IDENTITY, ScopeChange

SMALLEST_FLIPS = 10
OPENED_OUTCOMES = frozenset({"FAIL", "UNKNOWN"})
ItemKind = Literal["gate", "flip", "change"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to open; ``id`` is stable for the revision. What it is about is named by the fields that apply."""

    id: str
    kind: ItemKind
    trial: str = ""
    gate: str = ""
    is_waived: bool = False
    flip: int | None = None
    about: str = ""


def items_to_open(
    plan: Plan, *, chosen: str | None, waived: Collection[tuple[str, str]], change: ScopeChange | None
) -> tuple[Item, ...]:
    """Return the items in the order in which a page shows them.

    ``chosen`` is the trial that would be put into force, ``waived`` holds (trial, gate), ``change`` how the team's
    scope moved since the signer's last signature, None where they never signed for it.
    """
    found = (*_gates(plan, chosen, waived), *_flips(plan), *_changes(change or ScopeChange()))
    return tuple({item.id: item for item in found}.values())


def _gates(plan: Plan, chosen: str | None, waived: Collection[tuple[str, str]]) -> Iterator[Item]:
    trials = dict.fromkeys(trial for trial in (chosen, baseline_trial(plan.baseline)) if trial in plan.candidates)
    for trial in trials:
        for gate, outcome in plan.candidates[trial or ""].gates.items():
            is_waived = (trial, gate) in waived
            if outcome.outcome in OPENED_OUTCOMES or is_waived:
                yield Item(id=f"gate:{trial}:{gate}", kind="gate", trial=trial or "", gate=gate, is_waived=is_waived)


def _flips(plan: Plan) -> Iterator[Item]:
    for at in sorted(range(len(plan.flips)), key=lambda at: (_size(plan.flips[at]), at))[:SMALLEST_FLIPS]:
        flip = plan.flips[at]
        about = ":".join((flip.kind, flip.gate, flip.limit_id or "", flip.trial or "", flip.effect, flip.winner or ""))
        yield Item(id=f"flip:{about}", kind="flip", flip=at, gate=flip.gate, trial=flip.trial or "")


def _size(flip: Flip) -> tuple[bool, object]:
    """Order flips by how far the reading or limit has to move; what was not measured comes last."""
    return (True, 0) if flip.change is None else (False, abs(exact(flip.change)))  # type: ignore[arg-type] # a change is a number


def _changes(change: ScopeChange) -> Iterator[Item]:
    """Group the readings of one gate over its trials: one thing to look at."""
    for about in dict.fromkeys(map(_about, change.keys)):
        yield Item(id=f"change:{about}", kind="change", about=about)


def _about(key: str) -> str:
    return f"{GATE}{key.rpartition(':')[2]}" if key.startswith(GATE) else key


def item_words(item: Item) -> str:
    """Name an item as a refusal does."""
    if item.kind == "flip":
        return f"flip of {item.gate}{f' for {item.trial}' if item.trial else ''}"
    if item.kind == "change":
        return f"changed {item.about.removeprefix(GATE).removeprefix(IDENTITY)}"
    return f"{item.gate} of {item.trial}"


def opened_record(items: Iterable[Item], opened_at: Mapping[str, str]) -> dict[str, object]:
    """Return what is hashed into a sign-off: every item that was to be opened, with when it was."""
    return {"schema": "topogate.opened/v1", "items": {item.id: opened_at.get(item.id) for item in items}}
