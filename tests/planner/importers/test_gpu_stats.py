"""Summaries of sampled ``nvidia-smi``."""

from typing import Any

from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values

MIB = 2**20


def summary(**changed: Any) -> Tree:
    """Two devices, sampled four times over three seconds."""
    device = {
        "name": "NVIDIA B200",
        "uuid": "",
        "samples": 4,
        "timestamp_start": "2026/05/02 10:45:02.900",
        "timestamp_end": "2026/05/02 10:45:05.900",
        "memory_used_mib_max": 1000.0,
        "memory_used_mib_avg": 900.0,
        "memory_total_mib_max": 183_359.0,
        "power_draw_w_max": 912.5,
        "gpu_utilization_percent_max": 100.0,
    }
    return {
        "available": True,
        "sample_count": 8,
        "overall": {"memory_used_mib_max": 1024.0},
        "gpus": {"2": device, "3": {**device, "memory_used_mib_max": 1024.0, **changed}},
    }


def test_the_peak_of_every_device_stands_with_its_samples() -> None:
    read = imported(summary())
    (run,) = read.runs
    assert (read.format, run.status, run.missing) == ("gpu-stats", "usable", ("driver_version",))
    assert values(run) == {"devices": 2}
    assert values(run, "gpu-3") == {
        "device_used_peak_bytes": 1024 * MIB,
        "device_memory_bytes": 183_359 * MIB,
        "device_power_w": 912.5,
        "device_busy_share": 1.0,
        "samples": 4,
        "device_type": "NVIDIA B200",
        "local_time": "2026/05/02 10:45:02.900",
        "sample_interval_s": 1.0,
    }
    assert place(run, "device_used_peak_bytes").pointer == "/gpus/2/memory_used_mib_max"
    assert codes(run) == ["import/sampled"]


def test_figures_that_contradict_each_other_hold_the_run() -> None:
    assert codes(only_run(summary(memory_used_mib_max=1.0)), "held") == ["import/contradiction"]
    assert codes(only_run(summary(memory_total_mib_max=1.0)), "held") == ["import/contradiction"]


def test_a_time_that_is_none_gives_no_interval() -> None:
    run = only_run(summary(timestamp_end="2026/13/45 10:45:05.900"))
    assert "sample_interval_s" not in values(run, "gpu-3")


def test_a_summary_without_samples_is_refused_with_its_reason() -> None:
    assert codes(only_run({**summary(), "available": False}), "refused") == ["import/no_counters"]
    assert codes(only_run({**summary(), "gpus": {}}), "refused") == ["import/no_counters"]
