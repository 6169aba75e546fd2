"""All trials of a draft as trees, and what belongs to the document as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET

from planner.builder.facts import facts_of
from planner.builder.files import file_of, run_of
from planner.builder.records import Draft
from planner.builder.resolving import Found, Resolved, resolved
from planner.builder.trial_tree import TrialTree, trial_tree
from planner.documents import ContractDocument

__all__ = ["Trees", "trees_of"]

PROVENANCE = "/provenance/"


@dataclass(frozen=True)
class Trees:
    """Trials by id, in order, and the fields of ``/provenance`` with what files say of them."""

    trials: Mapping[str, TrialTree]
    found: dict[str, list[Found]] = field(default_factory=dict)
    provenance: dict[str, Resolved] = field(default_factory=dict)


def trees_of(draft: Draft, contract: ContractDocument) -> Trees:
    """Return every trial of the draft as far as it goes."""
    trees = Trees(trials={name: trial_tree(draft, contract, name) for name in sorted(draft.trials)})
    for tree in trees.trials.values():
        for to, found in tree.placing.found.items():
            if to.startswith(PROVENANCE):
                trees.found.setdefault(to, []).extend(found)
    for to, found in trees.found.items():
        # Figures come from load clients; what telemetry calls itself counts where there is no client.
        loads = [one for one in found if _is_load(draft, one.run)]
        trees.found[to] = loads or found
        trees.provenance[to] = resolved(draft, to, trees.found[to])
    said = {*draft.answers, *(at for at, how in draft.settled.items() if how.value is not UNSET)}
    for to in sorted(at for at in said if at.startswith(PROVENANCE) and at not in trees.provenance):
        trees.provenance[to] = resolved(draft, to, ())
    return trees


def _is_load(draft: Draft, run: str) -> bool:
    return facts_of(run, file_of(draft, run), run_of(draft, run)).part == "load"
