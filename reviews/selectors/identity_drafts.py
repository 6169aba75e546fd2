"""A contract as a revision would have it: the decided one, with what hosts report in the place of what differs.

Rules kept: only a value that a fresh report says is taken, and only where all hosts that say the key otherwise say the
same; a key that is missing or unknown, and the place of a rank, are named and never filled in.
"""

import json
from dataclasses import replace

from planner.contract_builder.draft import ContractDraft, continued
from planner.contract_builder.edits import value_set
from planner.identity import same
from reviews.blobs import blob_read
from reviews.clock import when
from reviews.errors import ConflictError
from reviews.models import Person, Workspace
from reviews.policies.validity import Difference
from reviews.selectors.live_identity import LiveIdentity, live_of_decision

PLACEMENT = "/placement/"
NAMED = 20
"""Keys that a note names."""


def drafted_revision(*, actor: Person, workspace: Workspace, number: int) -> ContractDraft:
    """Return the contract of a decision with what its hosts report otherwise.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        ConflictError: nothing was put into force, or no fresh report says otherwise than decided.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    live = live_of_decision(actor=actor, workspace=workspace, number=number)
    if live.held is None:
        raise ConflictError(live.because)
    by_key = _by_key(live)
    if not by_key:
        raise ConflictError("No report that counts says otherwise than decided, so there is nothing to draft from.")
    contract = live.held.activation.revision.contract
    base = continued(blob_read(contract.blob_id, "contract"), based_on=contract.blob_id)
    taken, left = _sorted(by_key)
    tree = base.tree
    origins = {}
    for key, (name, one) in taken.items():
        tree = value_set(tree, f"/identity{key}", one.found)
        before = json.dumps(one.expected, ensure_ascii=False)
        origins[f"/identity{key}"] = f"report of {name}, {_time_of(live, name)} UTC; decided before: {before}"[:400]
    draft = base.with_tree(tree, origins, _notes(live, left))
    return replace(draft, revises=number)


def _by_key(live: LiveIdentity) -> dict[str, list[tuple[str, Difference]]]:
    found: dict[str, list[tuple[str, Difference]]] = {}
    for name, one in live.differences:
        found.setdefault(one.key, []).append((name, one))
    return found


def _sorted(
    by_key: dict[str, list[tuple[str, Difference]]],
) -> tuple[dict[str, tuple[str, Difference]], list[str]]:
    """Return the values that are taken, with who reports them, and sentences about what is not."""
    taken, unknown, placed, torn = {}, [], [], []
    for key, said in by_key.items():
        first = said[0][1]
        if key.startswith(PLACEMENT):
            placed.append(key.removeprefix(PLACEMENT))
        elif first.how != "differs":
            unknown.append(key)
        elif all(same(one.found, first.found) for _, one in said):
            taken[key] = said[0]
        else:
            torn.append(key)
    left = []
    for names, words in (
        (unknown, "is missing or unknown in the reports, so it stands as decided"),
        (torn, "is said differently by several hosts, so it stands as decided"),
        (placed, "is a place of a rank, which the evidence states: measure where the ranks run now"),
    ):
        if names:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            left.append(f"{', '.join(names[:NAMED])}{more}: each {words}.")
    return taken, left


def _notes(live: LiveIdentity, left: list[str]) -> list[str]:
    silent = ", ".join(live.together.open_keys[:NAMED])
    more = f" and {len(live.together.open_keys) - NAMED} more" if len(live.together.open_keys) > NAMED else ""
    return [*left, *([f"{silent}{more}: no host reports them, so they stand as decided."] if silent else [])]


def _time_of(live: LiveIdentity, name: str) -> str:
    return when(next(row.collected_at for row in live.hosts if row.name == name and row.collected_at))
