"""The table of a gate: what is declared, what is changed in the evidence, and the whole answer expected.

Every ``test_<family>.py`` names its cases ``CASES``; ``test_coverage`` fails when a gate has none of an outcome that
it can give. ``NEVER`` of a test module names outcomes that a gate never gives.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from planner.records.plan import LimitOutcome
from tests.planner.documents import Change
from tests.planner.factories import Changes, limit_outcome


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row: ``sentence`` is the gate's whole sentence, ``also`` further fields of the outcome by name."""

    name: str
    gate: str
    outcome: str
    sentence: str
    limit: Mapping[str, Any] | None = None
    contract: tuple[Change, ...] = ()
    evidence: tuple[Change, ...] = ()
    trial: tuple[Change, ...] = ()
    also: Mapping[str, Any] = field(default_factory=dict)


def parameters(cases: Iterable[Case]) -> list[Any]:
    """Turn cases into pytest parameters whose ids say gate, outcome and name."""
    return [pytest.param(case, id=f"{case.gate} {case.outcome} {case.name}") for case in cases]


def answer(case: Case) -> LimitOutcome:
    """Judge the case's trial by the case's one limit."""
    changes = Changes(contract=case.contract, evidence=case.evidence, trial=case.trial)
    return limit_outcome(case.gate, case.limit, changes)


def check(case: Case) -> None:
    """Compare outcome, sentence and every further field named."""
    found = answer(case)
    expected = {"outcome": case.outcome, "sentence": case.sentence, **case.also}
    assert {name: getattr(found, name) for name in expected} == expected
