"""Planning changes nothing that it is given, and what it returns cannot be changed by accident."""

import copy

import msgspec
import pytest

from planner.explanation import plan_explained
from planner.plan import plan_bytes, plan_parallelism
from planner.plan_diff import plan_diff
from planner.text import plan_remarks, plan_text
from tests.planner.corpus import AS_OF, CORPUS, shipped


@pytest.mark.parametrize("name", sorted(CORPUS))
def test_documents_are_deeply_equal_before_and_after_planning(name: str) -> None:
    contract, evidence = CORPUS[name]()
    before = copy.deepcopy((contract, evidence))
    trees = msgspec.json.encode(contract.record), msgspec.json.encode(evidence.record)
    plan_parallelism(contract, evidence, AS_OF)
    assert (contract, evidence) == before
    assert (msgspec.json.encode(contract.record), msgspec.json.encode(evidence.record)) == trees


def test_writing_a_plan_leaves_it_as_it_is() -> None:
    contract, evidence = shipped("worked")
    plan = plan_parallelism(contract, evidence, AS_OF)
    before = copy.deepcopy(plan)
    plan_text(plan, contract.record)
    plan_remarks(plan)
    plan_explained(plan)
    plan_diff(plan, plan)
    plan_bytes(plan)
    assert plan == before


@pytest.mark.parametrize("field", ["decision", "plan_id", "candidates", "selected"])
def test_a_field_of_a_plan_cannot_be_set(field: str) -> None:
    plan = plan_parallelism(*shipped("worked"), AS_OF)
    with pytest.raises(AttributeError):
        setattr(plan, field, None)
