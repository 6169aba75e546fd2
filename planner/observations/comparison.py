"""Production against the qualified envelope, for every rank, group, link and shape by itself.

Rules kept: nothing is averaged over ranks, groups or links; where several collectors speak of one of them, each is held
against the bounds by itself and all of them together, and the worst counts, so that nobody's calm hides a breach that
another one saw. Where they contradict each other on what ran, values are held at the load points of the least and of
the most that they tell, and the worse counts. Shapes and phases of one of them are put together, as a limit that names
none means all of them; rates of groups add up, because the deployment's capacity is their sum. A percentile is a range,
and so is the most where a part did not record it: above a limit only where all of it is, below only where all of it is;
with too few values beyond the percentile it is unknown. Limits are the contract's; drift is the distance from what was
measured, and no breach.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from planner.numbers import exact
from planner.observations.envelope import Entry
from planner.observations.metrics import METRICS
from planner.observations.rollup import Key, Rolled, merged, quantile
from planner.readings import BEYOND_PERCENTILE

__all__ = ["DRIFT", "Compared", "compared", "worst_first"]

DRIFT = Fraction(1, 10)
"""How far from what was measured production may be before it is called drift, where nobody says otherwise."""
PERCENTILES: Mapping[str, tuple[int, int]] = {
    "p50": (1, 2),
    "p90": (9, 10),
    "p95": (19, 20),
    "p99": (99, 100),
    "p99_9": (999, 1000),
}
CONTRADICTION = "Collectors contradict each other on what ran; the stricter load point counts."
SENT = ("requests_completed", "requests_failed", "requests_cancelled")

State = Literal["BREACH", "WITHIN", "UNKNOWN", "NO_LIMIT"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One segment's statistic beside its bound.

    ``low`` and ``high`` are what it can be, None where it is not known; ``used`` is ``high`` over the limit, or over
    what was measured where there is none; ``drift`` is the signed distance from what was measured, of the nearer end of
    the range, 0 where that lies inside. ``drifted`` is None where drift cannot be told. ``source`` is the collector
    whose values these are, empty where they are everybody's.
    """

    key: Key
    entry: Entry
    state: State
    low: Fraction | None
    high: Fraction | None
    used: Fraction | None
    drift: Fraction | None
    drifted: bool | None
    because: str
    source: str = ""


def compared(
    entries: Sequence[Entry],
    seen: Mapping[Key, Rolled],
    seconds: Fraction,
    *,
    drift: Fraction = DRIFT,
    beyond: Fraction = Fraction(BEYOND_PERCENTILE),
) -> tuple[Compared, ...]:
    """Compare roll-ups of ``seconds`` with the envelope, in the order of keys; what has no entry is left out."""
    judge = _Judge(seconds, drift, beyond)
    whole = _whole(_together(seen))
    alone = {source: _whole(held) for source, held in _apart(seen).items()}
    bounds = _Bounds(_at_load(entries, _running(seen)))
    everything = {**whole, **_totals(whole)}
    found = []
    for key in sorted(everything, key=_order):
        judged = []
        for entry in bounds.of(key):
            own = (
                replace(judge.of(entry, key, held[key], held), source=source)
                for source, held in alone.items()
                if key in held and (held[key] is not everything[key] or entry.statistic == "share")
            )
            judged.append(_worst(judge.of(entry, key, everything[key], whole), own))
        found += _stricter(judged)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Judge:
    """What every value is compared by."""

    seconds: Fraction
    drift: Fraction
    beyond: Fraction

    def of(self, entry: Entry, key: Key, rolled: Rolled, beside: Mapping[Key, Rolled]) -> Compared:
        """Hold a roll-up against a bound; ``beside`` is what the same collectors say."""
        low, high, because = _range(entry, key, rolled, beside, self.seconds, self.beyond)
        return _compared(key, entry, (low, high), because, self.drift)


def _together(seen: Mapping[Key, Rolled]) -> dict[Key, Rolled]:
    """Return what all sources say together, under keys that name none."""
    found: dict[Key, Rolled] = {}
    for key, rolled in seen.items():
        place = key.place
        known = found.get(place)
        found[place] = rolled if known is None else merged(known, rolled)
    return found


def _apart(seen: Mapping[Key, Rolled]) -> dict[str, dict[Key, Rolled]]:
    """Return source -> what it says of ranks, groups and links that others speak of too, in the order of names."""
    speakers: dict[tuple[int, int, str], set[str]] = {}
    for key in seen:
        speakers.setdefault((key.rank, key.group, key.link), set()).add(key.source)
    shared = {of for of, names in speakers.items() if len(names) > 1}
    found: dict[str, dict[Key, Rolled]] = {}
    for key in sorted((key for key in seen if (key.rank, key.group, key.link) in shared), key=lambda key: key.source):
        found.setdefault(key.source, {})[key.place] = seen[key]
    return found


def _worst(together: Compared, alone: Iterable[Compared]) -> Compared:
    """Return the worst judgement of one statistic; who says nothing of it takes nothing away.

    Where one alone is as bad as all together, it is that one's; where several are, it is nobody's.
    """
    told = [one for one in alone if one.low is not None or one.high is not None]
    least = min(map(_badness, told), default=None)
    worst = [one for one in told if _badness(one) == least]
    if least is None or least > _badness(together) or (least == _badness(together) and len(worst) > 1):
        return together
    return worst[0]


def _stricter(judged: Sequence[Compared]) -> list[Compared]:
    """Return of every statistic that was held at two load points the worse judgement, which says so; all others too.

    A contract may have several limits of one load point, or of several where as much runs: those contradict nothing.
    """
    at_load: dict[tuple[str, str | None], list[Compared]] = {}
    for one in judged:
        if one.entry.load is not None:
            at_load.setdefault((one.entry.statistic, one.entry.shape), []).append(one)
    found: list[Compared] = []
    for held in at_load.values():
        if len({one.entry.load for one in held}) == 1:
            found += held
        else:
            worst = min(held, key=_badness)
            found.append(replace(worst, because=" ".join(filter(None, (worst.because, CONTRADICTION)))))
    return [*found, *(one for one in judged if one.entry.load is None)]


def _badness(one: Compared) -> tuple[int, Fraction]:
    """Return what orders judgements, the worst first: breaches, drift, the unknown; then what uses most."""
    return {"BREACH": 0, "UNKNOWN": 2}.get(one.state, 1 if one.drifted else 3), -(one.used or Fraction(0))


def _order(key: Key) -> tuple[str, str, int, int, str, str, str]:
    """Return what keys are in order of; faster than to compare records."""
    return key.subject, key.metric, key.rank, key.group, key.link, key.shape, key.phase


class _Bounds:
    """Entries by what they are of, so that a rank among thousands meets its own and those of every rank alone."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._held: dict[tuple[str, int, str], list[tuple[int, Entry]]] = {}
        for at, entry in enumerate(entries):
            place = (entry.metric, -1 if entry.rank is None else entry.rank, entry.link or "")
            self._held.setdefault(place, []).append((at, entry))

    def of(self, key: Key) -> list[Entry]:
        """Return the entries that a key is held against, in their order."""
        if key.phase:
            return []
        places = dict.fromkeys((key.metric, rank, link) for rank in (-1, key.rank) for link in ("", key.link))
        found = [one for place in places for one in self._held.get(place, ())]
        if len(places) > 1:
            found.sort(key=lambda one: one[0])
        return [entry for _, entry in found if _fits(entry, key)]


def worst_first(found: Sequence[Compared]) -> list[Compared]:
    """Order for people: breaches, then what drifted, then what is unknown, each the most used first."""
    return sorted(found, key=lambda one: (*_badness(one), one.key))


def _running(seen: Mapping[Key, Rolled]) -> tuple[Fraction | None, Fraction | None]:
    """Return the least and the most requests that can have run at once, over all groups, as collectors tell it.

    They differ where collectors of one group contradict each other. None where a group's are not recorded: the first
    where nobody recorded them, the second where anybody did not.
    """
    apart: dict[str, dict[Key, Rolled]] = {}
    for key, rolled in seen.items():
        if key.metric == "running_requests":
            apart.setdefault(key.source, {})[key.place] = rolled
    told: dict[Key, list[float | None]] = {}
    for held in apart.values():
        for key, rolled in _whole(held).items():
            if not key.shape and not key.phase:
                told.setdefault(key, []).append(rolled.max)
    groups = [[exact(most) for most in of if most is not None] for of in told.values()]
    if not groups or not all(groups):
        return None, None
    is_whole = all(most is not None for of in told.values() for most in of)
    return sum(map(min, groups), Fraction(0)), sum(map(max, groups), Fraction(0)) if is_whole else None


def _at_load(entries: Sequence[Entry], running: tuple[Fraction | None, Fraction | None]) -> list[Entry]:
    """Return the entries that hold at a load: of several load points the least that carries what runs.

    A limit of an idle service is none of a busy one. Where nobody says what ran, or more ran than at any load point,
    the busiest load point counts. Two hold where the least and the most that can have run have different ones.
    """
    loads: dict[tuple[str, str, str | None], list[int]] = {}
    for entry in entries:
        if entry.load is not None:
            loads.setdefault((entry.metric, entry.statistic, entry.shape), []).append(entry.load)
    kept = []
    for entry in entries:
        held = sorted(loads.get((entry.metric, entry.statistic, entry.shape), ()))
        if entry.load is None or entry.load in {_carrying(held, most) for most in running}:
            kept.append(entry)
    return kept


def _carrying(loads: Sequence[int], running: Fraction | None) -> int:
    return next((load for load in loads if running is not None and load >= running), loads[-1])


def _whole(seen: Mapping[Key, Rolled]) -> dict[Key, Rolled]:
    """Return roll-ups with those of all shapes and phases of a segment beside them, where they are not given."""
    found = dict(seen)
    together: dict[Key, Rolled] = {}
    for key, rolled in seen.items():
        for shape, phase in {("", ""), (key.shape, ""), ("", key.phase)} - {(key.shape, key.phase)}:
            above = replace(key, shape=shape, phase=phase)
            if above not in seen:
                known = together.get(above)
                together[above] = rolled if known is None else merged(known, rolled)
    return {**found, **together}


def _totals(seen: Mapping[Key, Rolled]) -> dict[Key, Rolled]:
    """Return output tokens of all groups together: the rate that was measured is the deployment's."""
    totals: dict[Key, Rolled] = {}
    for key, rolled in seen.items():
        if key.metric == "output_tokens" and key.group >= 0 and not key.shape and not key.phase:
            whole = Key(key.subject, key.metric)
            known = totals.get(whole, Rolled(0, 0))
            totals[whole] = Rolled(known.count + rolled.count, known.sum + rolled.sum)
    return totals


def _fits(entry: Entry, key: Key) -> bool:
    if entry.statistic == "rate" and key.group >= 0:
        return False
    return (
        entry.rank in (None, key.rank)
        and entry.link in (None, key.link)
        and (entry.shape or "") == key.shape
        and not key.phase
    )


Range = tuple[Fraction | None, Fraction | None, str]


def _range(
    entry: Entry, key: Key, rolled: Rolled, seen: Mapping[Key, Rolled], seconds: Fraction, beyond: Fraction
) -> Range:
    if entry.statistic == "mean":
        value = exact(rolled.sum) / rolled.count
        return value, value, ""
    if entry.statistic == "max":
        if rolled.max is None:
            return exact(rolled.reached), None, "The most was not recorded."
        return exact(rolled.max), exact(rolled.max), ""
    if entry.statistic == "rate":
        rate = exact(rolled.sum) / seconds
        return rate, rate, ""
    if entry.statistic == "share":
        return _share(key, rolled, seen)
    return _percentile(entry.statistic, rolled, beyond)


def _share(key: Key, rolled: Rolled, seen: Mapping[Key, Rolled]) -> Range:
    beside = [seen.get(Key(key.subject, name, key.rank, key.group, key.link, key.shape, key.phase)) for name in SENT]
    sent = sum((exact(one.sum) for one in beside if one is not None), Fraction(0))
    if beside[0] is None or sent == 0:
        return None, None, "Completed requests of the same segment were not recorded."
    share = exact(rolled.sum) / sent
    return share, share, ""


def _percentile(statistic: str, rolled: Rolled, beyond: Fraction) -> Range:
    part = PERCENTILES[statistic]
    needed = beyond * part[1] / (part[1] - part[0])
    if rolled.count < needed:
        return None, None, f"n = {rolled.count}, {statistic} needs {int(needed):,}."
    ends = quantile(rolled, part)
    if ends is None:
        return None, None, "No histogram was recorded."
    if ends[1] == float("inf") and sum(count for _, count in rolled.highs) < rolled.count:
        return exact(ends[0]), None, "Not every part has a histogram."
    high = None if ends[1] == float("inf") else exact(ends[1])
    return exact(ends[0]), high, "" if high is not None else "It lies in the last, open bucket."


def _compared(
    key: Key, entry: Entry, ends: tuple[Fraction | None, Fraction | None], because: str, drift: Fraction
) -> Compared:
    low, high = ends
    bound = entry.limit if entry.limit is not None else entry.qualified
    distance = _distance(low, high, entry.qualified)
    return Compared(
        key=key,
        entry=entry,
        state=_state(low, high, entry.limit),
        low=low,
        high=high,
        used=high / bound if high is not None and bound else None,
        drift=distance,
        drifted=None if distance is None else _is_worse(distance, key.metric, drift),
        because=because,
    )


def _state(low: Fraction | None, high: Fraction | None, limit: Fraction | None) -> State:
    if limit is None:
        return "NO_LIMIT"
    if low is not None and low > limit:
        return "BREACH"
    return "WITHIN" if high is not None and high <= limit else "UNKNOWN"


def _distance(low: Fraction | None, high: Fraction | None, qualified: Fraction | None) -> Fraction | None:
    if low is None or not qualified:
        return None
    if low > qualified:
        return low / qualified - 1
    if high is None:
        return None
    return high / qualified - 1 if high < qualified else Fraction(0)


def _is_worse(distance: Fraction, metric: str, drift: Fraction) -> bool:
    """Say whether a distance is drift: more of what is worse when there is more. Less load is no drift."""
    return METRICS[metric].worse == "more" and distance > drift
