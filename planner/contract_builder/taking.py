"""What a contract that is being written takes over at once: a known model, files of a model, hardware from files.

Rules kept: another model takes the shape of the one before away, or two models' figures would be mixed; what was taken
names where it was read; hardware is added to what is there.
"""

from collections.abc import Sequence

from planner.contract_builder.draft import ContractDraft
from planner.contract_builder.edits import merged, removed
from planner.contract_builder.hardware import Seen, hardware_read
from planner.contract_builder.known_models import KNOWN_MODELS
from planner.contract_builder.model_files import model_read
from planner.errors import PlannerError
from planner.intake.parts import object_at
from planner.pointers import child

__all__ = ["UnknownModelError", "with_hardware", "with_hardware_files", "with_known_model", "with_model_files"]

_OF_EVERY_MODEL = frozenset({"revision", "tokenizer_revision", "adapters", "name"})
"""Members of the model that say nothing of its shape."""


class UnknownModelError(PlannerError):
    """No model of this name is known."""


def with_known_model(draft: ContractDraft, name: str) -> ContractDraft:
    """Take the shape of a published model.

    Raises:
        UnknownModelError: there is none of this name.
    """
    known = next((model for model in KNOWN_MODELS if model.name == name), None)
    if known is None:
        raise UnknownModelError(name)
    origins = {f"/identity/model/{member}": known.source for member in ("name", *known.model)}
    origins |= {f"/identity/precision/{member}": known.source for member in known.precision}
    return draft.with_tree(merged(_without_shape(draft), known.fragment), origins, known.notes)


def with_model_files(draft: ContractDraft, files: Sequence[tuple[str, bytes]]) -> ContractDraft:
    """Take the shape that a ``config.json`` and what lies beside it state.

    Raises:
        ConfigRefusedError: see ``model_read``.
    """
    seen = model_read(files)
    return draft.with_tree(merged(_without_shape(draft), seen.fragment), seen.origins, seen.notes)


def with_hardware_files(
    draft: ContractDraft, files: Sequence[tuple[str, bytes]], *, names: Sequence[str] = (), copies: int = 1
) -> ContractDraft:
    """Add the nodes that files of tools show.

    Raises:
        HardwareRefusedError: see ``hardware_read``.
    """
    return with_hardware(draft, hardware_read(draft.tree, files, names=names, copies=copies))


def with_hardware(draft: ContractDraft, seen: Seen) -> ContractDraft:
    """Add nodes."""
    return draft.with_tree(merged(draft.tree, seen.fragment), seen.origins, seen.notes)


def _without_shape(draft: ContractDraft) -> dict[str, object]:
    tree = draft.tree
    for name in object_at(tree, "identity", "model"):
        tree = tree if name in _OF_EVERY_MODEL else removed(tree, child("/identity/model", name))
    return removed(removed(tree, "/identity/precision/weights"), "/identity/precision/quantisation_block")
