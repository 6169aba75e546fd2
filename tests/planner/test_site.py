"""Domains and charged devices."""

import pytest

from planner.records.base import UNSET
from planner.records.contract import Device, Fleet, Hardware, Node
from planner.site import Site, charge

TRAYS = 18
RACKS = {
    "rack": {"left": tuple(f"t{tray:02}" for tray in range(9)), "right": tuple(f"t{tray:02}" for tray in range(9, 18))}
}


def site(**fleet: object) -> Site:
    """Return eighteen trays of four devices in two racks."""
    devices = {
        f"t{tray:02}-{index}": Device(node=f"t{tray:02}", type="accel", memory_bytes=1)
        for tray in range(TRAYS)
        for index in range(4)
    }
    return Site(
        hardware=Hardware(nodes={f"t{tray:02}": Node() for tray in range(TRAYS)}, devices=devices),
        fleet=Fleet(failure_domains=RACKS, **fleet),  # type: ignore[arg-type]  # fields by name, typed at the caller
    )


def trays(*numbers: int) -> frozenset[str]:
    return frozenset(f"t{tray:02}-{index}" for tray in numbers for index in range(4))


def test_fd_7b_two_spare_trays_are_charged_with_sixteen_used() -> None:
    found = charge(site(spare_devices=tuple(sorted(trays(16, 17)))), trays(*range(16)))
    assert (len(found.devices), len(found.used), len(found.spares), len(found.stranded)) == (72, 64, 8, 0)


@pytest.mark.parametrize(
    ("mode", "stranded"),
    [
        pytest.param(UNSET, 0, id="by device unless said otherwise"),
        pytest.param("device", 0, id="by device"),
        pytest.param("node", 3, id="by node"),
        pytest.param("rack", 35, id="by rack"),
    ],
)
def test_what_is_charged_beside_one_used_device_is_stranded(mode: object, stranded: int) -> None:
    assert len(charge(site(charge=mode), frozenset({"t00-0"})).stranded) == stranded


def test_a_spare_takes_its_whole_node_with_it() -> None:
    found = charge(site(charge="node", spare_devices=("t01-0",)), trays(0))
    assert (found.stranded, len(found.devices)) == (trays(1) - {"t01-0"}, 8)


def test_a_kind_of_domain_that_is_not_declared_is_none() -> None:
    assert (site().domains("feed"), site().domains("island")) == (None, None)


def test_racks_hold_the_devices_of_their_nodes() -> None:
    racks = site().domains("rack")
    assert racks is not None
    assert racks["left"] == trays(*range(9))
