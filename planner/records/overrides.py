"""What would be decided under other limits or readings: arithmetic on overrides, nothing stored, nothing measured.

An answer (``topogate.what-if/v1``) is no plan: it says ``injected`` of itself and has no plan id, so nothing that is
signed can be bound to it.
"""

from typing import Any, Literal

from planner.records.base import Id, Record
from planner.records.plan import Bound, DecisionWord, Outcome, State, Value

OverriddenClaim = Literal["INJECTED_OVERRIDES_NOT_A_PLAN_NOT_SIGNABLE"]
OVERRIDDEN_CLAIM: OverriddenClaim = "INJECTED_OVERRIDES_NOT_A_PLAN_NOT_SIGNABLE"


class Override(Record, frozen=True, kw_only=True):
    """One thing that is taken to be otherwise.

    ``kind``: ``set`` (a value of the contract at the pointer ``at``), ``without`` (what stands at ``at`` is left out)
    or ``reading`` (what the limit ``at``, written ``gate.limit``, reads of ``trial``). ``old`` is None where there was
    nothing.
    """

    kind: Literal["set", "without", "reading"]
    at: str
    trial: Id | None = None
    old: Any = None
    new: Any = None


class Turned(Record, frozen=True, kw_only=True):
    """One limit of one gate that answers otherwise for a trial; None where it is not declared on one side."""

    gate: str
    limit_id: str
    before: Outcome | None
    after: Outcome | None
    measured: Value
    limit: Value
    unit: str | None
    sentence: str


class TrialTurned(Record, frozen=True, kw_only=True):
    """A trial's state and place in the order on both sides (1 is the winner), and the limits that turned."""

    topology: str
    before: State
    after: State
    place_before: int | None
    place_after: int | None
    turned: tuple[Turned, ...]


class Overridden(Record, frozen=True, kw_only=True):
    """The decision before and after all overrides together."""

    schema: Literal["topogate.what-if/v1"]
    injected: Literal[True]
    claim: OverriddenClaim
    planner_version: str
    as_of: str
    slot: str
    contract: Bound
    evidence: Bound
    overrides: tuple[Override, ...]
    decision_before: DecisionWord
    decision_after: DecisionWord
    winner_before: Id | None
    winner_after: Id | None
    trials: dict[Id, TrialTurned]
