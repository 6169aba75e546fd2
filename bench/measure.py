"""Time and memory of steps, each as a multiple of the first one, which is the yardstick.

Rules kept: all steps are run in turn, several times, in one process, and counted in seconds of the processor, so that
ratios hold on a busy machine too. Not handled: figures that could be compared between machines without the ratio.
"""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import TypeVar

__all__ = ["Step", "best_seconds", "median_seconds", "peak_bytes"]

T = TypeVar("T")
Step = Callable[[], object]


def median_seconds(steps: Mapping[str, Step], runs: int) -> dict[str, float]:
    """Run every step ``runs`` times in turn; return the median of each in seconds of the processor."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(runs):
        for name, step in steps.items():
            times[name].append(_timed(step)[0])
    return {name: statistics.median(taken) for name, taken in times.items()}


def best_seconds(work: Callable[[], T], runs: int) -> tuple[float, T]:
    """Do something several times; return the least seconds of the processor, and what came of it."""
    taken, found = _timed(work)
    for _ in range(runs - 1):
        seconds, found = _timed(work)
        taken = min(taken, seconds)
    return taken, found


def peak_bytes(step: Step) -> int:
    """Return the most memory that one run holds at once, as Python's allocator counts it; several times slower."""
    gc.collect()
    tracemalloc.start()
    step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    """Count one run without garbage of the run before."""
    gc.collect()
    start = time.process_time()
    found = work()
    return time.process_time() - start, found
