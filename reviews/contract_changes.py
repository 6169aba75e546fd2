"""What a program does to a draft of a contract, as data. A list of changes is applied whole or not at all.

``do`` names a change. Values are kept as they are sent: what does not fit is named by the draft's problems, as on the
pages, and nothing is lost on the way.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from planner.contract_builder.draft import ContractDraft
from planner.contract_builder.edits import UnknownFieldError, removed, value_set
from planner.contract_builder.evidence_sets import SETS, with_set
from planner.contract_builder.taking import UnknownModelError, with_known_model
from planner.errors import Problem
from reviews.draft_changes import MOST_CHANGES, At, Name, sent_as
from reviews.errors import Finding, InvalidRequestError, printable

__all__ = ["Change", "apply", "changes_from"]


class _Change(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    """What all changes share. Each has ``to``: the draft after it."""


class SetField(_Change, frozen=True, kw_only=True, tag="set"):
    """Set what stands at a pointer; null takes it out."""

    at: At
    value: Any

    def to(self, draft: ContractDraft) -> ContractDraft:
        return draft.with_tree(value_set(draft.tree, self.at, self.value))


class RemoveField(_Change, frozen=True, kw_only=True, tag="remove"):
    """Take out what stands at a pointer."""

    at: At

    def to(self, draft: ContractDraft) -> ContractDraft:
        return draft.with_tree(removed(draft.tree, self.at))


class TakeModel(_Change, frozen=True, kw_only=True, tag="known_model"):
    """Take the shape of a published model by its name."""

    model: Name

    def to(self, draft: ContractDraft) -> ContractDraft:
        return with_known_model(draft, self.model)


class AddSet(_Change, frozen=True, kw_only=True, tag="evidence_set"):
    """Add what a set of required evidence holds: core, fabric, resilience."""

    set: Name

    def to(self, draft: ContractDraft) -> ContractDraft:
        chosen = next((one for one in SETS if one.id == self.set), None)
        if chosen is None:
            raise UnknownFieldError(self.set)
        return draft.with_tree(with_set(draft.tree, chosen))


Change = SetField | RemoveField | TakeModel | AddSet


class _Sent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    changes: Annotated[tuple[Change, ...], Meta(min_length=1, max_length=MOST_CHANGES)]


def changes_from(raw: bytes) -> tuple[Change, ...]:
    """Read changes as the API takes them: ``{"changes": [{"do": ..., ...}, ...]}``.

    Raises:
        InvalidRequestError: it is not JSON, or no list of known changes.
    """
    return sent_as(raw, _Sent).changes


def apply(draft: ContractDraft, changes: Sequence[Change]) -> ContractDraft:
    """Return the draft after all changes.

    Raises:
        InvalidRequestError: one of them names no field, model or set; pointers begin with its place in the list.
    """
    for number, change in enumerate(changes):
        try:
            draft = change.to(draft)
        except UnknownFieldError as unknown:
            raise _refused(number, "a field of a contract, or a set", unknown.pointer) from unknown
        except UnknownModelError as unknown:
            raise _refused(number, "a known model", str(unknown)) from unknown
    return draft


def _refused(number: int, expected: str, found: str) -> InvalidRequestError:
    problem = Problem("request/change", f"/changes/{number}", expected, printable(found, 80) or "nothing")
    return InvalidRequestError((Finding.of(problem, "request"),))
