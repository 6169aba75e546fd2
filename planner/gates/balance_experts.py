"""Balance of experts: the hottest rank and the hottest expert of the worst layer, and tokens that were dropped.

Rules kept: every layer and every expert group is judged by itself and the worst decides; a mean over layers, or a
record that leaves layers out, can show heat and never rule it out. Sums over a long interval hide the heat of single
steps, so the interval is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from planner.compare import Comparison, compare
from planner.figures import grouped
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.wording import apart, count, no_window, share, unjudged, why
from planner.layouts.base import ROLES
from planner.numbers import exact
from planner.readings import Reading, Sample, Side, Unfit, WindowView, absent, bounded, number, number_at, zero
from planner.records.base import UNSET, Id, Number, Share, UnsetType
from planner.records.evidence import ExpertLayer, ExpertLoad, Phase
from planner.view import TrialView

FAMILY = "balance"
FIELDS = ("max_rank_over_mean", "max_expert_over_mean", "max_dropped_share")


class ExpertBalanceLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the tokens of the hottest rank, or expert, over their mean; or for the share that is dropped.

    ``max_interval_s`` is the longest interval over which sums still answer the limit.
    """

    one_of: ClassVar[tuple[str, ...]] = FIELDS

    load_point: Id
    phase: Phase | UnsetType = UNSET
    max_interval_s: Number | UnsetType = UNSET
    max_rank_over_mean: Number | UnsetType = UNSET
    max_expert_over_mean: Number | UnsetType = UNSET
    max_dropped_share: Share | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for expert load, where there are expert groups; an instrumented window does."""
        return (Ask(metric="experts.layers", load_point=self.load_point, conditional=True),)


@gate(
    "expert_balance",
    family=FAMILY,
    title="No expert is too hot",
    limit=ExpertBalanceLimit,
    reads=("experts.layers", "experts.balancedness"),
    unit="ratio",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Rearrange experts, or add redundant copies where KV room allows.",
)
def expert_balance(view: TrialView, limit: ExpertBalanceLimit) -> Finding:
    """In the worst layer, the tokens of the hottest rank of an expert group over the mean of the group, or of the
    hottest physical expert over the mean of all, or the share of tokens dropped, is at most the ceiling. A figure
    averaged over layers, or over a part of them, is a lower bound: it may fail and never passes."""
    groups = [group for kind, found in _expert_groups(view) for group in found if len(group) > 1]
    if not groups:
        return not_applicable("No expert group has more than one rank.")
    field = limit.given
    windows = view.traced(limit.load_point, "experts")
    samples = tuple(sample for window in windows for sample in _samples(window, limit, field, groups, view))
    most = exact(getattr(limit, field))
    reading = Reading(samples=samples, worst_is="highest")
    result = compare(reading if samples else view.qualified(reading, limit.load_point), "<=", most)
    finding = compared(result, _sentence(result, limit, field, most), limit_field=field)
    return replace(finding, unit="share") if field == "max_dropped_share" else finding


def _expert_groups(view: TrialView) -> Iterator[tuple[str, Sequence[Sequence[int]]]]:
    """Yield the groups that share experts: of kinds ep and moe_ep."""
    for kind, groups in sorted(view.topology_groups.groups.items()):
        if ROLES.get(kind) == "expert" and kind in ("ep", "moe_ep"):
            yield kind, groups


def _samples(
    window: WindowView, limit: ExpertBalanceLimit, field: str, groups: Sequence[Sequence[int]], view: TrialView
) -> Iterator[Sample]:
    records = {} if isinstance(window.record.experts, UnsetType) else window.record.experts
    wanted = {
        name: load
        for name, load in sorted(records.items())
        if isinstance(limit.phase, UnsetType) or _phase(load) == limit.phase
    }
    if not wanted:
        notes = (f"Only {_phase(next(iter(records.values())))} is recorded.",) if records else ()
        yield absent(window, "/experts", notes=notes)
    for name, load in wanted.items():
        at = f"/experts/{name}"
        layers = {} if isinstance(load.layers, UnsetType) else load.layers
        unseen = _hides_steps(window, at, load, limit)
        if unseen is not None:
            yield unseen
        elif layers:
            for layer, record in sorted(layers.items()):
                found = _of_layer(
                    window, f"{window.at}{at}/layers/{layer}", layer, record, field, groups, _side(load), view
                )
                yield from (_doubted(window, sample) for sample in found)
        else:
            yield _averaged(window, at, load, field)


def _doubted(window: WindowView, sample: Sample) -> Sample:
    return replace(sample, doubts=window.doubts(at.removeprefix(window.at) for at in sample.read))


def _phase(load: ExpertLoad) -> Phase:
    return "mixed" if isinstance(load.phase, UnsetType) else load.phase


def _side(load: ExpertLoad) -> Side:
    return "exact" if isinstance(load.bound, UnsetType) else load.bound


def _hides_steps(window: WindowView, at: str, load: ExpertLoad, limit: ExpertBalanceLimit) -> Sample | None:
    """Say that the sums span too long to show the heat of steps, or do not say how long; None where they show it."""
    if isinstance(limit.max_interval_s, UnsetType):
        return None
    interval, at = number(load.interval_s), f"{at}/interval_s"
    if interval is None:
        return absent(window, at, notes=("The interval of the sums is not recorded.",))
    if interval <= exact(limit.max_interval_s):
        return None
    sentence = f"interval_s is {grouped(interval, 3)}: sums over so long hide the heat of steps."
    return replace(absent(window), unfit=(Unfit(at=(window.at + at,), sentence=sentence),))


def _of_layer(
    window: WindowView,
    at: str,
    layer: str,
    record: ExpertLayer,
    field: str,
    groups: Sequence[Sequence[int]],
    side: Side,
    view: TrialView,
) -> Iterator[Sample]:
    where = (("window", window.id), ("layer", layer))
    if field == "max_dropped_share":
        yield _dropped(window, at, record, where, side)
    elif field == "max_expert_over_mean":
        values = () if isinstance(record.tokens_by_expert, UnsetType) else record.tokens_by_expert
        numbers = {slot: number(value) for slot, value in enumerate(values)}
        yield _hottest(numbers, f"{at}/tokens_by_expert", where, "expert", side)
    else:
        values = () if isinstance(record.tokens_by_rank, UnsetType) else record.tokens_by_rank
        for group in groups:
            numbers = {rank: number_at(values, rank) for rank in group}
            sample = _hottest(numbers, f"{at}/tokens_by_rank", where, "rank", side)
            rank = sample.place.get("rank")
            yield replace(sample, where=(*sample.where, ("node", view.rank_node[int(rank)]))) if rank else sample


def _hottest(
    numbers: Mapping[int, Fraction | None], at: str, where: tuple[tuple[str, str], ...], what: str, side: Side
) -> Sample:
    known = {place: value for place, value in numbers.items() if value is not None}
    total = sum(known.values(), Fraction(0))
    if not numbers or len(known) < len(numbers):
        missing = tuple(f"{at}/{place}" for place in numbers if place not in known) or (at,)
        return Sample(value=None, low=None, high=None, where=where, missing=missing)
    if total == 0:
        return Sample(value=None, low=None, high=None, where=where, unfit=zero("", at, no="share of the mean"))
    hottest = max(known, key=lambda place: (known[place], -place))
    mean = total / len(known)
    heat = known[hottest] / mean
    low, high = bounded(heat, side)
    note = f"{what.capitalize()} {hottest}: {count(known[hottest])} tokens, mean {grouped(mean, 1)}."
    partial = side == "lower"
    return Sample(
        value=heat,
        low=low,
        high=high,
        where=(*where, (what, str(hottest))),
        read=(f"{at}/{hottest}",),
        missing=(f"{at.rpartition('/layers/')[0]}/layers",) if partial else (),
        notes=(note, *(("Layers are left out: the worst is at least as hot.",) if partial else ())),
    )


def _dropped(
    window: WindowView, at: str, record: ExpertLayer, where: tuple[tuple[str, str], ...], side: Side
) -> Sample:
    values = () if isinstance(record.tokens_by_rank, UnsetType) else record.tokens_by_rank
    tokens = [value for value in map(number, values) if value is not None]
    dropped, served = number(record.dropped_tokens), sum(tokens, Fraction(0))
    if dropped is None or not values or len(tokens) < len(values):
        field = "dropped_tokens" if dropped is None else "tokens_by_rank"
        return Sample(value=None, low=None, high=None, where=where, missing=(f"{at}/{field}",))
    if served + dropped == 0:
        unfit = zero(at, "/tokens_by_rank", "/dropped_tokens", no="share")
        return Sample(value=None, low=None, high=None, where=where, unfit=unfit)
    share_dropped = dropped / (served + dropped)
    low, high = bounded(share_dropped, side)
    return Sample(value=share_dropped, low=low, high=high, where=where, read=(f"{at}/dropped_tokens",))


def _averaged(window: WindowView, at: str, load: ExpertLoad, field: str) -> Sample:
    """Read the engine's balancedness: the worst layer is at least as hot as 1 / its mean over layers."""
    balancedness = number(load.balancedness)
    if balancedness is None or field != "max_rank_over_mean":
        return absent(window, f"{at}/layers")
    if balancedness == 0:
        return replace(absent(window), unfit=zero(window.at, f"{at}/balancedness", no="heat"))
    heat = 1 / balancedness
    return Sample(
        value=heat,
        low=heat,
        high=None,
        where=(("window", window.id),),
        read=(f"{window.at}{at}/balancedness",),
        missing=(f"{window.at}{at}/layers",),
        notes=("Averaged over layers: the worst layer is at least as hot.",),
    )


def _sentence(result: Comparison, limit: ExpertBalanceLimit, field: str, most: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    place = decides.place
    where = f"layer {place['layer']} in window {place['window']}" if "layer" in place else f"window {place['window']}"
    if decides.value is None:
        said = unjudged(decides, "Expert load", f"for {where}")
        return said if decides.unfit else f"{said}{why(result)}"
    if field == "max_dropped_share":
        found, allowed = apart(share, decides.value, most, 3)
        return f"{found} of the tokens are dropped in {where}; at most {allowed}.{why(result)}"
    found, allowed = apart(share, decides.value, most, 3)
    hot = next(
        (f"{kind.capitalize()} {place[kind]}" for kind in ("rank", "expert") if kind in place), "The hottest rank"
    )
    tokens = f" {decides.notes[0]}" if decides.notes else ""
    return f"{hot} takes {found} × the mean tokens in {where}; at most {allowed}.{tokens}"
