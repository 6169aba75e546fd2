"""Limits of a contract: typed by the gates, and what each needs of the rest."""

from typing import Any

import pytest

from planner.intake import read_contract
from planner.intake.limit_rules import LIMIT_RECORDS
from tests.planner.documents import ABSENT, Change, changed, example, findings

BECAUSE = "A reason."
SHARE = {"domain": "node", "horizon": "immediate", "max_capacity_share_lost": 0.5, "because": BECAUSE}
PRICE = {"load_point": "saturated", "max_usd_per_million_output_tokens": 18, "because": BECAUSE}
ONE_OF_FOUR = "exactly one of max_groups_lost, max_ranks_lost, max_capacity_share_lost, min_capacity_left_of_required"


def limit_findings(*changes: Change) -> list[tuple[str, str, str, str]]:
    return findings(read_contract, changed(example("worked", "contract"), *changes))


def without(limit: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in limit.items() if key != name}


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        pytest.param(
            [("/gates/througput", {"floor": {"because": BECAUSE}})],
            (
                "document/unknown_gate",
                "/gates/througput",
                "a gate that takes limits, such as throughput",
                '"througput"',
            ),
            id="gate that does not exist",
        ),
        pytest.param(
            [("/gates/rank_count", {"x": {"because": BECAUSE}})],
            ("document/unknown_gate", "/gates/rank_count", "a gate that takes limits", '"rank_count"'),
            id="gate that is always on and takes none",
        ),
        pytest.param(
            [("/gates/ttft", {})],
            ("document/length", "/gates/ttft", "an object with at least one entry", "an empty object"),
            id="gate without a limit",
        ),
        pytest.param(
            [("/gates/ttft/saturated_p95/because", ABSENT)],
            ("document/missing_field", "/gates/ttft/saturated_p95/because", "text of 1 to 4,096 characters", "nothing"),
            id="limit without a reason",
        ),
        pytest.param(
            [("/gates/ttft/saturated_p95/max_msec", 1)],
            (
                "document/unknown_field",
                "/gates/ttft/saturated_p95/max_msec",
                "a known field, such as max_ms",
                '"max_msec"',
            ),
            id="field that the limit does not have",
        ),
        pytest.param(
            [("/gates/ttft/saturated_p95/max_ms", "500")],
            ("document/type", "/gates/ttft/saturated_p95/max_ms", "a number of at least 0", '"500" (text)'),
            id="number in text",
        ),
        pytest.param(
            [("/gates/ttft/saturated_p95/load_point", "peak")],
            (
                "document/unknown_reference",
                "/gates/ttft/saturated_p95/load_point",
                "a load point of this contract",
                '"peak"',
            ),
            id="load point that is not there",
        ),
        pytest.param(
            [("/gates/link_utilization/inter_node/link_class", "inter-node")],
            (
                "document/unknown_reference",
                "/gates/link_utilization/inter_node/link_class",
                "the class of a link",
                '"inter-node"',
            ),
            id="class that no link has",
        ),
        pytest.param(
            [("/identity/hardware/links", ABSENT)],
            (
                "document/missing_field",
                "/identity/hardware/links",
                "links, because link_utilization limits a class of them",
                "nothing",
            ),
            id="link limit without links",
        ),
        pytest.param(
            [("/identity/hardware/islands", ABSENT)],
            (
                "document/missing_field",
                "/identity/hardware/islands",
                "islands, because tensor_locality asks for inside_island",
                "nothing",
            ),
            id="inside_island without islands",
        ),
        pytest.param(
            [("/identity/workload/context_tokens", ABSENT)],
            (
                "document/missing_field",
                "/identity/workload/context_tokens",
                "a token count, because memory_headroom is declared",
                "nothing",
            ),
            id="memory limit without a context",
        ),
        pytest.param(
            [("/headroom/memory", ABSENT)],
            (
                "document/missing_field",
                "/headroom/memory",
                "a reserve, because a memory_headroom limit has no max_used_bytes",
                "nothing",
            ),
            id="memory limit without reserve or ceiling",
        ),
        pytest.param(
            [("/gates/failure_domain", {"racks": {**SHARE, "domain": "zone"}})],
            (
                "document/unknown_reference",
                "/gates/failure_domain/racks/domain",
                "node, device, island, socket, pcie_switch, or a kind under /fleet/failure_domains",
                '"zone"',
            ),
            id="failure domain that is not described",
        ),
        pytest.param(
            [("/gates/failure_domain", {"nodes": {**SHARE, "max_ranks_lost": 8}})],
            (
                "document/exclusive_fields",
                "/gates/failure_domain/nodes",
                ONE_OF_FOUR,
                "max_ranks_lost and max_capacity_share_lost",
            ),
            id="two limits in one",
        ),
        pytest.param(
            [("/gates/failure_domain", {"nodes": without(SHARE, "max_capacity_share_lost")})],
            ("document/exclusive_fields", "/gates/failure_domain/nodes", ONE_OF_FOUR, "none of them"),
            id="limit that limits nothing",
        ),
        pytest.param(
            [
                (
                    "/gates/failure_domain",
                    {"left": {**without(SHARE, "max_capacity_share_lost"), "min_capacity_left_of_required": 1}},
                ),
                ("/needs", {}),
            ],
            (
                "document/missing_field",
                "/needs/capacity",
                "the required load, because min_capacity_left_of_required is declared",
                "nothing",
            ),
            id="capacity left of a load that is not stated",
        ),
        pytest.param(
            [("/gates/cost", {"per_token": PRICE}), ("/fleet", {})],
            (
                "document/missing_field",
                "/fleet/usd_per_device_hour/accel-80g",
                "a price, because cost is declared",
                "nothing",
            ),
            id="cost without a price",
        ),
    ],
)
def test_refuses_a_limit(changes: list[Change], finding: tuple[str, str, str, str]) -> None:
    assert limit_findings(*changes) == [finding]


def test_a_memory_limit_with_its_own_ceiling_needs_no_reserve() -> None:
    change = ("/gates/memory_headroom/worst_rank/max_used_bytes", 60 * 2**30)
    assert limit_findings(change, ("/headroom/memory", ABSENT)) == []


def test_islands_may_be_declared_as_none_and_are_then_the_gates_matter() -> None:
    assert limit_findings(("/identity/hardware/islands", {})) == []


def test_a_default_load_point_has_to_exist() -> None:
    tree = changed(
        example("minimal", "contract"),
        ("/identity/workload/load_points", {"peak": {"arrival": "closed", "concurrent_requests": 16}}),
        ("/gates/throughput/floor/load_point", "peak"),
        ("/gates/failure_domain", {"nodes": SHARE}),
        ("/selection", {"keys": [{"key": "charged_devices"}]}),
    )
    expected = "a load point of this contract, because none is named saturated"
    assert findings(read_contract, tree) == [
        ("document/missing_field", "/gates/failure_domain/nodes/load_point", expected, "nothing")
    ]


def test_a_contract_without_a_limit_is_refused() -> None:
    assert limit_findings(("/gates", {})) == [
        ("document/length", "/gates", "an object with at least one entry", "an empty object")
    ]


@pytest.mark.parametrize("gate", sorted(LIMIT_RECORDS))
def test_every_limit_asks_for_a_reason(gate: str) -> None:
    found = limit_findings((f"/gates/{gate}", {"x": {}}))
    assert ("document/missing_field", f"/gates/{gate}/x/because") in [finding[:2] for finding in found]
