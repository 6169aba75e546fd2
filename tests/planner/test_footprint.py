"""What a placement takes of a fleet: charged devices by type, and their price, never guessed."""

from fractions import Fraction
from typing import Any

import pytest

from planner.footprint import Footprint, footprint
from planner.intake import read_contract
from tests.planner.documents import raw
from tests.planner.fleet import DEVICES, a_contract

PRICED = {"usd_per_device_hour": {"accel": 2.75}}


def found(devices: list[str], **fleet: Any) -> Footprint:
    return footprint(read_contract(raw(a_contract(fleet=fleet))).record, devices)


def test_devices_are_counted_by_type_and_priced_exactly() -> None:
    assert found(DEVICES[:3], **PRICED) == Footprint(
        charge="device", used=3, spares=0, stranded=0, types={"accel": 3}, usd_per_hour=Fraction(33, 4)
    )


def test_a_month_has_730_hours() -> None:
    assert (found(DEVICES[:3], **PRICED).usd_per_month, found(DEVICES[:3]).usd_per_month) == (Fraction(24_090, 4), None)


def test_spares_and_what_a_node_strands_are_charged_too() -> None:
    taken = found(["da0"], charge="node", spare_devices=["da7"], **PRICED)
    assert (taken.used, taken.spares, taken.stranded, taken.devices) == (1, 1, 6, 8)
    assert (taken.charge, taken.types, taken.usd_per_hour) == ("node", {"accel": 8}, Fraction(22))


@pytest.mark.parametrize(
    ("fleet", "said"),
    [
        pytest.param({}, "The contract has no price for device type accel.", id="no prices"),
        pytest.param(
            {"usd_per_device_hour": {"other": 1}}, "The contract has no price for device type accel.", id="no price"
        ),
        pytest.param(
            {"charge": "rack", "failure_domains": {"rack": {"left": ["nb"]}}, **PRICED},
            "Device da0 stands in no rack that the contract declares.",
            id="no rack",
        ),
    ],
)
def test_a_price_that_is_not_declared_is_missing_with_the_reason(fleet: dict[str, Any], said: str) -> None:
    taken = found(["da0"], **fleet)
    assert (taken.usd_per_hour, taken.unpriced) == (None, said)


def test_a_device_that_the_contract_does_not_have_leaves_the_price_unknown() -> None:
    taken = found(["zz"], **PRICED)
    assert (taken.types, taken.usd_per_hour, taken.unpriced) == ({}, None, "The contract has no device zz.")
