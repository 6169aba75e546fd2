"""Doubles of a record are found wherever its type has room for one."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from planner.records.base import Record
from planner.records.doubles import doubles_in
from planner.records.plan import Plan
from tests.planner.fleet import a_contract, a_price, a_trial, planned


class Part(Record, frozen=True, kw_only=True):
    name: str = ""
    value: int | float | str | None = None


class Whole(Record, frozen=True, kw_only=True):
    alone: float = 0.5
    maybe: Part | None = None
    left_out: Part | UnsetType = UNSET
    by_name: dict[str, Part] = {}
    several: tuple[Part, ...] = ()
    rows: tuple[tuple[float, ...], ...] = ()
    counts: tuple[int, ...] = (1, 2)


class Nothing(Record, frozen=True, kw_only=True):
    name: str = "1.5"


class Strange(Record, frozen=True, kw_only=True):
    pair: tuple[int, float] = (1, 2.5)


@pytest.mark.parametrize(
    ("record", "found"),
    [
        pytest.param(Whole(), [0.5], id="a field"),
        pytest.param(Whole(maybe=Part(value=1.5)), [0.5, 1.5], id="a record that may be none"),
        pytest.param(Whole(left_out=Part(value=1.5)), [0.5, 1.5], id="a record that may be left out"),
        pytest.param(Whole(by_name={"a": Part(value=1.5), "b": Part(value=2)}), [0.5, 1.5], id="values of a mapping"),
        pytest.param(Whole(several=(Part(value="1.5"), Part(value=2.5))), [0.5, 2.5], id="items of a tuple"),
        pytest.param(Whole(rows=((1.5, 2.5), (), (3.5,))), [0.5, 1.5, 2.5, 3.5], id="tuples in a tuple"),
        pytest.param(Nothing(), [], id="no room for one"),
    ],
)
def test_every_double_is_found(record: Record, found: list[float]) -> None:
    assert doubles_in(type(record))(record) == found


class OneOrMany(Record, frozen=True, kw_only=True):
    value: float | tuple[float, ...] = 0.5


class NamedOrMany(Record, frozen=True, kw_only=True):
    value: str | tuple[float, ...] | None = None


@pytest.mark.parametrize(
    ("record", "message"),
    [
        pytest.param(Strange, "doubles of TupleType are not known", id="a pair"),
        pytest.param(OneOrMany, "a choice between", id="one or many"),
        pytest.param(NamedOrMany, "a choice between", id="text or many"),
    ],
)
def test_a_type_that_is_not_known_is_an_error(record: type, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        doubles_in(record)


def test_those_of_a_plan_are_all_that_its_json_has() -> None:
    plan = planned(a_contract(gates=a_price(9.75)), {"a": a_trial(6400.5, tp=8), "b": a_trial(11200.25, tp=2, dp=8)})
    found = doubles_in(Plan)(plan)
    assert found
    assert sorted(found) == sorted(_floats(msgspec.json.decode(msgspec.json.encode(plan))))


def _floats(value: Any) -> list[float]:
    if isinstance(value, dict | list):
        return [one for item in (value.values() if isinstance(value, dict) else value) for one in _floats(item)]
    return [value] if isinstance(value, float) else []
