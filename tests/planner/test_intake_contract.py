"""Reading a contract: what joins its fields, each rule with the whole of what it says."""

from typing import Any

import pytest

from planner.canonical import content_id, file_sha256
from planner.gates import GATES
from planner.intake import read_contract
from tests.planner.documents import ABSENT, Change, changed, contract, example, findings, raw

DEVICES = "/identity/hardware/devices"
POINTS = "/identity/workload/load_points"
BECAUSE = "A reason."


def test_a_contract_is_read_with_both_digests() -> None:
    tree = example("worked", "contract")
    document = read_contract(raw(tree))
    assert document.record.slot == "chat/eu-west"
    assert document.content_id == content_id(tree)
    assert document.file_sha256 == file_sha256(raw(tree))


def test_limits_are_typed_by_their_gates() -> None:
    limits = contract().limits
    records = {gate.id: gate.limit for gate in GATES}
    assert {gate: set(map(type, declared.values())) for gate, declared in limits.items()} == {
        gate: {records[gate]} for gate in example("worked", "contract")["gates"]
    }


def test_order_and_white_space_do_not_change_the_content_id() -> None:
    tree = example("worked", "contract")
    other = read_contract(raw(dict(reversed(tree.items()))).replace(b"\n", b" "))
    assert other.content_id == content_id(tree)
    assert other.file_sha256 != file_sha256(raw(tree))


CASES = [
    pytest.param(
        (f"{DEVICES}/a0/node", "node-c"),
        ("document/unknown_reference", f"{DEVICES}/a0/node", "a node of this contract", '"node-c"'),
        id="device on a node that is not there",
    ),
    pytest.param(
        ("/identity/hardware/nics/a-nic0/node", "node-c"),
        (
            "document/unknown_reference",
            "/identity/hardware/nics/a-nic0/node",
            "a node of this contract",
            '"node-c"',
        ),
        id="NIC on a node that is not there",
    ),
    pytest.param(
        ("/identity/hardware/islands/island-a/devices/1", "a9"),
        (
            "document/unknown_reference",
            "/identity/hardware/islands/island-a/devices/1",
            "a device of this contract",
            '"a9"',
        ),
        id="island of a device that is not there",
    ),
    pytest.param(
        ("/identity/hardware/islands/island-a/devices/1", "a0"),
        ("document/repeated", "/identity/hardware/islands/island-a/devices", "each entry once", '"a0" 2 times'),
        id="island with a device twice",
    ),
    pytest.param(
        ("/identity/hardware/links/a-nic0-up/nic", "c-nic0"),
        ("document/unknown_reference", "/identity/hardware/links/a-nic0-up/nic", "a NIC of this contract", '"c-nic0"'),
        id="link of a NIC that is not there",
    ),
    pytest.param(
        ("/fleet", {"failure_domains": {"rack": {"rack-1": ["node-a", "node-x"]}}}),
        (
            "document/unknown_reference",
            "/fleet/failure_domains/rack/rack-1/1",
            "a node of this contract",
            '"node-x"',
        ),
        id="rack of a node that is not there",
    ),
    pytest.param(
        ("/fleet", {"spare_devices": ["a7", "z"]}),
        ("document/unknown_reference", "/fleet/spare_devices/1", "a device of this contract", '"z"'),
        id="spare that is not there",
    ),
    pytest.param(
        ("/fleet", {"charge": "rack"}),
        ("document/missing_field", "/fleet/failure_domains/rack", "racks, because charge is by rack", "nothing"),
        id="charge by rack without racks",
    ),
    pytest.param(
        (f"{POINTS}/single", {"arrival": "closed"}),
        (
            "document/missing_field",
            f"{POINTS}/single/concurrent_requests",
            "a load, because arrival is closed",
            "nothing",
        ),
        id="closed loop without concurrency",
    ),
    pytest.param(
        (f"{POINTS}/single", {"arrival": "open", "burstiness": 1}),
        ("document/missing_field", f"{POINTS}/single/requests_per_s", "a load, because arrival is open", "nothing"),
        id="open loop without rate",
    ),
    pytest.param(
        (f"{POINTS}/single/requests_per_s", 2.5),
        (
            "document/exclusive_fields",
            f"{POINTS}/single/requests_per_s",
            "no requests_per_s where arrival is closed",
            "2.5",
        ),
        id="closed loop with a rate",
    ),
    pytest.param(
        ("/identity/workload/output_tokens/mean", 200),
        (
            "document/exclusive_fields",
            "/identity/workload/output_tokens",
            "either fixed, or a distribution (mean, p50, p95, max)",
            "both",
        ),
        id="fixed and distributed length",
    ),
    pytest.param(
        ("/identity/workload/output_tokens", {}),
        (
            "document/exclusive_fields",
            "/identity/workload/output_tokens",
            "either fixed, or a distribution (mean, p50, p95, max)",
            "neither",
        ),
        id="length that says nothing",
    ),
    pytest.param(
        ("/identity/model/shared_experts", ABSENT),
        (
            "document/missing_field",
            "/identity/model/shared_experts",
            "an integer, because architecture is moe",
            "nothing",
        ),
        id="experts without all their fields",
    ),
    pytest.param(
        ("/headroom/memory/reserved_bytes", 1),
        (
            "document/exclusive_fields",
            "/headroom/memory",
            "exactly one of reserved_share and reserved_bytes",
            "both",
        ),
        id="reserve as share and bytes",
    ),
    pytest.param(
        ("/headroom/memory", {"because": BECAUSE}),
        (
            "document/exclusive_fields",
            "/headroom/memory",
            "exactly one of reserved_share and reserved_bytes",
            "neither",
        ),
        id="reserve that reserves nothing",
    ),
    pytest.param(
        ("/evidence_required/tails/load_points/1", "peak"),
        (
            "document/unknown_reference",
            "/evidence_required/tails/load_points/1",
            "a load point of this contract",
            '"peak"',
        ),
        id="evidence owed at a load point that is not there",
    ),
    pytest.param(
        ("/selection", {}),
        ("document/exclusive_fields", "/selection", "exactly one of preset and keys", "neither"),
        id="no order",
    ),
    pytest.param(
        ("/selection/keys", [{"key": "charged_devices"}]),
        ("document/exclusive_fields", "/selection", "exactly one of preset and keys", "both"),
        id="preset and keys",
    ),
    pytest.param(
        ("/selection", {"keys": [{"key": "ttft", "load_point": "peak"}]}),
        (
            "document/unknown_reference",
            "/selection/keys/0/load_point",
            "a load point of this contract",
            '"peak"',
        ),
        id="key at a load point that is not there",
    ),
    pytest.param(
        (f"{DEVICES}/ao", {"node": "node-a", "type": "accel-80g", "memory_bytes": 1}),
        ("document/confusable_id", f"{DEVICES}/ao", 'an id that does not look like "a0"', '"ao"'),
        id="device that looks like another",
    ),
]


@pytest.mark.parametrize(("change", "finding"), CASES)
def test_refuses_fields_that_do_not_go_together(change: Change, finding: tuple[str, str, str, str]) -> None:
    assert findings(read_contract, changed(example("worked", "contract"), change)) == [finding]


def test_a_preset_needs_the_load_point_saturated() -> None:
    tree = changed(
        example("minimal", "contract"),
        (POINTS, {"peak": {"arrival": "closed", "concurrent_requests": 16}}),
        ("/gates/throughput/floor/load_point", "peak"),
    )
    expected = "a load point named saturated, which a preset reads"
    assert findings(read_contract, tree) == [("document/unknown_reference", "/selection/preset", expected, '"peak"')]


def test_a_device_may_be_charged_by_rack_where_racks_are_known() -> None:
    fleet: Any = {"charge": "rack", "failure_domains": {"rack": {"rack-1": ["node-a", "node-b"]}}}
    assert findings(read_contract, changed(example("worked", "contract"), ("/fleet", fleet))) == []


def test_problems_of_sound_parts_show_beside_those_of_wrong_ones() -> None:
    tree = changed(
        example("worked", "contract"),
        ("/owner", 7),
        ("/identity/model", "text"),
        (f"{DEVICES}/a0/node", "node-c"),
        ("/selection", {}),
    )
    assert [(code, pointer) for code, pointer, _, _ in findings(read_contract, tree)] == [
        ("document/type", "/owner"),
        ("document/type", "/identity/model"),
        ("document/unknown_reference", f"{DEVICES}/a0/node"),
        ("document/exclusive_fields", "/selection"),
    ]
