"""More memory in use on the fullest device."""

from fractions import Fraction

from planner.gates.memory_parts import COMPONENTS, MORE_COMPONENTS, PEAK
from planner.readings import number_at
from planner.records.evidence import Window
from planner.stress.base import Case, Fault, Injected, NotInjectable, injection, size
from planner.stress.changes import metrics, with_values, with_windows


@injection(
    "memory_pressure",
    title="Memory pressure",
    fault="the peak of the fullest rank grows by {memory_added_share} of its device's memory",
    gates=("memory_headroom", "rank_balance"),
    needs=("groups", "devices"),
)
def memory_pressure(case: Case) -> Fault:
    """The peak of the rank that fills its device most grows in every window that records it, by a share of the
    device; where components are recorded, activations (else the first one recorded) grow with it."""
    view = case.view
    memory = [Fraction(view.site.hardware.devices[device].memory_bytes) for device in view.rank_device]
    filled = {
        (name, rank): value / memory[rank]
        for name, window in sorted(view.trial.windows.items())
        if PEAK in metrics(window)
        for rank in range(view.ranks)
        if memory[rank] and (value := number_at(metrics(window)[PEAK].values, rank)) is not None
    }
    if not filled:
        return NotInjectable(sentence="No peak memory is recorded for any rank.")
    _, rank = max(filled, key=lambda place: (filled[place], -place[1]))
    more = Fraction(round(memory[rank] * size(case.sizes.memory_added_share)))
    windows = [name for name, of_rank in filled if of_rank == rank]
    return Injected(
        trial=with_windows(view.trial, {name: _fuller(view.trial.windows[name], rank, more) for name in windows}),
        changed=tuple(f"{view.at}/windows/{name}/per_rank/{PEAK}/values/{rank}" for name in windows),
    )


def _fuller(window: Window, rank: int, more: Fraction) -> Window:
    recorded = metrics(window)
    parts = ("activations_bytes", *COMPONENTS, *MORE_COMPONENTS)
    part = next((name for name in parts if name in recorded and _has(window, name, rank)), None)
    grown = (PEAK,) if part is None else (PEAK, part)
    return with_values(
        window, {name: {rank: (number_at(recorded[name].values, rank) or Fraction(0)) + more} for name in grown}
    )


def _has(window: Window, name: str, rank: int) -> bool:
    return number_at(metrics(window)[name].values, rank) is not None
