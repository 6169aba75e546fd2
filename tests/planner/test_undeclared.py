"""What a contract leaves out, as the plan lists it first."""

from typing import Any

import pytest

from planner.gates import GATES
from planner.needs import HELD_BY, RESOLVED_BY
from planner.records.contract import Needs
from planner.undeclared import undeclared
from tests.planner.factories import BECAUSE, Changes, a_view

ISOLATION = {"nodes_lost_to_survive": 1, "because": BECAUSE}
LOSS = {"domain": "node", "horizon": "immediate", "max_groups_lost": 1, "because": BECAUSE}
RECOVERY = {"injection": "rank_loss", "max_detect_s": 60, "because": BECAUSE}


def needs_without_gate(gates: dict[str, Any], needs: dict[str, Any]) -> list[str]:
    view = a_view(gates, Changes(contract=(("/needs", needs),)))
    return [entry.sentence for entry in undeclared(view.contract, GATES) if entry.kind == "need"]


def test_a_need_that_a_gate_holds_is_not_listed() -> None:
    assert needs_without_gate({"failure_domain": {"limit": LOSS}}, {"isolation": ISOLATION}) == []


def test_a_limit_on_recovery_does_not_say_what_a_loss_takes_down() -> None:
    assert needs_without_gate({"recovery": {"limit": RECOVERY}}, {"isolation": ISOLATION}) == [
        "The need isolation has no gate: declare failure_domain to hold it."
    ]


def test_tenancy_has_no_gate_at_all() -> None:
    assert needs_without_gate({"failure_domain": {"limit": LOSS}}, {"tenancy": {"because": BECAUSE}}) == [
        "The need tenancy has no gate: none exists."
    ]


def test_every_need_of_a_contract_is_known() -> None:
    assert HELD_BY.keys() == set(Needs.__struct_fields__)


@pytest.mark.parametrize("name", RESOLVED_BY)
def test_what_resolves_a_constraint_holds_it_or_bounds_its_length(name: str) -> None:
    gates = {gate.id for gate in GATES}
    assert set(HELD_BY[name]) <= set(RESOLVED_BY[name]) <= gates  # type: ignore[index]
