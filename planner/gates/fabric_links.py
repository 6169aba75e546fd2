"""Links of the fabric: how full those are that carry what crosses a node.

Rules kept: utilisation is computed from byte counters and the contract's one-way rate, a tool's own percentage is
shown and never read; low utilisation is not called headroom. Not handled: the arithmetic (``planner.links``).
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from planner.compare import Comparison, compare
from planner.gates.base import Ask, Finding, Limit, compared, gate, not_applicable
from planner.gates.wording import apart, no_window, share, unjudged, why
from planner.links import LINK_READS, Sought, owed_links, utilizations
from planner.needs import reserved_bandwidth
from planner.numbers import exact
from planner.readings import Reading, Sample, WindowView
from planner.records.base import UNSET, Id, Number, Share, Text, UnsetType
from planner.records.evidence import LinkCounters
from planner.view import TrialView

FAMILY = "fabric"


class LinkUtilizationLimit(Limit, frozen=True, kw_only=True):
    """A ceiling for the peak utilisation of every link of a class, before the bandwidth reserve.

    Left out, ``phase`` means every phase recorded. Samples longer than ``max_sample_interval_s`` hide peaks.
    """

    link_class: Text
    load_point: Id
    phase: Literal["prefill", "decode", "mixed"] | UnsetType = UNSET
    max_utilization: Share
    max_sample_interval_s: Number

    def asks(self) -> tuple[Ask, ...]:
        """Ask for both directions of every link that owes evidence."""
        phase = None if isinstance(self.phase, UnsetType) else self.phase
        return tuple(
            Ask(metric=metric, load_point=self.load_point, phase=phase, link_class=self.link_class)
            for metric in LINK_READS
        )


@gate(
    "link_utilization",
    family=FAMILY,
    title="Links keep their bandwidth reserve",
    limit=LinkUtilizationLimit,
    reads=LINK_READS,
    unit="share",
    comparator="<=",
    needs=("groups", "devices"),
    hint="Move the crossing to a boundary with less traffic, spread ranks over more NICs, or compress what crosses.",
)
def link_utilization(view: TrialView, limit: LinkUtilizationLimit) -> Finding:
    """The busiest sample interval of the busiest link of the class, in each phase and counted window, is at most
    max_utilization after the bandwidth reserve: max(tx, rx) bytes over interval x one-way rate. Every link on a NIC
    of a rank in a group that crosses the node owes evidence."""
    ceiling = exact(limit.max_utilization) * (1 - reserved_bandwidth(view.contract))
    owed, unplaced = owed_links(view, limit.link_class)
    windows = view.windows(limit.load_point)
    sought = Sought(
        links=view.site.links,
        link_class=limit.link_class,
        phase=None if isinstance(limit.phase, UnsetType) else limit.phase,
        max_sample_interval_s=limit.max_sample_interval_s,
    )
    samples = tuple(sample for window in windows for sample in utilizations(window, sought, owed))
    if not owed and not unplaced and not samples:
        return not_applicable(f"No group crosses a node and no {limit.link_class} link is recorded.")
    nowhere = (f"Ranks that cross a node name no NIC with a link of class {limit.link_class}.",) if unplaced else ()
    whole = Reading(samples=samples, worst_is="highest", missing=unplaced, notes=nowhere)
    reading = view.qualified(whole, limit.load_point)
    result = compare(reading, "<=", ceiling)
    notes = (_reserve_note(view, limit, ceiling), "Low utilisation is not headroom: read it beside waiting time.")
    return compared(result, _link_sentence(result, limit, ceiling, windows), limit_field="max_utilization", notes=notes)


def _reserve_note(view: TrialView, limit: LinkUtilizationLimit, ceiling: Fraction) -> str:
    reserve = reserved_bandwidth(view.contract)
    if reserve == 0:
        return "No bandwidth reserve is declared: 0 is used."
    declared = share(exact(limit.max_utilization))
    return f"Declared ceiling {declared}; a reserve of {share(reserve)} leaves {share(ceiling)}."


def _link_sentence(
    result: Comparison, limit: LinkUtilizationLimit, ceiling: Fraction, windows: Sequence[WindowView]
) -> str:
    decides = result.decides
    if not windows:
        return no_window(limit.load_point)
    if decides is None:
        return result.notes[0]
    place = decides.place
    link = f"Link {place['link']} ({place['phase']})"
    if decides.value is None:
        return _silence(decides, link, next(window for window in windows if window.id == place["window"]))
    used, most = apart(share, decides.value, ceiling, 3)
    return f"{link} peaks at {used} of its rate in window {place['window']}; at most {most}.{why(result)}"


def _silence(decides: Sample, link: str, window: WindowView) -> str:
    """Say what keeps a link without a value: nothing of it is recorded, some of what is needed, or what is unfit."""
    place = decides.place
    recorded = {} if isinstance(window.record.links, UnsetType) else window.record.links
    phases: Mapping[str, LinkCounters] = {str(name): found for name, found in recorded.get(place["link"], {}).items()}
    if not decides.unfit and place["phase"] in phases:
        lacking = [pointer.rpartition("/")[2] for pointer in decides.missing]
        verb = "is" if len(lacking) == 1 else "are"
        return f"{link}: {' and '.join(lacking)} {verb} not recorded in window {window.id}."
    return unjudged(decides, link, f"in window {window.id}")
