"""Does what was measured agree with the declared workload: lengths, load, cache hits, speculation?

Rules kept: lengths come from totals where both are recorded, because a declared length is not a served one; a mean
hides mixed lengths, so every declared point of a distribution is compared unless the requests themselves are named
by digest; differences count in both directions. Not handled: choices of the identity (``equal_service``).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from planner.figures import grouped
from planner.gates.base import Ask, Finding, Limit, gate
from planner.gates.wording import apart, named, no_window, share
from planner.numbers import exact
from planner.readings import Unfit, WindowView, number, zero
from planner.records.base import UNSET, Id, Share, UnsetType, is_set
from planner.records.contract import Lengths, LoadPoint
from planner.records.evidence import Load, Requests
from planner.view import TrialView

FAMILY = "evidence"
OFFERED = Fraction(98, 100)
"""Share of the offered rate that an open loop must have sent."""
LENGTH = "length"
"""The identity that holds outputs against their declared length."""
POINTS = ("mean", "p50", "p95", "max")


class WorkloadMatchLimit(Limit, frozen=True, kw_only=True):
    """How far the measured workload may be from the declared one, as a share of the declared figure.

    ``cache_hit_share`` is the expected share of prompt tokens answered from the prefix cache; left out, it is 0 where
    the contract turns the cache off, and is not compared otherwise. The difference of shares itself is compared.
    """

    load_point: Id
    max_difference_share: Share
    cache_hit_share: Share | UnsetType = UNSET
    tokens_counted_by: Literal["server"] | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the load; which of its figures are owed depends on what the contract declares."""
        return (Ask(metric="load.requests", load_point=self.load_point, conditional=True),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One comparison of a window. ``difference`` is None where a figure is missing or the fault is no number.

    ``doubt`` says why the figures cannot all be true, or why none follows from what was read; such a comparison
    decides nothing.
    """

    sentence: str
    difference: Fraction | None = None
    differs: bool = False
    read: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    doubt: str = ""


@gate(
    "workload_match",
    family=FAMILY,
    title="The measured workload is the declared one",
    limit=WorkloadMatchLimit,
    reads=("load.requests", "load.duration_s", "load.cache_hit_share", "load.acceptance_length_mean"),
    unit="share",
    comparator="<=",
    hint="Measure again with the declared lengths, load and cache state.",
)
def workload_match(view: TrialView, limit: WorkloadMatchLimit) -> Finding:
    """In every counted window the mean lengths from totals, every other declared point of both distributions (unless
    a digest names the requests), the requests in flight or the rate sent, and the share of cache hits differ from the
    declared ones by at most the ceiling. Synthetic acceptance of speculation fails: the text is not the model's."""
    windows = view.windows(limit.load_point)
    most = exact(limit.max_difference_share)
    matches = [(window, match) for window in windows for match in _believed(view, window, limit)]
    faults = [(window, match) for window, match in matches if match.differs]
    gaps = [(window, match) for window, match in matches if match.missing or match.doubt]
    unfit = tuple(at for _, match in gaps if not match.missing for at in match.read)
    missing = (*view.unmeasured(limit.load_point), *(at for _, match in gaps for at in match.missing))
    known = [(match.difference, window, match) for window, match in matches if match.difference is not None]
    worst = max(known, key=lambda entry: entry[0], default=None)
    # With several faults no single reading decides, so that no single one would turn the verdict.
    decides = worst if len(faults) <= 1 and not (faults and faults[0][1].difference is None) else None
    said = [f"{match.sentence} in window {window.id}.{match.doubt}" for window, match in faults or gaps]
    few = view.too_few_windows(limit.load_point)
    return Finding(
        outcome="FAIL" if faults else "UNKNOWN" if missing or unfit else "PASS",
        sentence=named(said) or (few[0] if few else _agreed(worst, limit, most)),
        measured=None if decides is None else decides[0],
        limit=most,
        margin=None if decides is None else most - decides[0],
        worst=(("window", (faults or gaps)[0][0].id),) if faults or gaps else _where(worst),
        measured_at=tuple(at for _, match in faults for at in match.read) or unfit or (worst[2].read if worst else ()),
        missing=tuple(dict.fromkeys(missing)),
        limit_field="max_difference_share",
    )


def _where(worst: tuple[Fraction, WindowView, Match] | None) -> tuple[tuple[str, str], ...]:
    return () if worst is None else (("window", worst[1].id),)


def _agreed(worst: tuple[Fraction, WindowView, Match] | None, limit: WorkloadMatchLimit, most: Fraction) -> str:
    if worst is None:
        return no_window(limit.load_point)
    difference, window, match = worst
    worst_said = f"{match.sentence} in window {window.id}."
    return f"Nothing differs by more than {share(difference)}; at most {share(most)}. {worst_said}"


def _believed(view: TrialView, window: WindowView, limit: WorkloadMatchLimit) -> Iterator[Match]:
    """Yield every comparison, and take back those of figures that a broken identity puts in doubt.

    Outputs longer than declared are what this gate looks for, so that identity takes nothing back here.
    """
    broken = [check for check in view.checks.get(window.id, ()) if not check.holds and check.id != LENGTH]
    for match in _matches(view, window, limit):
        read = [at.removeprefix(window.at) for at in match.read]
        doubts = (check.sentence for check in broken if any(_touches(field, read) for field in check.fields))
        doubt = next(doubts, None) if match.difference is not None else None
        yield (
            match
            if doubt is None
            else Match(sentence=match.sentence, read=match.read, missing=match.read, doubt=f" {doubt}")
        )


def _touches(field: str, read: Iterable[str]) -> bool:
    return any(at == field or at.startswith(f"{field}/") for at in read)


def _matches(view: TrialView, window: WindowView, limit: WorkloadMatchLimit) -> Iterator[Match]:
    load = Load() if isinstance(window.record.load, UnsetType) else window.record.load
    most = exact(limit.max_difference_share)
    yield from _lengths(view, window, load, "prompt", most)
    yield from _lengths(view, window, load, "output", most)
    if window.load_point is not None:
        yield _sent(window, load, window.load_point, most)
    yield from _cache(view, window, load, limit)
    yield from _speculation(view, window, load)
    if is_set(limit.tokens_counted_by) and load.tokens_counted_by != limit.tokens_counted_by:
        at = (f"{window.at}/load/tokens_counted_by",)
        yield Match(sentence=f"Tokens are not known to be counted by the {limit.tokens_counted_by}", missing=at)


def _lengths(view: TrialView, window: WindowView, load: Load, kind: str, most: Fraction) -> Iterator[Match]:
    """Compare the points of a declared distribution; a digest names every length at once."""
    declared: Lengths | UnsetType = getattr(view.workload, f"{kind}_tokens")
    if isinstance(declared, UnsetType):
        return
    by_digest = is_set(view.workload.dataset_digest)
    for point in POINTS:
        wanted = number(getattr(declared, point))
        if point == "mean" and wanted is None:
            wanted = number(declared.fixed)
        if wanted is None:
            continue
        found, read = _length(window, load, kind, point)
        if found is None and by_digest:
            continue
        if found is None and point == "mean" and (nobody := _no_mean(window, load, kind)):
            yield Match(
                sentence=f"{kind.capitalize()} mean cannot be judged", read=nobody.at, doubt=f" {nobody.sentence}"
            )
            continue
        yield _compared(f"{kind.capitalize()} {point} is", found, wanted, "tokens", read, most)


def _no_mean(window: WindowView, load: Load, kind: str) -> Unfit | None:
    """Say that a total of no request has no mean; None where the total is not recorded, or completed requests are."""
    requests = Requests() if isinstance(load.requests, UnsetType) else load.requests
    total = load.input_tokens_total if kind == "prompt" else load.output_tokens_total
    if number(total) is None or number(requests.completed) != 0:
        return None
    return zero(window.at, "/load/requests/completed", no="mean")[0]


def _length(window: WindowView, load: Load, kind: str, point: str) -> tuple[Fraction | None, tuple[str, ...]]:
    """Return a measured length with its pointers; the mean comes from totals where they are recorded."""
    requests = Requests() if isinstance(load.requests, UnsetType) else load.requests
    total_field = "input_tokens_total" if kind == "prompt" else "output_tokens_total"
    total, completed = number(getattr(load, total_field)), number(requests.completed)
    if point == "mean" and total is not None and completed:
        return total / completed, (f"{window.at}/load/{total_field}", f"{window.at}/load/requests/completed")
    lengths = getattr(load, f"{kind}_tokens")
    found = None if isinstance(lengths, UnsetType) else number(getattr(lengths, point))
    return found, (f"{window.at}/load/{kind}_tokens/{point}",)


def _sent(window: WindowView, load: Load, point: LoadPoint, most: Fraction) -> Match:
    requests = Requests() if isinstance(load.requests, UnsetType) else load.requests
    seconds = number(load.duration_s)
    if point.arrival == "open":
        sent, wanted = number(requests.sent), number(point.requests_per_s) or Fraction(0)
        sources = (f"{window.at}/load/requests/sent", f"{window.at}/load/duration_s")
        if sent is None or seconds is None:
            lacking = (at for at, value in zip(sources, (sent, seconds), strict=True) if value is None)
            return Match(sentence="Sent rate is not recorded", missing=tuple(lacking))
        if seconds == 0:
            (unfit,) = zero(window.at, "/load/duration_s", no="rate")
            return Match(sentence="Sent rate cannot be judged", read=unfit.at, doubt=f" {unfit.sentence}")
        match = _compared("Sent rate is", sent / seconds, wanted, "requests per s", sources, most)
        if sent / seconds < OFFERED * wanted:
            return Match(sentence=match.sentence, difference=match.difference, differs=True, read=sources)
        return match
    in_flight = number(load.in_flight_mean)
    read: tuple[str, ...] = (f"{window.at}/load/in_flight_mean",)
    completed = number(requests.completed)
    latency = None if isinstance(load.e2e_ms, UnsetType) else number(load.e2e_ms.mean)
    if in_flight is None and completed is not None and latency is not None and seconds:
        in_flight = completed * latency / 1000 / seconds
        read = tuple(f"{window.at}/load/{at}" for at in ("requests/completed", "e2e_ms/mean", "duration_s"))
    wanted = number(point.concurrent_requests) or Fraction(0)
    return _compared("Mean in flight is", in_flight, wanted, "requests", read, most)


def _cache(view: TrialView, window: WindowView, load: Load, limit: WorkloadMatchLimit) -> Iterator[Match]:
    wanted = number(limit.cache_hit_share)
    if wanted is None and _is_off(view.workload.prefix_cache):
        wanted = Fraction(0)
    if wanted is None:
        return
    at = (f"{window.at}/load/cache_hit_share",)
    found = number(load.cache_hit_share)
    if found is None:
        yield Match(sentence="Cache hits are not recorded", missing=at)
        return
    difference = abs(found - wanted)
    sentence = f"{share(found)} of the prompt tokens were cache hits, declared {share(wanted)},"
    differs = difference > exact(limit.max_difference_share)
    yield Match(sentence=sentence, difference=difference, differs=differs, read=at)


def _is_off(prefix_cache: Mapping[str, Any] | UnsetType) -> bool:
    if isinstance(prefix_cache, UnsetType):
        return False
    return prefix_cache.get("policy") == "off" or prefix_cache.get("enabled") is False


def _speculation(view: TrialView, window: WindowView, load: Load) -> Iterator[Match]:
    at = f"{window.at}/load"
    if load.synthetic_acceptance is True:
        yield Match(sentence="Acceptance was synthetic", differs=True, read=(f"{at}/synthetic_acceptance",))
    declared = view.workload.speculation
    if not isinstance(declared, UnsetType) and declared != "none" and number(load.acceptance_length_mean) is None:
        yield Match(sentence="Acceptance length is not recorded", missing=(f"{at}/acceptance_length_mean",))


def _compared(
    what: str, found: Fraction | None, wanted: Fraction, unit: str, read: tuple[str, ...], most: Fraction
) -> Match:
    """Compare in both directions, as a share of the declared figure."""
    if found is None:
        return Match(sentence=f"{what} not recorded", missing=read[:1])
    difference = abs(found - wanted) / wanted if wanted else Fraction(0 if found == 0 else 1)
    shown_found, shown_wanted = apart(grouped, found, wanted, 1)
    sentence = f"{what} {shown_found} {unit}, declared {shown_wanted},"
    return Match(sentence=sentence, difference=difference, differs=difference > most, read=read)
