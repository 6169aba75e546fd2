"""The steps of the form: which parts of a contract stand on which page, in the order in which people know them."""

from dataclasses import dataclass, replace

from msgspec import inspect as mi

from planner.contract_builder.shapes import described
from planner.pointers import is_below
from planner.records.contract import Contract, Identity

__all__ = ["REVIEW", "STEPS", "Step", "step_at", "step_named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One page of the form; ``pointers`` are the parts that it shows, ``label`` is its name in one word."""

    id: str
    label: str
    title: str
    purpose: str
    pointers: tuple[str, ...]


_CLAIMED = (
    Step(
        id="service",
        label="Slot",
        title="Slot and owner",
        purpose="Which serving slot the decision is for, and who answers for the contract.",
        pointers=("/slot", "/owner", "/illustrative"),
    ),
    Step(
        id="model",
        label="Model",
        title="Model",
        purpose="The model's shape decides what can be split at all; revision and precision bind what was measured.",
        pointers=("/identity/model", "/identity/precision"),
    ),
    Step(
        id="workload",
        label="Workload",
        title="Workload",
        purpose="The requests that every candidate has to serve, and the loads at which limits are read.",
        pointers=("/identity/workload",),
    ),
    Step(
        id="stack",
        label="Stack",
        title="Engine and stack",
        purpose="Software that must be the same when the decision is used. What is left out is not bound.",
        pointers=("/identity/stack", "/identity/telemetry"),
    ),
    Step(
        id="hardware",
        label="Hardware",
        title="Hardware and fleet",
        purpose="Nodes, devices and what joins them; prices, spares and failure domains beside them.",
        pointers=("/identity/hardware", "/fleet"),
    ),
    Step(
        id="needs",
        label="Needs",
        title="Needs and reserves",
        purpose="What forces distribution, what stays free and for what, and what happens when a rank is lost.",
        pointers=("/needs", "/headroom", "/recovery"),
    ),
    Step(
        id="limits",
        label="Limits",
        title="Limits",
        purpose="A gate without a limit holds nothing. No limit has a default: each has a value and a reason of yours.",
        pointers=("/gates",),
    ),
    Step(
        id="evidence",
        label="Evidence",
        title="Evidence",
        purpose="What has to be measured before anything passes, and what is only welcome.",
        pointers=("/evidence_required", "/steady_state"),
    ),
    Step(
        id="selection",
        label="Selection",
        title="Selection",
        purpose="Which eligible candidate wins, what must be equal, how long it holds, and how hard it is stressed.",
        pointers=("/selection", "/comparison", "/validity", "/stress"),
    ),
)

REVIEW = Step(
    id="review",
    label="Review",
    title="Review",
    purpose="The document as it would be stored, what it leaves open, and where to go from here.",
    pointers=(),
)


def _unclaimed() -> tuple[str, ...]:
    """Return the parts of the records that no step names, so that a new one is on a page all the same."""
    claimed = {pointer for step in _CLAIMED for pointer in step.pointers}
    parts = [*_members(described(Contract), ""), *_members(described(Identity), "/identity")]
    return tuple(pointer for pointer in parts if pointer not in {*claimed, "/schema", "/identity"})


def _members(kind: mi.StructType, at: str) -> tuple[str, ...]:
    return tuple(f"{at}/{field.encode_name}" for field in kind.fields)


def _with_rest() -> tuple[Step, ...]:
    *first, last = _CLAIMED
    rest = replace(last, pointers=(*last.pointers, *_unclaimed()))
    return (*first, rest, REVIEW)


STEPS: tuple[Step, ...] = _with_rest()


def step_named(name: str) -> Step | None:
    """Return the step of an id."""
    return next((step for step in STEPS if step.id == name), None)


def step_at(pointer: str) -> Step:
    """Return the step that shows what stands at a pointer; what no step shows is for the review."""
    for step in STEPS:
        if is_below(pointer, *step.pointers):
            return step
    return REVIEW
