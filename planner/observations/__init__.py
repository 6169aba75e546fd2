"""Production as observed, against what was qualified: batches, roll-ups, the envelope and the comparison."""

from planner.observations.batch import Expected, admission_problems, read_batch
from planner.observations.comparison import Compared, compared, worst_first
from planner.observations.envelope import Entry, envelope
from planner.observations.metrics import METRICS, Metric
from planner.observations.rollup import Key, Rolled, merge_into, merged, quantile, rolled, rolled_up
from planner.records.observations import Batch, Observed, Segment

__all__ = [
    "METRICS",
    "Batch",
    "Compared",
    "Entry",
    "Expected",
    "Key",
    "Metric",
    "Observed",
    "Rolled",
    "Segment",
    "admission_problems",
    "compared",
    "envelope",
    "merge_into",
    "merged",
    "quantile",
    "read_batch",
    "rolled",
    "rolled_up",
    "worst_first",
]
