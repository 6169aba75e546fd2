"""Where evidence is used more than once: trials, by content, that decisions of several slots count.

A document of evidence belongs to one contract and so to one slot; what slots can share is what was measured.
"""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count

from planner.natural_order import NaturalKey, natural
from reviews.asked_once import moment
from reviews.models import CountedTrial, Person, Retraction, Workspace
from reviews.selectors.people import standing_of
from reviews.selectors.slot_facts import SlotFact, slots_of
from reviews.selectors.slots import SlotFilter, fits

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialUse:
    """A decision that counts a trial, under the name it has there; ``is_chosen`` where it was put into force."""

    fact: SlotFact
    trial: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTrial:
    """A trial that so many ``slots`` rest on; ``uses`` names the first of them, those that run it before others."""

    content_id: str
    is_retracted: bool
    slots: int
    uses: tuple[TrialUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTrials:
    """One page of ``total`` trials, those that most slots count first."""

    rows: tuple[SharedTrial, ...]
    total: int
    page: int
    pages: int


def shared_trials(
    *,
    actor: Person,
    workspace: Workspace,
    wanted: SlotFilter,
    page: int = 1,
    page_size: int | None = PAGE_SIZE,
    most_uses: int | None = None,
) -> SharedTrials:
    """Return the trials that what is in force, or may still run, in several of the slots that fit a filter counts.

    All of them on one page where ``page_size`` is None; of each, at most ``most_uses`` slots are named.

    Raises:
        NotFoundError: the actor is no member of the workspace.
    """
    standing_of(actor, workspace)
    held = {fact.held.id: fact for fact in slots_of(workspace, moment()) if fact.held and fits(fact, wanted)}
    # A slot has one activation among these, so their number is that of the slots.
    counted = CountedTrial.objects.filter(activation__in=list(held))
    shared = counted.order_by().values("content_id").annotate(slots=Count("pk")).filter(slots__gt=1)
    total = shared.count()
    size = page_size or max(total, 1)
    pages = max(1, -(-total // size))
    page = page if 1 <= page <= pages else 1
    # Asked for by a query in the others, not by its answers: all trials are more than a query takes values.
    cut = shared.order_by("-slots", "content_id").values_list("content_id", flat=True)[(page - 1) * size : page * size]
    shown = list(cut)
    retracted = set(
        Retraction.objects.filter(workspace=workspace, content_id__in=cut).values_list("content_id", flat=True)
    )
    uses: dict[str, list[TrialUse]] = defaultdict(list)
    for content_id, activation_id, trial in counted.filter(content_id__in=cut).values_list(
        "content_id", "activation", "trial"
    ):
        fact = held[activation_id]
        is_chosen = fact.held is not None and fact.held.trial == trial
        uses[content_id].append(TrialUse(fact=fact, trial=trial, is_chosen=is_chosen))
    return SharedTrials(
        rows=tuple(
            SharedTrial(
                content_id=content_id,
                is_retracted=content_id in retracted,
                slots=len(uses[content_id]),
                uses=tuple(sorted(uses[content_id], key=_place)[:most_uses]),
            )
            for content_id in shown
        ),
        total=total,
        page=page,
        pages=pages,
    )


def _place(use: TrialUse) -> tuple[bool, NaturalKey]:
    return not use.is_chosen, natural(use.fact.slot)
