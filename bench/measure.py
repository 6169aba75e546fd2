"""Time and memory of steps, each as a multiple of the first one, which is the yardstick.

Rules kept: all steps are run in turn, several times, in one process, and counted in seconds of the processor, so that
ratios hold on a busy machine too. Not handled: figures that could be compared between machines without the ratio.
"""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping

__all__ = ["Step", "median_seconds", "peak_bytes"]

Step = Callable[[], object]


def median_seconds(steps: Mapping[str, Step], runs: int) -> dict[str, float]:
    """Run every step ``runs`` times in turn; return the median of each in seconds of the processor."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(runs):
        for name, step in steps.items():
            times[name].append(_seconds(step))
    return {name: statistics.median(taken) for name, taken in times.items()}


def peak_bytes(step: Step) -> int:
    """Return the most memory that one run holds at once, as Python's allocator counts it; several times slower."""
    gc.collect()
    tracemalloc.start()
    step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _seconds(step: Step) -> float:
    """Count one run without garbage of the run before."""
    gc.collect()
    start = time.process_time()
    step()
    return time.process_time() - start
