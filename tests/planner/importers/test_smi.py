"""What ``nvidia-smi``, ``amd-smi`` and ``rocm-smi`` print of devices."""

from typing import Any

import pytest

from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values

MIB = 2**20
HEADER = "timestamp, index, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%], power.draw [W], uuid"
QUERY = f"""$ nvidia-smi --query-gpu=timestamp,index,name --format=csv -lms 500
{HEADER}
2026/03/01 10:15:00.000, 0, NVIDIA H200, 100 MiB, 143771 MiB, 5 %, 80.50 W, GPU-1111
2026/03/01 10:15:00.000, 1, NVIDIA H200, 110 MiB, 143771 MiB, 0 %, [N/A], GPU-2222
2026/03/01 10:15:00.500, 0, NVIDIA H200, 131000 MiB, 143771 MiB, 97 %, 690.00 W, GPU-1111
{HEADER}
2026/03/01 10:15:00.500, 1, NVIDIA H200, [N/A], 143771 MiB, 90 %, 600.00 W, GPU-2222
2026/03/01 10:15:01.000, 0, NVIDIA H200, 120000 MiB, 143771 MiB, 50 %, 400.00 W, GPU-1111
cut
"""
TABLE = """\
Sun Mar  1 10:15:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.14              Driver Version: 550.54.14      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:8D:00.0 Off |                    0 |
| N/A   35C    P0             76W /  700W |   65012MiB /  81559MiB |      0%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
"""
INSTANCES = """\
|  0    3   0   0  |             12345MiB / 40192MiB    | 42      0 |  3   0    2    0    0 |
"""
LIST = """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0000)
  MIG 3g.40gb     Device  0: (UUID: MIG-11111111-1111)
  MIG 1g.10gb     Device  1: (UUID: MIG-22222222-2222)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-00000000-0001)
"""
GROUPS = """\
+-------------------------------------------------------+
| GPU instances:                                        |
| GPU   Name             Profile  Instance   Placement  |
|                          ID       ID       Start:Size |
|=======================================================|
|   0  MIG 1g.10gb         19        9          2:1     |
+-------------------------------------------------------+
"""


def test_a_query_gives_the_peak_of_its_samples_with_number_and_spacing() -> None:
    read = imported(QUERY.replace("\n", "\r\n"))
    (run,) = read.runs
    assert (read.format, read.version, run.status) == ("nvidia-smi", "query", "usable")
    assert values(run, "gpu-0") == {
        "device_type": "NVIDIA H200",
        "device_used_peak_bytes": 131_000 * MIB,
        "device_memory_bytes": 143_771 * MIB,
        "samples": 3,
        "sample_interval_s": 0.5,
        "device_power_w": 690.0,
        "device_busy_share": 0.97,
    }
    assert values(run, "gpu-1")["device_used_peak_bytes"] == 110 * MIB
    assert values(run)["devices"] == 2
    assert place(run, "device_used_peak_bytes").line == 5
    assert codes(run) == ["import/line_skipped", "import/sampled"]
    assert "GPU-1111" not in repr(read)


def test_a_query_whose_rows_are_of_no_known_device_waits_for_a_person() -> None:
    run = only_run("memory.used [MiB], memory.total [MiB]\n100 MiB, 143771 MiB\n")
    assert codes(run, "held") == ["import/instances_unknown"]
    assert "devices" not in values(run)


def test_numbers_without_units_have_that_of_the_header() -> None:
    run = only_run("index, memory.used [MiB], memory.total [MiB]\n3, 100, 143771\n")
    assert values(run, "gpu-3")["device_used_peak_bytes"] == 100 * MIB


def test_one_table_is_a_moment_and_several_are_samples() -> None:
    run = only_run(TABLE)
    assert values(run)["driver_version"] == "550.54.14"
    assert values(run, "gpu-0") == {
        "device_type": "NVIDIA H100 80GB HBM3",
        "device_used_bytes": 65_012 * MIB,
        "device_memory_bytes": 81_559 * MIB,
    }
    assert "device_used_peak_bytes" in run.missing
    twice = only_run(TABLE + TABLE.replace("65012MiB", "70000MiB"))
    assert (values(twice, "gpu-0")["device_used_peak_bytes"], values(twice, "gpu-0")["samples"]) == (70_000 * MIB, 2)


def test_instances_of_a_split_device_stand_apart() -> None:
    run = only_run(TABLE + INSTANCES)
    assert values(run, "gpu-0-mig-3")["device_used_bytes"] == 12_345 * MIB
    assert (values(run)["devices"], "import/mig" in codes(run)) == (1, True)


def test_a_list_names_devices_and_instances() -> None:
    read = imported(LIST)
    (run,) = read.runs
    assert (read.format, read.version, values(run)["devices"]) == ("nvidia-smi", "list", 2)
    assert values(run, "gpu-1")["device_type"] == "NVIDIA A100-SXM4-80GB"
    assert values(run, "gpu-0-mig-1")["device_type"] == "MIG 1g.10gb"
    assert codes(run) == ["import/mig"]
    assert "UUID" not in repr(read)


def test_the_table_of_instances_is_read() -> None:
    run = only_run(GROUPS)
    assert values(run, "gpu-0-mig-9")["device_type"] == "MIG 1g.10gb"
    assert values(run)["devices"] == 1


def amd_device(gpu: int, used: Any, **more: Any) -> Tree:
    total = {"value": 196_592, "unit": "MB"}
    memory = {"total_vram": total, "used_vram": {"value": used, "unit": "MB"}}
    power = {"socket_power": {"value": 700, "unit": "W"}}
    return {
        "gpu": gpu,
        "usage": {"gfx_activity": {"value": 50, "unit": "%"}},
        "power": power,
        "mem_usage": memory,
        **more,
    }


def test_the_megabytes_of_amd_smi_are_mebibytes() -> None:
    read = imported([amd_device(0, 1000, asic={"market_name": "AMD Instinct MI300X"}), amd_device(1, 2000)])
    (run,) = read.runs
    assert (read.format, read.version, run.status) == ("amd-smi", "amd-smi", "usable")
    assert values(run, "gpu-0") == {
        "device_type": "AMD Instinct MI300X",
        "device_used_bytes": 1000 * MIB,
        "device_memory_bytes": 196_592 * MIB,
        "device_busy_share": 0.5,
        "device_power_w": 700,
    }
    assert values(run)["devices"] == 2


def test_several_values_of_amd_smi_are_samples_also_in_the_newer_wrapping() -> None:
    first, second = ({"gpu_data": [amd_device(0, used)]} for used in (5000, 4000))
    run = only_run(f"{json(first)}\n{json(second)}")
    assert (values(run, "gpu-0")["device_used_peak_bytes"], values(run, "gpu-0")["samples"]) == (5000 * MIB, 2)


def test_what_amd_smi_has_no_figure_for_is_missing() -> None:
    run = only_run([{"gpu": 0, "usage": "N/A", "mem_usage": "N/A", "power": {"socket_power": "N/A"}}])
    assert "device_used_bytes" in run.missing


def test_rocm_smi_writes_bytes_as_text() -> None:
    card = {"VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "297308160", "GPU use (%)": "12"}
    card["Card Series"] = "AMD Instinct MI300X"
    read = imported({"card0": card, "system": {"Driver version": "6.8.5"}})
    (run,) = read.runs
    assert (read.version, values(run)["driver_version"]) == ("rocm-smi", "6.8.5")
    assert values(run, "gpu-0") == {
        "device_type": "AMD Instinct MI300X",
        "device_used_bytes": 297_308_160,
        "device_memory_bytes": 206_141_652_992,
        "device_busy_share": 0.12,
    }


@pytest.mark.parametrize("tree", [{"card0": {"other": "1"}}, [{"gpu": 0}], [{"gpu": 0, "usage": {}}, {}]])
def test_json_that_only_looks_like_it_is_not_taken(tree: Any) -> None:
    assert imported(tree).format == ""


def json(tree: Tree) -> str:
    return repr(tree).replace("'", '"')
