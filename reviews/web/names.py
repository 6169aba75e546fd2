"""What a candidate is called on every page: its topology, with its trial where several trials share it. Pure."""

from collections import Counter
from collections.abc import Mapping

from planner.records.plan import Plan

Names = Mapping[str, str]
"""A candidate's name by trial."""


def candidate_names(plan: Plan) -> Names:
    """Name all candidates of a plan, in one pass."""
    trials_of = Counter(candidate.topology for candidate in plan.candidates.values())
    return {
        trial: f"{candidate.topology}@{trial}" if trials_of[candidate.topology] > 1 else candidate.topology
        for trial, candidate in plan.candidates.items()
    }
