"""The hardware of a contract in the model that files are read into."""

from typing import Any

import pytest

from planner.hardware import declared_hardware, fragment, missing
from planner.hardware.model import Rack
from planner.intake import read_contract
from planner.records.base import UnsetType
from planner.records.contract import Fleet
from planner.site import Site
from tests.planner.documents import ABSENT, EXAMPLES, changed, example, raw

AT = "/identity/hardware"


def site(tree: Any) -> Site:
    record = read_contract(raw(tree)).record
    return Site(
        hardware=record.identity.hardware, fleet=Fleet() if isinstance(record.fleet, UnsetType) else record.fleet
    )


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/contract.json")))
def test_the_fragment_of_what_is_declared_is_the_declaration(name: str) -> None:
    tree = example(name, "contract")
    said = fragment(declared_hardware(site(tree)))
    assert said["identity"]["hardware"] == tree["identity"]["hardware"]
    racks = tree.get("fleet", {}).get("failure_domains", {}).get("rack")
    assert said.get("fleet", {}).get("failure_domains", {}).get("rack") == racks


def test_racks_are_the_failure_domains_of_that_kind() -> None:
    assert declared_hardware(site(example("worked", "contract"))).racks == (
        Rack(id="rack-1", nodes=("node-a", "node-b")),
    )


def test_what_is_left_out_is_nothing_said() -> None:
    tree = changed(
        example("worked", "contract"), ("/fleet/failure_domains", {}), (f"{AT}/nodes/node-a/sockets", ABSENT)
    )
    hardware = declared_hardware(site(tree))
    assert hardware.racks is None
    assert {entry.pointer: entry.ids for entry in missing(hardware)} == {
        f"{AT}/nodes/<id>/sockets": ("node-a",),
        "/fleet/failure_domains/rack": ("node-a", "node-b"),
    }


def test_islands_that_are_not_declared_are_not_none_found() -> None:
    tree = example("minimal", "contract")
    tree["identity"]["hardware"].pop("islands", None)
    hardware = declared_hardware(site(tree))
    assert hardware.islands is None
    assert f"{AT}/islands" in {entry.pointer for entry in missing(hardware)}
