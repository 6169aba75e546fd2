"""``nvidia-smi dmon`` and ``amd-smi`` as text."""

from planner.importers.model import Run
from tests.planner.importers.samples import codes, imported, only_run, values

MIB = 2**20
HEADER = """\
#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem     fb   bar1
#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %     MB     MB
"""
DMON = f"""$ nvidia-smi dmon -s pum -o DT
{HEADER} 20260301   10:15:00      0     86     33      -     30     27   1000      2
 20260301   10:15:00      1      -     34      -     10      5   2000      2
 20260301   10:15:02      0    690     60      -     97     90 131000      2
 20260301   10:15:02      1    600     61      -     95     88      -      2
{HEADER} 20260301   10:15:04      0    400     55      -     50     40 120000      2
cut
"""
AMD = """\
GPU: 0
    USAGE:
        GFX_ACTIVITY: 45 %
        UMC_ACTIVITY: 12 %
        VCN_ACTIVITY: [0 %, N/A, N/A, N/A]
        GFX_BUSY_INST:
            XCP_0: [0 %, N/A, N/A, N/A]
    POWER:
        SOCKET_POWER: 320 W
        GFX_VOLTAGE: N/A
    MEM_USAGE:
        TOTAL_VRAM: 196592 MB
        USED_VRAM: 1000 MB
        FREE_VRAM: 195592 MB
GPU: 1
    USAGE:
        GFX_ACTIVITY: N/A
    MEM_USAGE:
        TOTAL_VRAM: 196592 MB
        USED_VRAM: 500 MB
"""
STATIC = """\
GPU: 0
    ASIC:
        MARKET_NAME: AMD Instinct MI300X
        VENDOR_ID: 0x1002
    DRIVER:
        NAME: amdgpu
        VERSION: 6.12.12
    VRAM:
        TYPE: HBM
        SIZE: 196592 MB
"""


def where(run: Run, name: str) -> tuple[int | None, int | str | None]:
    """The line and column of a value of the first device."""
    found = next(value.place for value in run.values if (value.name, value.of) == (name, "gpu-0"))
    return found.line, found.column


def test_lines_of_dmon_are_samples_with_their_spacing() -> None:
    read = imported(DMON)
    (run,) = read.runs
    assert (read.format, run.status, values(run)["devices"]) == ("nvidia-dmon", "usable", 2)
    assert values(run, "gpu-0") == {
        "device_used_peak_bytes": 131_000 * MIB,
        "samples": 3,
        "sample_interval_s": 2.0,
        "device_power_w": 690,
        "device_busy_share": 0.97,
    }
    assert values(run, "gpu-1")["device_used_peak_bytes"] == 2000 * MIB
    assert where(run, "device_used_peak_bytes") == (6, "fb")
    assert sorted(codes(run)) == ["import/line_skipped", "import/sampled"]


def test_dmon_without_memory_says_which_option_shows_it() -> None:
    text = "# gpu    pwr  gtemp     sm\n# Idx      W      C      %\n    0    119     59    100\n"
    run = only_run(text)
    assert "import/no_memory" in codes(run)
    assert values(run, "gpu-0") == {"samples": 1, "device_power_w": 119, "device_busy_share": 1.0}


def test_dmon_with_commas_is_the_same() -> None:
    plain = "# gpu, pwr, sm, fb\n# Idx, W, %, MB\n0, 119, 100, 4096\n"
    assert values(only_run(plain), "gpu-0")["device_used_peak_bytes"] == 4096 * MIB


def test_figures_without_a_line_of_units_are_not_guessed() -> None:
    run = only_run("# gpu    pwr     sm     fb\n    0    119    100   4096\n")
    assert (run.status, "import/no_counters" in codes(run)) == ("refused", True)


def test_a_block_of_amd_smi_is_a_device() -> None:
    read = imported(AMD)
    (run,) = read.runs
    assert (read.format, read.version, values(run)["devices"]) == ("amd-smi-text", "text", 2)
    assert values(run, "gpu-0") == {
        "device_busy_share": 0.45,
        "device_power_w": 320.0,
        "device_used_bytes": 1000 * MIB,
        "device_memory_bytes": 196_592 * MIB,
    }
    assert "device_busy_share" not in values(run, "gpu-1")
    assert where(run, "device_power_w") == (9, None)


def test_blocks_of_one_device_are_samples() -> None:
    run = only_run(AMD + AMD.replace("USED_VRAM: 1000", "USED_VRAM: 150000").replace("45 %", "20 %"))
    found = values(run, "gpu-0")
    assert (found["device_used_peak_bytes"], found["samples"], found["device_busy_share"]) == (150_000 * MIB, 2, 0.45)


def test_what_stays_the_same_is_read_from_static() -> None:
    run = only_run(STATIC)
    assert values(run)["driver_version"] == "6.12.12"
    assert values(run, "gpu-0") == {"device_type": "AMD Instinct MI300X", "device_memory_bytes": 196_592 * MIB}
