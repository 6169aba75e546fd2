"""Hypotheses of memory beside what was measured: what a rank should hold by the contract's shape of the model. Pure.

Rules kept: an estimate is called one and no gate reads it; ranks that are expected to hold the same stand together,
and the fullest of them is what the estimate is laid beside; what cannot be estimated names the contract's fields that
are missing, or says that no formula is known.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from planner.hypotheses.expectation import Expected, PartName, RankShare, expectation
from planner.hypotheses.facts import MissingFactsError, SplitRefusedError
from planner.layouts import LayoutRefusedError
from planner.view import TrialView
from reviews.web.byte_text import bytes_text, signed_bytes
from reviews.web.formats import count, listed, percent, ranks_text, spans
from reviews.web.memory_facts import WindowMemory, component_name, inside
from reviews.web.stacked import scaled

PART_NAMES: Mapping[PartName, str] = {
    "weights": "attention, dense layers, norms",
    "experts": "experts",
    "embedding": "embedding",
    "head": "output head",
    "kv": "KV cache",
    "activations": "activations",
}
MATCHED: Mapping[str, tuple[PartName, ...]] = {
    "weights_bytes": ("weights", "experts", "embedding", "head"),
    "kv_cache_bytes": ("kv",),
    "activations_bytes": ("activations",),
}
"""The measured component that each sum of expected parts stands beside."""
REMARKS: Mapping[str, str] = {
    "kv_cache_bytes": "What the load needs. Engines set a pool aside at start, which may be larger.",
    "activations_bytes": "The least that is live at once: logits, workspaces and graphs are left out.",
    "weights_bytes": "",
}
ROLES = {"serve": "", "prefill": "prefill, ", "decode": "decode, "}


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatePart:
    """One expected part: its bytes as text, its formula, or why there is no figure."""

    name: str
    text: str
    formula: str
    missing: tuple[str, ...]
    refused: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRow:
    """A component: what is expected beside what was measured on the fullest of the ranks.

    ``estimate_width`` and ``measured_width`` are lengths of bars on one scale, None where there is no figure.
    """

    name: str
    estimate: str
    measured: str
    at: str
    difference: str
    share: str
    remark: str
    parts: tuple[EstimatePart, ...]
    estimate_width: int | None
    measured_width: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateGroup:
    """Ranks that are expected to hold the same."""

    title: str
    rows: tuple[EstimateRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimates:
    """Everything that the contract lets one expect; ``refusal`` says why there is nothing at all.

    ``missing`` are the contract's fields that some figure needs; ``unmatched`` are measured components without a
    formula.
    """

    groups: tuple[EstimateGroup, ...] = ()
    missing: tuple[str, ...] = ()
    unmatched: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Shares of several stages and instances with equal figures, as one."""

    role: str
    stages: tuple[int, ...]
    experts: int
    ranks: tuple[int, ...]
    parts: Mapping[PartName, Expected]


def shares_of(view: TrialView, load_point: str) -> tuple[RankShare, ...]:
    """Return what every rank is expected to hold at a load point.

    Raises:
        LayoutRefusedError: the layout refuses the degrees.
        MissingFactsError: the number of experts of a mixture of experts.
        SplitRefusedError: more experts than are placed one by one.
    """
    return expectation(view.contract.identity, view.trial.topology, load_point).shares


def estimates(view: TrialView, memory: WindowMemory) -> Estimates:
    """Lay the hypotheses beside one window."""
    try:
        shares = shares_of(view, memory.window.record.load_point)
    except (LayoutRefusedError, SplitRefusedError) as refused:
        return Estimates(refusal=refused.message)
    except MissingFactsError as missing:
        return Estimates(missing=tuple(f"/identity/model/{name}" for name in missing.names))
    together = alike(shares)
    scale = max((Fraction(value) for row in together for value in drawn(row, memory)), default=Fraction(0))
    fields = (field for row in together for part in row.parts.values() for field in part.missing)
    unmatched = [inside(component_name(name)) for name in memory.components if name not in MATCHED]
    return Estimates(
        groups=tuple(
            EstimateGroup(title=title_of(row, len(together)), rows=tuple(rows_of(row, memory, scale)))
            for row in together
        ),
        missing=tuple(dict.fromkeys(fields)),
        unmatched=listed(unmatched),
    )


def estimated(view: TrialView, load_point: str) -> list[dict[str, int | None]]:
    """Return for every rank the expected bytes of each matched component, for downloads; None where unknown."""
    found: list[dict[str, int | None]] = [dict.fromkeys(MATCHED) for _ in view.trial.rank_map]
    try:
        shares = shares_of(view, load_point)
    except (LayoutRefusedError, SplitRefusedError, MissingFactsError):
        return found
    for share in shares:
        sums = {name: sum_of([share.parts[part] for part in parts]) for name, parts in MATCHED.items()}
        for rank in share.ranks:
            if rank < len(found):
                found[rank] = sums
    return found


def alike(shares: Sequence[RankShare]) -> tuple[Alike, ...]:
    """Put shares with equal figures together, whatever their stage and instance."""
    together: dict[tuple[object, ...], list[RankShare]] = {}
    for share in shares:
        figures = tuple((name, part.bytes, part.refused) for name, part in share.parts.items())
        together.setdefault((share.role, share.experts, figures), []).append(share)
    return tuple(
        Alike(
            role=same[0].role,
            stages=tuple(sorted({share.stage for share in same})),
            experts=same[0].experts,
            ranks=tuple(sorted(rank for share in same for rank in share.ranks)),
            parts=same[0].parts,
        )
        for same in together.values()
    )


def title_of(row: Alike, groups: int) -> str:
    """Name ranks that hold the same."""
    ranks = ranks_text(row.ranks).capitalize()
    stage = f"stage {row.stages[0]}" if len(row.stages) == 1 else f"stages {spans(row.stages)}"
    experts = f"{count(row.experts, 'expert')} of a layer each" if row.experts else ""
    said = [text for text in (stage if groups > 1 else "", experts) if text]
    return f"{ranks}: {ROLES[row.role]}{', '.join(said)}" if said or ROLES[row.role] else ranks


def sum_of(parts: Collection[Expected]) -> int | None:
    """Add expected parts; None where one of them has no figure."""
    sizes = [part.bytes for part in parts]
    known = [size for size in sizes if size is not None]
    return sum(known) if sizes and len(known) == len(sizes) else None


def rows_of(row: Alike, memory: WindowMemory, scale: Fraction) -> Iterator[EstimateRow]:
    """Make one row for every component that has a formula."""
    for component, names in MATCHED.items():
        expected = sum_of([row.parts[name] for name in names])
        found = fullest(memory, component, row.ranks)
        measured = None if found is None else found[0]
        difference = None if measured is None or expected is None else measured - expected
        yield EstimateRow(
            name=component_name(component),
            estimate="" if expected is None else bytes_text(expected),
            measured="" if measured is None else bytes_text(measured),
            at="" if found is None else f"rank {found[1]}",
            difference="" if difference is None else signed_bytes(difference),
            share="" if difference is None or not expected else percent(difference / expected),
            remark=REMARKS[component],
            parts=tuple(part_of(name, row.parts[name]) for name in names),
            estimate_width=None if expected is None else scaled(expected, scale),
            measured_width=None if measured is None else scaled(measured, scale),
        )


def drawn(row: Alike, memory: WindowMemory) -> Iterator[Fraction | int]:
    """Yield every figure that is drawn for ranks that hold the same."""
    for component, names in MATCHED.items():
        expected, found = sum_of([row.parts[name] for name in names]), fullest(memory, component, row.ranks)
        if expected is not None:
            yield expected
        if found is not None:
            yield found[0]


def part_of(name: PartName, part: Expected) -> EstimatePart:
    """Write one expected part."""
    return EstimatePart(
        name=PART_NAMES[name],
        text="" if part.bytes is None else bytes_text(part.bytes),
        formula=part.formula,
        missing=part.missing,
        refused=part.refused,
    )


def fullest(memory: WindowMemory, component: str, ranks: Sequence[int]) -> tuple[Fraction, int] | None:
    """Return the highest measured value of a component among ranks, with the first rank that has it."""
    if component not in memory.components:
        return None
    at = memory.components.index(component)
    values = [
        (part, -rank)
        for rank in ranks
        if rank < len(memory.ranks) and (part := memory.ranks[rank].parts[at]) is not None
    ]
    if not values:
        return None
    value, rank = max(values)
    return value, -rank
