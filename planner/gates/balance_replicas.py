"""Balance of replicas: whose queue is longest, and whose KV cache is fullest.

Rules kept: a unit is a scheduler with a queue of its own, which may be a part of a serving group; skew is judged only
under load, because an almost empty queue may be anywhere.
"""

from fractions import Fraction
from typing import ClassVar

from msgspec.structs import replace

from planner.compare import Comparison, compare
from planner.figures import grouped
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.wording import apart, no_window, share, unjudged, why
from planner.numbers import exact
from planner.readings import Reading, Sample, Unfit, WindowView, absent, number
from planner.records.base import UNSET, Id, Number, UnsetType
from planner.records.evidence import Replica
from planner.view import TrialView

FAMILY = "balance"
QUEUE, KV = "queued_requests_mean", "kv_used_mean_share"
BUSY = {QUEUE: Fraction(1), KV: Fraction(10, 100)}
"""Means below which skew says nothing."""
WORDS = {QUEUE: "queue", KV: "KV use"}


class ReplicaBalanceLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the fullest replica over the mean of all: by its queue, or by the use of its KV cache."""

    one_of: ClassVar[tuple[str, ...]] = ("max_queue_over_mean", "max_kv_over_mean")

    load_point: Id
    max_queue_over_mean: Number | UnsetType = UNSET
    max_kv_over_mean: Number | UnsetType = UNSET

    def asks(self) -> tuple[Ask, ...]:
        """Ask for the figure of every replica, where there are several."""
        return (Ask(metric=f"replicas.{_field(self)[1]}", load_point=self.load_point, conditional=True),)


def _field(limit: ReplicaBalanceLimit) -> tuple[str, str]:
    """Return (field of the limit, field of a replica)."""
    return limit.given, QUEUE if limit.given == "max_queue_over_mean" else KV


@gate(
    "replica_balance",
    family=FAMILY,
    title="Replicas share the load",
    limit=ReplicaBalanceLimit,
    reads=(f"replicas.{QUEUE}", f"replicas.{KV}"),
    unit="ratio",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Route by queue or by KV use, and check that affinity does not pin requests to one replica.",
)
def replica_balance(view: TrialView, limit: ReplicaBalanceLimit) -> Finding:
    """The mean queue, or the mean use of the KV cache, of the fullest replica over the mean of all replicas is at
    most the ceiling in every counted window. A window whose mean queue is below 1, or whose KV use is below 0.1, is
    not judged. Replicas are schedulers and must cover every rank once."""
    windows = view.windows(limit.load_point)
    several = any(len(_replicas(window)) > 1 for window in windows)
    if len(view.serving_groups) == 1 and not several:
        return not_applicable("One scheduler serves all ranks.")
    name, field = _field(limit)
    samples = [_skew(view, window, field) for window in windows]
    judged = tuple(sample for sample in samples if sample is not None)
    if samples and not judged:
        return not_applicable(f"The mean {WORDS[field]} stays below {grouped(BUSY[field], 1)}: no load to share.")
    ceiling = exact(getattr(limit, name))
    result = compare(view.qualified(Reading(samples=judged, worst_is="highest"), limit.load_point), "<=", ceiling)
    return compared(result, _sentence(result, limit, field, ceiling), limit_field=name)


def _replicas(window: WindowView) -> dict[str, Replica]:
    return {} if isinstance(window.record.replicas, UnsetType) else window.record.replicas


def _skew(view: TrialView, window: WindowView, field: str) -> Sample | None:
    """Return the skew of a window; None where its mean is too low to judge."""
    replicas = _replicas(window)
    if sorted(rank for replica in replicas.values() for rank in replica.ranks) != list(range(view.ranks)):
        if not replicas:
            return absent(window, "/replicas")
        unfit = Unfit(at=(f"{window.at}/replicas",), sentence="The recorded replicas do not cover every rank once.")
        return replace(absent(window), unfit=(unfit,))
    found = {name: number(getattr(replica, field)) for name, replica in sorted(replicas.items())}
    missing = [f"/replicas/{name}/{field}" for name, value in found.items() if value is None]
    known = {name: value for name, value in found.items() if value is not None}
    if missing:
        return absent(window, *missing)
    mean = sum(known.values(), Fraction(0)) / len(known)
    if mean < BUSY[field]:
        return None
    fullest = max(known, key=lambda name: known[name])
    skew = known[fullest] / mean
    read = tuple(f"{window.at}/replicas/{name}/{field}" for name in known)
    where = (("window", window.id), ("replica", fullest))
    return Sample(value=skew, low=skew, high=skew, where=where, read=read)


def _sentence(result: Comparison, limit: ReplicaBalanceLimit, field: str, ceiling: Fraction) -> str:
    decides = result.decides
    if decides is None:
        return no_window(limit.load_point)
    place = decides.place
    what = WORDS[field]
    if decides.value is None:
        said = unjudged(decides, f"The {what} of every replica", f"in window {place['window']}")
        return said if decides.unfit else f"{said}{why(result)}"
    found, most = apart(share, decides.value, ceiling, 3)
    return (
        f"The {what} of replica {place['replica']} is {found} × the mean in window {place['window']}; at most {most}."
    )
