"""Scrapes as segments: what grew, where it belongs, and what is left out because nobody said what it is of."""

from io import BytesIO
from typing import Any

import msgspec

from planner.importers import Source
from planner.observations.prometheus import Converted, Places, segments_of
from tests.planner.importers.exporter_samples import dcgm, device, node, queued, vllm

PLACES = Places(
    groups={"0": 0, "1": 1},
    ranks={"0": 4, "secret.host.example/1": 5},
    links={"mlx5_0-1": "a-up"},
    seconds=10,
)


def converted(*scrapes: str, places: Places = PLACES) -> Converted:
    return segments_of(Source("scrape.txt", BytesIO("".join(scrapes).encode())), places)


def metrics(found: Converted) -> dict[str, Any]:
    return {
        f"{name}{value}": segment["metrics"]
        for segment in msgspec.to_builtins(found.segments)
        for name, value in segment.items()
        if name != "metrics"
    }


def test_two_scrapes_of_vllm_are_what_grew_and_every_gauge() -> None:
    found = converted(vllm(), vllm(50, usage=0.75, scale=3))
    assert found.notes == ()
    group = metrics(found)["group0"]
    assert group["kv_used_share"] == {"count": 2, "sum": 1, "min": 0.25, "max": 0.75}
    assert (group["output_tokens"], group["requests_completed"]) == ({"count": 1, "sum": 1000}, {"count": 1, "sum": 20})
    assert group["requests_failed"] == {"count": 1, "sum": 0}
    assert group["ttft_ms"] == {
        "count": 80,
        "sum": 12_000,
        "histogram": {"edges": (100, 250, 500), "counts": (40, 36, 2, 2)},
    }


def test_queues_are_histograms_too_and_engines_are_groups() -> None:
    text = [f"{vllm(engine='1', scale=scale)}{queued(scale)}" for scale in (1, 2)]
    found = metrics(converted(*text))
    assert found["group1"]["ttft_ms"]["count"] == 40
    assert found["group0"]["queue_ms"]["histogram"] == {"edges": (300, 500), "counts": (5, 5, 0)}


def test_one_scrape_has_gauges_alone() -> None:
    found = converted(vllm())
    assert found.notes == ("one scrape: counters and histograms need two",)
    assert set(metrics(found)["group0"]) == {"kv_used_share", "running_requests", "waiting_requests"}


def sglang(scale: int) -> str:
    labels = 'model_name="m",tp_rank="0",dp_rank="1"'
    name = "sglang:time_to_first_token_seconds"
    return "".join(
        f"{line}\n"
        for line in (
            f"sglang:token_usage{{{labels}}} 0.5",
            f"sglang:num_queue_reqs{{{labels}}} {scale}",
            f"sglang:generation_tokens_total{{{labels}}} {100 * scale}",
            f'{name}_bucket{{{labels},le="0.1"}} {2 * scale}',
            f'{name}_bucket{{{labels},le="+Inf"}} {3 * scale}',
            f"{name}_count{{{labels}}} {3 * scale}",
            f"{name}_sum{{{labels}}} {0.5 * scale}",
        )
    )


def test_sglang_by_its_data_rank() -> None:
    group = metrics(converted(sglang(1), sglang(3)))["group1"]
    assert group["waiting_requests"] == {"count": 2, "sum": 4, "min": 1, "max": 3}
    assert group["output_tokens"] == {"count": 1, "sum": 200}
    assert group["ttft_ms"] == {"count": 6, "sum": 1000, "histogram": {"edges": (100,), "counts": (4, 2)}}


def test_devices_are_ranks_by_number_or_by_host_and_number() -> None:
    found = metrics(converted(dcgm(1024), dcgm(2048)))
    assert found["rank4"]["device_used_bytes"] == {"count": 2, "sum": 3 * 2**30, "min": 2**30, "max": 2**31}
    assert found["rank5"]["power_watts"]["max"] == 170.5


def test_values_that_are_none_and_slices_are_no_samples() -> None:
    text = device("DCGM_FI_DEV_FB_USED", 0, "9223372036854775794")
    text += device("DCGM_FI_DEV_FB_USED", 0, "5", ',GPU_I_ID="3"')
    assert converted(text).segments == ()


def test_links_are_bytes_and_their_use_over_the_span() -> None:
    link = metrics(converted(node(4e14), node(4e14 + 5e11)))["linka-up"]
    assert link["link_tx_bytes"] == {"count": 1, "sum": 500_000_000_000}
    assert link["link_used_share"] == {"count": 1, "sum": 0.5}


def test_what_is_of_nothing_known_is_told_and_left_out() -> None:
    told = {
        "group": (converted(vllm(), places=Places()), "engine", "0"),
        "rank": (converted(device("DCGM_FI_DEV_FB_USED", 7, "5"), places=Places()), "device", "7"),
        "link": (converted(node(), node(5e14), places=Places()), "port", "mlx5_0-1"),
    }
    for kind, (found, what, name) in told.items():
        assert found.segments == ()
        assert found.notes[0] == f"{what} {name}: which {kind} it is was not said (--{kind} {name}={kind.upper()})"


def test_a_counter_that_ran_backwards_is_told() -> None:
    found = converted(vllm(scale=3), vllm(scale=1))
    assert "vllm:generation_tokens_total ran backwards: it started anew between the scrapes" in found.notes
    assert "output_tokens" not in metrics(found)["group0"]


def test_of_any_number_of_places_that_nobody_said_the_first_are_named_and_all_counted() -> None:
    found = converted("".join(f'vllm:num_requests_running{{engine="e{at}"}} 1\n' for at in range(300)))
    assert (len(found.notes), found.notes[0], found.notes[-1]) == (
        201,
        "engine e0: which group it is was not said (--group e0=GROUP)",
        "and 100 more",
    )
