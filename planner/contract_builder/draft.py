"""A contract that is being written, with what its builder keeps beside it: where values came from, what it began as."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planner.contract_builder.shapes import skeleton
from planner.errors import DocumentRefusedError, Problem
from planner.intake.parts import value_at
from planner.pointers import steps
from planner.shown import shown
from planner.strict_json import read

__all__ = ["ContractDraft", "continued", "draft_bytes", "draft_from"]

_SCHEMA = "topogate.contract/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractDraft:
    """``origins`` says of pointers where their values were read; ``notes`` are remarks of the files that were read.

    ``based_on`` is the ``file_sha256`` of the stored contract that it began as, None where it began as nothing;
    ``revises`` is the number of the decision that it is to be a revision of, None where that was not said.
    """

    tree: dict[str, Any] = field(default_factory=skeleton)
    origins: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    based_on: str | None = None
    revises: int | None = None

    @property
    def slot(self) -> str:
        """The slot as far as it is text."""
        return _text(self.tree, "slot")

    @property
    def model(self) -> str:
        """The model's name as far as it is text."""
        return _text(self.tree, "identity", "model", "name")

    def with_tree(
        self, tree: Mapping[str, Any], origins: Mapping[str, str] | None = None, notes: Sequence[str] = ()
    ) -> "ContractDraft":
        """Return the draft with another tree: a value that changed by hand has no origin any more."""
        kept = {
            pointer: origin
            for pointer, origin in self.origins.items()
            if (now := value_at(tree, *steps(pointer))) is not None and now == value_at(self.tree, *steps(pointer))
        }
        return replace(
            self,
            tree=dict(tree),
            origins=kept | dict(origins or {}),
            notes=tuple(dict.fromkeys((*self.notes, *notes))),
        )


def _text(tree: Any, *path: str) -> str:
    found = value_at(tree, *path)
    return found if isinstance(found, str) else ""


def continued(raw: bytes, *, based_on: str | None = None) -> ContractDraft:
    """Return a draft that goes on from a contract, however incomplete.

    Raises:
        DocumentRefusedError: no strict JSON, with every problem; or no object, or another document.
    """
    reading = read(raw)
    if reading.problems:
        raise DocumentRefusedError(reading.problems)
    tree = reading.tree
    if not isinstance(tree, dict) or tree.get("schema", _SCHEMA) != _SCHEMA:
        found = shown(tree["schema"]) if isinstance(tree, dict) else shown(tree)
        problem = Problem("document/schema", "/schema", f'an object with "schema": "{_SCHEMA}"', found)
        raise DocumentRefusedError((problem,))
    return ContractDraft(tree=_over(skeleton(), tree), based_on=based_on)


def _over(base: dict[str, Any], tree: dict[str, Any]) -> dict[str, Any]:
    """Return the tree with the objects of ``base`` that it lacks."""
    added = {name: value for name, value in base.items() if name not in tree}
    inner = {
        name: _over(value, tree[name])
        for name, value in base.items()
        if isinstance(value, dict) and isinstance(tree.get(name), dict)
    }
    return {**added, **tree, **inner}


def draft_bytes(draft: ContractDraft) -> bytes:
    """Return the draft as it is stored; the order of its collections is kept."""
    held = {
        "tree": draft.tree,
        "origins": draft.origins,
        "notes": list(draft.notes),
        "based_on": draft.based_on,
        "revises": draft.revises,
    }
    return json.dumps(held, ensure_ascii=True, separators=(",", ":")).encode()


def draft_from(body: bytes) -> ContractDraft:
    """Return the draft of bytes that ``draft_bytes`` made."""
    held = json.loads(body)
    return ContractDraft(
        tree=held["tree"],
        origins=held["origins"],
        notes=tuple(held["notes"]),
        based_on=held["based_on"],
        revises=held.get("revises"),
    )
