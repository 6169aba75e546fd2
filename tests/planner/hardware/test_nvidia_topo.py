"""``nvidia-smi topo -m``: what a matrix says, in every dress that it comes in."""

import pytest

from planner.errors import DocumentRefusedError
from planner.hardware import read_hardware
from tests.planner.hardware.samples import PAIR, TWO, codes, islands, notes, read, sample

READ = {
    ("GPU0", "GPU1"): "NV6",
    ("GPU0", "NIC0"): "PIX",
    ("GPU0", "NIC1"): "SYS",
    ("GPU1", "NIC0"): "SYS",
    ("GPU1", "NIC1"): "NODE",
    ("NIC0", "NIC1"): "SYS",
}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TWO, id="spaces"),
        pytest.param(TWO.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(TWO.replace("\n", "\r"), id="CR only"),
        pytest.param(TWO.encode("utf-16"), id="UTF-16 of a Windows shell"),
        pytest.param(b"at 40 \xb0C\n" + TWO.encode() + b"\xff\n", id="bytes of another code around it"),
        pytest.param(b"\xef\xbb\xbf" + TWO.encode(), id="byte-order mark"),
        pytest.param("\n".join(line.lstrip() for line in TWO.split("\n")), id="leading blanks lost"),
        pytest.param("\n\n".join(TWO.split("\n")), id="blank line after every line"),
        pytest.param(TWO.replace("GPU0    GPU1    NIC0", "\x1b[4mGPU0\tGPU1\tNIC0", 1), id="underlined header"),
        pytest.param(TWO.replace("        GPU0", "\t[4mGPU0").replace("ID\n", "ID[0m\n"), id="escape character lost"),
        pytest.param(TWO.replace("        GPU0", "\t^[[4mGPU0").replace("ID\n", "ID^[[0m\n"), id="escape made visible"),
        pytest.param(TWO.replace("    ", "\t").replace("N/A", "\tN/A"), id="tabs with an empty cell"),
        pytest.param("".join(f"> {line}\n" for line in TWO.splitlines()), id="quoted"),
        pytest.param("".join(f"0: {line}\n" for line in TWO.splitlines()), id="prefixed by a launcher"),
        pytest.param("".join(f"host-7: {line}\n" for line in TWO.splitlines()), id="prefixed by a host"),
        pytest.param("".join(f"2026-01-02T03:04:05.6Z {line}\n" for line in TWO.splitlines()), id="times of a log"),
        pytest.param("".join(f"| {' | '.join(line.split())} |\n" for line in TWO.splitlines()), id="bars of a table"),
        pytest.param("GPU Topology: " + TWO.lstrip(), id="in a report of an environment"),
        pytest.param(f"```\n$ nvidia-smi topo -m\n{TWO}```\nTwo devices.\n", id="in a page"),
        pytest.param(TWO.replace("\n", "\xa0\n").replace(" X ", "\xa0X\xa0"), id="no-break spaces"),
        pytest.param(TWO.replace("PIX     SYS     0-31", "PIXSYS     0-31"), id="cells run together"),
        pytest.param(TWO.replace("NIC0    NIC1    CPU", "NIC0NIC1    CPU"), id="names run together"),
        pytest.param(
            "GPU0 is busy, GPU1 is not\nGPU0 GPU1 are linked\n" + TWO + "SYS is slow\nGPU1 throttled\n",
            id="inside a log",
        ),
        pytest.param("50%\r100%\n" + TWO, id="after a progress bar"),
    ],
)
def test_the_same_matrix_is_read_in_every_dress(text: str | bytes) -> None:
    hardware = read(text)
    assert codes(hardware) == READ
    assert [(device.numa, device.cpus) for device in hardware.devices] == [("0", "0-31"), ("1", "32-63")]
    assert hardware.notes == ()


WRAPPED = """\
        GPU0    GPU1
    NIC0    NIC1    CPU Affinity
    NUMA Affinity
    GPU NUMA ID
GPU0     X      NV6
    PIX     SYS     0-31            0               N/A
GPU1    NV6      X      SYS     NODE    32-63
     1               N/A
NIC0    PIX     SYS      X
      SYS
NIC1    SYS     NODE    SYS      X
"""


def test_what_a_terminal_wrapped_belongs_to_the_row_above() -> None:
    hardware = read(WRAPPED)
    assert codes(hardware) == READ
    assert [(device.numa, device.cpus) for device in hardware.devices] == [("0", "0-31"), ("1", "32-63")]


def test_bridged_pairs_are_islands_whatever_their_index() -> None:
    hardware = read(sample("nvidia_6gpu_bridged.txt"))
    assert islands(hardware) == {
        "node-0-island-0": ("nvlink-4", ("node-0-gpu0", "node-0-gpu2")),
        "node-0-island-1": ("nvlink-4", ("node-0-gpu1", "node-0-gpu3")),
    }


def test_devices_have_their_nearest_nics_and_nics_the_name_of_the_legend() -> None:
    hardware = read(sample("nvidia_6gpu_bridged.txt"))
    assert [(device.nearest_path, device.nearest_nics) for device in hardware.devices] == [
        ("PIX", ("node-0-nic0",)),
        ("PIX", ("node-0-nic1",)),
        ("PIX", ("node-0-nic1",)),
        ("PIX", ("node-0-nic2",)),
        ("PIX", ("node-0-nic3",)),
        ("PXB", ("node-0-nic3",)),
    ]
    assert [nic.interface for nic in hardware.nics] == ["mlx5_0", "mlx5_1", "mlx5_4", "mlx5_5"]


def test_a_legend_may_be_missing() -> None:
    assert [nic.interface for nic in read(TWO).nics] == [None, None]


def test_old_drivers_name_nics_by_interface_and_paths_otherwise() -> None:
    hardware = read(
        "\tGPU0\tGPU1\tmlx5_0\tmlx4_1\tCPU Affinity\n"
        "GPU0\t X \tSOC\tPHB\tSOC\t0-11\n"
        "GPU1\tSOC\t X \tSOC\tPSB\t0-11\n"
        "mlx5_0\tPHB\tSOC\t X \tSOC\n"
        "mlx4_1\tSOC\tPSB\tSOC\t X \n"
    )
    assert codes(hardware)["GPU0", "GPU1"] == "SYS"
    assert codes(hardware)["GPU1", "mlx4_1"] == "PIX"
    assert [(nic.id, nic.interface) for nic in hardware.nics] == [("node-0-nic0", "mlx5_0"), ("node-0-nic1", "mlx4_1")]
    assert [(device.numa, device.cpus) for device in hardware.devices] == [(None, "0-11"), (None, "0-11")]


def test_a_header_may_be_cut_behind_the_names() -> None:
    hardware = read(PAIR.replace("NUMA Affinity", "NUMA"))
    assert [device.numa for device in hardware.devices] == ["0", "0"]


def test_a_lost_header_is_rebuilt_from_a_square_of_rows() -> None:
    hardware = read(TWO.split("\n", 1)[1])
    assert codes(hardware) == READ
    assert [device.numa for device in hardware.devices] == [None, None]
    sentence = "The header is lost: columns are named after the rows, affinity columns are not read."
    assert notes(hardware) == [(1, sentence)]


def test_rows_of_nics_may_be_missing() -> None:
    hardware = read("\n".join(TWO.split("\n")[:4]))
    assert ("NIC0", "NIC1") in codes(hardware)
    assert notes(hardware) == [(1, "1 of 2 NICs have no row: paths between them are not known.")]


@pytest.mark.parametrize(
    ("there", "shown"),
    [
        pytest.param("0-31  0", '"0-31 0"', id="a word is missing"),
        pytest.param("0-31  0 N/A  N/A", '"0-31 0 N/A N/A"', id="a word too many"),
        pytest.param("O-31  0 N/A", '"O-31 0 N/A"', id="no list of ranges"),
    ],
)
def test_affinity_that_is_not_certain_is_not_read(there: str, shown: str) -> None:
    hardware = read(TWO.replace("0-31            0               N/A", there))
    assert (hardware.devices[0].numa, hardware.devices[0].cpus) == (None, None)
    assert hardware.devices[1].cpus == "32-63"
    assert notes(hardware) == [(2, f"GPU0: not read, 3 affinity columns have {shown} below them.")]


def test_unknown_affinity_stays_open() -> None:
    (device,) = read("GPU0 CPU Affinity NUMA Affinity GPU NUMA ID\nGPU0  X  0-95  N/A  N/A\n").devices
    assert (device.cpus, device.numa) == ("0-95", None)


ACCESS = " \tGPU0\tGPU1\t\n GPU0\tX\tGNS\t\n GPU1\tGNS\tX\t\n"


def test_peer_access_beside_the_matrix_is_read_into_its_pairs() -> None:
    hardware = read(PAIR + "\nLegend:\n\n  X    = Self\n\n" + ACCESS)
    assert [(path.code, path.peer_access) for path in hardware.paths] == [("PHB", "GNS")]
    assert (None, "Without peer access: 1 of 1 pairs, first GPU0 and GPU1 (GNS).") in notes(hardware)


def test_every_matrix_is_a_node_of_its_own() -> None:
    hardware = read(TWO + "\nthe other one\n" + PAIR)
    assert [device.id for device in hardware.devices] == ["node-0-gpu0", "node-0-gpu1", "node-1-gpu0", "node-1-gpu1"]
    assert (None, "The file has 2 matrices; each is read as a node of its own.") in notes(hardware)


def test_slices_are_said() -> None:
    listed = "GPU 0: some device (UUID: GPU-0)\n  MIG 1g.10gb     Device  0: (UUID: MIG-0)\n"
    assert (2, "Slices of devices (MIG) are listed, 1 of them; the matrix has whole devices.") in notes(
        read(listed + PAIR)
    )


def test_nodes_take_their_ids_in_the_order_of_the_file() -> None:
    ids = iter(["host-a", "host-b", "host-c"])
    assert [node.id for node in read_hardware((TWO + PAIR).encode(), node_ids=ids).nodes] == ["host-a", "host-b"]
    assert next(ids) == "host-c"


def test_a_refused_file_takes_no_id() -> None:
    ids = iter(["host-a"])
    with pytest.raises(DocumentRefusedError):
        read_hardware(b"", node_ids=ids)
    assert next(ids) == "host-a"
