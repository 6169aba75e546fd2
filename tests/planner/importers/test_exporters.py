"""Prometheus texts of vLLM, of the DCGM exporter and of the node exporter."""

from io import BytesIO

from planner.importers import Source, import_file
from planner.importers.model import Run
from tests.planner.importers.exporter_samples import dcgm, device, network, node, queued, vllm
from tests.planner.importers.samples import codes, imported, only_run, place, values

MIB = 2**20


def test_one_scrape_of_vllm_counts_since_the_start_and_waits_for_a_person() -> None:
    read = imported(vllm())
    (run,) = read.runs
    assert read.format == "vllm-metrics"
    assert codes(run, "held") == ["import/since_start"]
    assert values(run) == {
        "engine_name": "vllm",
        "model_name": "org/chat",
        "kv_capacity_tokens": 400_448,
        "kv_max_concurrent_requests": 195.5,
        "memory_budget_share": 0.3,
        "prefix_cache": "on",
        "running_requests": 64,
        "waiting_requests": 6,
        "kv_used_share": 0.25,
        "completed": 30,
        "cancelled": 1,
        "failed": 3,
        "preemptions": 2,
        "input_tokens_total": 1000,
        "output_tokens_total": 500,
        "cache_hit_share": 0.25,
        "ttft_ms.n": 40,
        "ttft_ms.mean": 150.0,
        "ttft_ms.p50": 100.0,
        "ttft_ms.p90": 250.0,
        "ttft_ms.p95": 250.0,
        "quantile_method": "histogram_upper",
    }
    assert place(run, "kv_used_share").line == 6


def test_a_percentile_beyond_the_last_bucket_is_missing() -> None:
    assert "ttft_ms.p99" not in values(only_run(vllm()))


def test_two_scrapes_of_vllm_make_a_window() -> None:
    run = only_run(vllm(stamp=" 1786929000000") + vllm(50, usage=0.5, waiting=9, stamp=" 1786929060000", scale=2))
    found = values(run)
    assert run.status == "usable"
    assert (found["completed"], found["failed"], found["preemptions"]) == (20, 0, 0)
    assert found["output_tokens_total"] == 500
    assert (found["started_at"], found["ended_at"]) == ("2026-08-17T01:10:00Z", "2026-08-17T01:11:00Z")
    assert (found["ttft_ms.n"], found["ttft_ms.p95"]) == (40, 250.0)
    assert (found["kv_used_peak_share"], found["queued_requests_max"]) == (0.5, 9)
    assert "kv_used_share" not in found


def test_a_counter_that_ran_backwards_is_no_window() -> None:
    assert codes(only_run(vllm(50) + vllm(30)), "refused") == ["import/counter_reset"]


def test_every_engine_stands_apart() -> None:
    run = only_run(vllm() + vllm(40, engine="1"))
    assert values(run, "engine-0")["completed"] == 30
    assert values(run, "engine-1")["completed"] == 40
    assert values(run, "engine-1")["kv_capacity_tokens"] == 400_448


def test_the_old_names_are_read_and_a_share_above_one_is_in_doubt() -> None:
    run = only_run('vllm:gpu_cache_usage_perc{model_name="m"} 12.5\n')
    assert values(run)["kv_used_share"] == 12.5
    assert codes(run, "held") == ["import/unit"]


def test_blocks_that_make_another_capacity_are_named() -> None:
    run = only_run(vllm().replace('num_gpu_blocks="25028"', 'num_gpu_blocks="100"'))
    assert values(run)["kv_capacity_tokens"] == 400_448
    assert "import/definition" in codes(run)


def test_lines_that_are_no_samples_are_counted() -> None:
    run = only_run(vllm() + 'vllm:odd{a="b 1\nvllm:bad{engine="0"} twelve\n...\n```\n')
    assert "import/line_skipped" in codes(run)


def test_one_scrape_of_dcgm_shows_memory_but_no_peak() -> None:
    read = imported("# TYPE DCGM_FI_DEV_FB_USED gauge\n" + dcgm())
    (run,) = read.runs
    assert (read.format, run.status) == ("dcgm", "usable")
    assert values(run) == {"devices": 2, "nodes": 1, "driver_version": "580.105.05"}
    assert values(run, "gpu-1") == {
        "device_type": "NVIDIA B200",
        "device_used_bytes": 1024 * MIB,
        "device_memory_bytes": 180_500 * MIB,
        "device_busy_share": 0.75,
        "device_power_w": 170.5,
        "link_tx_bytes_per_s": 2_000_000.0,
    }
    assert "device_used_peak_bytes" in run.missing
    assert "secret.host" not in repr(read)


def test_several_scrapes_of_dcgm_are_samples_of_a_peak() -> None:
    run = only_run(dcgm(1024, " 1786929000000") + dcgm(4096, " 1786929010000") + dcgm(2048, " 1786929020000"))
    assert values(run, "gpu-0")["device_used_peak_bytes"] == 4096 * MIB
    assert values(run, "gpu-0")["samples"] == 3
    assert values(run)["sample_interval_s"] == 10.0


def test_a_number_of_dcgm_that_says_no_value_is_missing() -> None:
    for none in ("9223372036854775794", "9223372036854775803"):
        run = only_run(device("DCGM_FI_DEV_FB_USED", 0, none))
        assert "device_used_bytes" not in values(run, "gpu-0")
        assert "import/no_value" in codes(run)


def test_zero_on_links_shows_nothing() -> None:
    for name in ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "DCGM_FI_PROF_NVLINK_TX_BYTES"):
        assert "import/zero_unproven" in codes(only_run(device(name, 0, "0")))


def test_instances_of_a_split_device_stand_apart() -> None:
    run = only_run("".join(device("DCGM_FI_DEV_FB_USED", 0, "7", f',GPU_I_ID="{number}"') for number in (7, 8)))
    assert values(run)["devices"] == 1
    assert values(run, "gpu-0-mig-8")["device_used_bytes"] == 7 * MIB
    assert "import/mig" in codes(run)


def test_the_same_device_number_on_two_hosts_is_two_devices() -> None:
    other = device("DCGM_FI_DEV_FB_USED", 0, "9", host="hostname").replace("secret", "other")
    run = only_run(device("DCGM_FI_DEV_FB_USED", 0, "7") + other)
    assert (values(run)["devices"], values(run)["nodes"]) == (2, 2)
    assert values(run, "node-1-gpu-0")["device_used_bytes"] == 9 * MIB


def test_a_device_error_holds_the_run() -> None:
    run = only_run(device("DCGM_FI_DEV_XID_ERRORS", 3, "79"))
    assert values(run, "gpu-3")["device_error_code"] == 79
    assert codes(run, "held") == ["import/device_error"]


def test_one_scrape_of_a_node_shows_rates_but_no_window() -> None:
    read = imported(node())
    (run,) = read.runs
    assert (read.format, run.status) == ("node-exporter", "usable")
    assert values(run, "mlx5_0-1") == {
        "link_rate_bytes_per_s": 1e11,
        "link_tx_bytes_counter": 400_000_000_000_000,
        "link_rx_bytes_counter": 300_000_000_000_000,
    }
    assert run.missing == ("link_tx_bytes_total", "link_rx_bytes_total")


def test_two_scrapes_of_a_node_give_the_bytes_between() -> None:
    run = only_run(node(4e14, stamp=" 1786929000000") + node(4.5e14, stamp=" 1786929100000"))
    assert values(run, "mlx5_0-1")["link_tx_bytes_total"] == 50_000_000_000_000
    assert values(run)["ended_at"] == "2026-08-17T01:11:40Z"
    assert codes(only_run(node(4e14) + node(3e14)), "refused") == ["import/counter_reset"]


def test_a_port_that_is_not_active_holds_the_run() -> None:
    assert codes(only_run(node(state=1)), "held") == ["import/device_error"]


def test_counters_of_errors_are_named() -> None:
    text = node().replace('symbol_error_total{device="mlx5_0",port="1"} 0', 'symbol_error_total{device="mlx5_0"} 4')
    assert codes(only_run(text)) == ["import/device_error", "import/since_start"]


def test_a_node_exporter_without_infiniband_is_refused_with_its_reason() -> None:
    run = only_run('node_cpu_seconds_total{cpu="0",mode="idle"} 12.5\n')
    assert codes(run, "refused") == ["import/no_counters"]


def test_the_time_in_the_queue_is_read() -> None:
    found = values(only_run(vllm() + queued(1)))
    assert (found["queue_ms.n"], found["queue_ms.mean"]) == (10, 250.0)
    assert (found["queue_ms.p50"], found["queue_ms.p95"]) == (300.0, 500.0)


def test_openmetrics_with_seconds_exemplars_and_windows_line_ends_is_read() -> None:
    first = vllm(stamp=" 1786929000.000") + "# EOF\n"
    second = vllm(50, scale=2, stamp=' 1786929060.000 # {trace_id="4bf92f"} 0.05 1786929059.9') + "# EOF\n"
    read = imported((first + second).replace("\n", "\r\n"))
    (run,) = read.runs
    assert (values(run)["completed"], values(run)["ended_at"]) == (20, "2026-08-17T01:11:00Z")
    assert "4bf92f" not in repr(read)


def scrape(text: str, before: str | None = None) -> Run:
    earlier = Source("before.prom", BytesIO(before.encode())) if before is not None else None
    (run,) = import_file(Source("after.prom", BytesIO(text.encode()), before=earlier)).runs
    return run


def test_an_earlier_scrape_in_another_file_makes_a_window() -> None:
    run = scrape(vllm(50, scale=2), vllm())
    assert (run.status, values(run)["completed"], values(run)["output_tokens_total"]) == ("usable", 20, 500)
    assert "import/window" in codes(run)
    assert place(run, "completed").line == 13


def test_an_earlier_scrape_of_another_server_is_left_alone() -> None:
    run = scrape(vllm(50), vllm(engine="7"))
    assert (codes(run, "held"), values(run)["completed"]) == (["import/since_start"], 50)


def test_scrapes_in_the_wrong_order_are_no_window() -> None:
    assert codes(scrape(vllm(), vllm(50, scale=2)), "refused") == ["import/counter_reset"]


def test_network_devices_with_a_rate_are_links() -> None:
    others = network("lo", 5, 0) + network("veth1a2b", 7) + network("docker0", 9) + network("wlan0", 3, -125_000)
    read = imported(network("eth2", 1000) + others)
    (run,) = read.runs
    assert read.format == "node-exporter"
    assert values(run, "eth2") == {
        "link_rate_bytes_per_s": 12_500_000_000,
        "link_tx_bytes_counter": 1000,
        "link_rx_bytes_counter": 2000,
    }
    assert {value.of for value in run.values} == {"eth2"}


def test_two_files_of_network_counters_make_a_window() -> None:
    run = scrape(network("eth2", 5000), network("eth2", 1000))
    assert values(run, "eth2")["link_tx_bytes_total"] == 4000
    assert codes(run) == ["import/window"]


def test_the_whole_memory_of_a_device_is_read_where_the_exporter_has_it() -> None:
    run = only_run('DCGM_FI_DEV_FB_TOTAL{gpu="0"} 81559\nDCGM_FI_DEV_FB_USED{gpu="0"} 70000\n')
    assert values(run, "gpu-0")["device_memory_bytes"] == 81_559 * MIB
