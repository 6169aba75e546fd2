"""Real files of real tools, which lie beside the project: every one is read or refused as it has to be."""

from pathlib import Path

import pytest

from planner.hardware import fragment, missing
from tests.planner.hardware.samples import findings, islands, problems_of, read
from tests.shared import shared_cases, shared_path

FILES = "cases/files"
EIGHT = tuple(f"node-0-gpu{number}" for number in range(8))
Islands = dict[str, tuple[str | None, tuple[str, ...]]] | None


@pytest.mark.parametrize(
    "path",
    [
        case
        for folder in ("nvidia_topo", "rocm_topo", "nccl_topo_xml")
        for case in shared_cases(f"{FILES}/{folder}", "*")
    ],
)
def test_every_file_is_read_or_refused(path: Path) -> None:
    raw = path.read_bytes()
    problems = problems_of(raw)
    assert all(problem.line for problem in problems)
    if not problems:
        hardware = read(raw)
        assert len(fragment(hardware)["identity"]["hardware"]["devices"]) == len(hardware.devices) > 0
        assert missing(hardware)


@pytest.mark.parametrize(
    ("name", "devices", "nics", "found"),
    [
        pytest.param(
            "nvidia_topo/h200_8gpu_8nic_phb_ansi.txt",
            8,
            8,
            {"node-0-island-0": ("nvlink-18", EIGHT)},
            id="H200 machine",
        ),
        pytest.param("nvidia_topo/pcie_2gpu_5090_with_p2p_matrix.txt", 2, 0, {}, id="peer access beside it"),
        pytest.param("nvidia_topo/pcie_4gpu_phb.txt", 4, 0, {}, id="PCIe only"),
        pytest.param("nvidia_topo/pcie_5gpu_mixed_5090_4090.txt", 5, 0, {}, id="odd and mixed"),
        pytest.param("nvidia_topo/pcie_6gpu_pix_node_sys.txt", 6, 0, {}, id="header shortened by hand"),
        pytest.param("nvidia_topo/pcie_8gpu_pix_2nic.txt", 8, 2, {}, id="both NICs on one socket"),
        pytest.param(
            "nvidia_topo/stas00_a100_h100_8gpu_no_nic.txt",
            16,
            0,
            {
                "node-0-island-0": ("nvlink-12", EIGHT),
                "node-1-island-0": ("nvlink-18", tuple(name.replace("node-0", "node-1") for name in EIGHT)),
            },
            id="two matrices in a page",
        ),
        pytest.param("rocm_topo/rocm_smi_showtopo_4gpu_pcie_PARTIAL.txt", 4, 0, {}, id="ROCm over PCIe"),
        pytest.param("rocm_topo/rocm_smi_showtoponuma_8gpu.txt", 8, 0, None, id="ROCm NUMA nodes alone"),
        pytest.param(
            "nccl_topo_xml/rccl_topo_8p_940.xml", 8, 8, {"node-0-island-0": ("xgmi-1", EIGHT)}, id="RCCL, full mesh"
        ),
        pytest.param(
            "nccl_topo_xml/rccl_topo_16p1h.xml",
            16,
            8,
            {"node-0-island-0": ("xgmi", tuple(f"node-0-gpu{number}" for number in range(16)))},
            id="RCCL, partial mesh of unequal links",
        ),
        pytest.param("nccl_topo_xml/rccl_topo_8p_pcie.xml", 8, 1, {}, id="RCCL over PCIe"),
        pytest.param("nccl_topo_xml/aws_p4d.xml", 8, 4, None, id="static file with classes"),
        pytest.param("nccl_topo_xml/azure_ndv4_a100.xml", 8, 8, None, id="static file with domains"),
    ],
)
def test_whole_files_are_read(name: str, devices: int, nics: int, found: Islands) -> None:
    hardware = read(shared_path(f"{FILES}/{name}").read_bytes())
    assert (len(hardware.devices), len(hardware.nics)) == (devices, nics)
    assert islands(hardware) == found


def _missing(name: str, header: int, last: int) -> tuple[str, int, str, str]:
    return ("hardware/missing_row", last, f"a row of {name}, which line {header} names", "none")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("nvidia_topo/a800_8gpu_nv8_9nic_PARTIAL.txt", [_missing("GPU7", 1, 8)], id="last row cut"),
        pytest.param(
            "nvidia_topo/dgx_a100_8gpu_12nic_PARTIAL.txt",
            [_missing(f"GPU{number}", 1, 5) for number in range(4, 8)],
            id="half of the rows cut",
        ),
        pytest.param(
            "nvidia_topo/pcie_8gpu_numa_na.txt",
            [_missing("GPU6", 1, 7), _missing("GPU7", 1, 7)],
            id="blanks lost and cut",
        ),
        pytest.param(
            "nccl_topo_xml/aws_g5_48xl.xml",
            [("hardware/no_device", 12, "a <gpu>, as a dump has, or a <pci> of a device's class", "none")],
            id="static file without classes",
        ),
    ],
)
def test_cut_files_are_refused_naming_the_line(name: str, found: list[tuple[str, int, str, str]]) -> None:
    assert findings(shared_path(f"{FILES}/{name}").read_bytes()) == found


def test_nics_have_the_nearest_device_of_their_socket() -> None:
    hardware = read(shared_path(f"{FILES}/nvidia_topo/h200_8gpu_8nic_phb_ansi.txt").read_bytes())
    nearest = [device.nearest_nics for device in hardware.devices]
    assert nearest == [(f"node-0-nic{number}",) for number in (4, 5, 6, 7, 0, 1, 2, 3)]
    assert [nic.interface for nic in hardware.nics] == [f"mlx5_{number}" for number in range(8)]


def test_numa_and_rates_are_those_of_the_file() -> None:
    hardware = read(shared_path(f"{FILES}/nccl_topo_xml/rccl_topo_8p_940.xml").read_bytes())
    assert {link.bytes_per_s_one_way for link in hardware.links} == {50_000_000_000}
    numa = read(shared_path(f"{FILES}/rocm_topo/rocm_smi_showtoponuma_8gpu.txt").read_bytes())
    assert [device.numa for device in numa.devices] == ["0"] * 4 + ["1"] * 4
