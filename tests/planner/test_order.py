"""Expanding the selection order of a contract."""

from typing import Any

import msgspec
import pytest

from planner.order import Order, order_expand
from planner.records.contract import Contract
from planner.records.plan import OrderKey

BECAUSE = {"because": "A reason."}
RATE = "output_tokens_per_s_per_charged_device"
TIE_BREAKS = (OrderKey(key="topology", direction="asc"), OrderKey(key="trial_content_id", direction="asc"))


def a_contract(
    selection: dict[str, Any], ttft: dict[str, Any] | None = None, load_points: tuple[str, ...] = ("saturated",)
) -> Contract:
    limits = {"ttft": ttft} if ttft else {"throughput": {"floor": {**BECAUSE, "min_output_tokens_per_s": 1}}}
    return msgspec.convert(
        {
            "schema": "topogate.contract/v1",
            "slot": "demo/order",
            "owner": "capacity",
            "identity": {
                "model": {
                    "name": "m",
                    "revision": "r",
                    "architecture": "dense",
                    "layers": 2,
                    "attention_heads": 2,
                    "kv_heads": 1,
                },
                "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"},
                "workload": {"name": "w", "load_points": {name: {"arrival": "closed"} for name in load_points}},
                "stack": {"engine": {"name": "e", "version": "1"}},
                "hardware": {"nodes": {"n": {}}, "devices": {"d": {"node": "n", "type": "t", "memory_bytes": 1}}},
            },
            "gates": limits,
            "selection": selection,
        },
        Contract,
    )


def a_ttft(load_point: str, statistic: str) -> dict[str, Any]:
    return {**BECAUSE, "load_point": load_point, "statistic": statistic, "max_ms": 500}


def measured(
    key: str, direction: str = "desc", load_point: str = "saturated", statistic: str | None = None
) -> OrderKey:
    return msgspec.convert(
        {"key": key, "direction": direction, "load_point": load_point, "statistic": statistic}, OrderKey
    )


def test_highest_throughput_is_written_out_in_its_order() -> None:
    ttft = {"tail": a_ttft("saturated", "p95")}
    assert order_expand(a_contract({"preset": "highest_throughput"}, ttft)) == Order(
        keys=(
            measured(RATE),
            OrderKey(key="serving_group_ranks", direction="asc"),
            measured("ttft", "asc", statistic="p95"),
            OrderKey(key="charged_devices", direction="asc"),
            *TIE_BREAKS,
        ),
        notes=(),
        load_point="saturated",
        copies=False,
    )


def test_smallest_first_is_written_out_in_its_order() -> None:
    ttft = {"tail": a_ttft("saturated", "p95")}
    assert order_expand(a_contract({"preset": "smallest_first"}, ttft)).keys == (
        OrderKey(key="serving_group_ranks", direction="asc"),
        OrderKey(key="charged_devices", direction="asc"),
        measured(RATE),
        measured("ttft", "asc", statistic="p95"),
        *TIE_BREAKS,
    )


def test_ttft_takes_the_statistic_of_the_lowest_limit_id_at_saturated() -> None:
    ttft = {"b": a_ttft("saturated", "p99"), "a": a_ttft("saturated", "mean"), "0": a_ttft("single", "p50")}
    order = order_expand(a_contract({"preset": "highest_throughput"}, ttft, ("saturated", "single")))
    assert [key.statistic for key in order.keys if key.key == "ttft"] == ["mean"]


@pytest.mark.parametrize(
    "ttft",
    [pytest.param(None, id="no ttft gate"), pytest.param({"a": a_ttft("single", "p50")}, id="another load point only")],
)
def test_without_a_ttft_limit_at_saturated_the_key_is_left_out_and_said(ttft: dict[str, Any] | None) -> None:
    order = order_expand(a_contract({"preset": "highest_throughput"}, ttft, ("saturated", "single")))
    assert "ttft" not in [key.key for key in order.keys]
    assert order.notes == (
        "Key ttft is left out: the contract has no ttft limit at saturated, so no statistic is named.",
    )


def test_explicit_keys_keep_their_order_and_end_in_the_tie_breaks() -> None:
    keys = [{"key": "usd_per_million_output_tokens"}, {"key": "output_tokens_per_s"}]
    assert order_expand(a_contract({"keys": keys})).keys == (
        measured("usd_per_million_output_tokens", "asc"),
        measured("output_tokens_per_s", "desc"),
        *TIE_BREAKS,
    )


def test_a_tie_break_that_the_contract_names_itself_is_not_added_again() -> None:
    order = order_expand(a_contract({"keys": [{"key": "topology", "direction": "desc"}]}))
    assert order.keys == (OrderKey(key="topology", direction="desc"), TIE_BREAKS[1])


def test_a_direction_in_the_contract_wins_over_the_usual_one() -> None:
    keys = [{"key": "output_tokens_per_s", "direction": "asc"}]
    assert order_expand(a_contract({"keys": keys})).keys[0] == measured("output_tokens_per_s", "asc")


@pytest.mark.parametrize(
    ("own", "declared", "used"),
    [
        pytest.param({"load_point": "c8"}, ("c8", "saturated"), "c8", id="its own"),
        pytest.param({}, ("c8", "saturated"), "saturated", id="saturated"),
        pytest.param({}, ("c8",), "c8", id="the only one"),
        pytest.param({}, ("c4", "c8"), "saturated", id="several without saturated: no trial will have it"),
    ],
)
def test_a_measured_key_is_read_at(own: dict[str, str], declared: tuple[str, ...], used: str) -> None:
    order = order_expand(a_contract({"keys": [{"key": "output_tokens_per_s", **own}]}, load_points=declared))
    assert order.keys[0].load_point == used


@pytest.mark.parametrize(
    ("keys", "declared", "main"),
    [
        pytest.param([{"key": "output_tokens_per_s", "load_point": "c8"}], ("c8", "saturated"), "saturated", id="both"),
        pytest.param([{"key": "output_tokens_per_s", "load_point": "c8"}], ("c4", "c8"), "c8", id="the key's"),
        pytest.param([{"key": "charged_devices"}], ("c8", "c4"), "c4", id="first by name"),
    ],
)
def test_text_and_frontier_read_one_load_point(
    keys: list[dict[str, str]], declared: tuple[str, ...], main: str
) -> None:
    assert order_expand(a_contract({"keys": keys}, load_points=declared)).load_point == main


def test_copies_are_allowed_only_by_the_contract() -> None:
    selection = {"keys": [{"key": "charged_devices"}], "scale": "independent_replicas"}
    assert order_expand(a_contract(selection)).copies is True


def test_a_key_at_two_load_points_is_two_keys() -> None:
    keys = [{"key": RATE, "load_point": "single"}, {"key": RATE, "load_point": "saturated"}, {"key": "charged_devices"}]
    order = order_expand(a_contract({"keys": keys}, load_points=("single", "saturated")))
    assert [key.label for key in order.keys[:3]] == [f"{RATE}@single", f"{RATE}@saturated", "charged_devices"]
