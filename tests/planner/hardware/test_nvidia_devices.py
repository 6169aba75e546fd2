"""Types and memory of devices where a log lists them beside the matrix."""

import pytest

from planner.hardware import fragment, missing
from tests.planner.hardware.samples import PAIR, TWO, notes, read

NAME = "NVIDIA Model X 80GB"
LISTED = f"GPU 0: {NAME} (UUID: GPU-0)\nGPU 1: {NAME} (UUID: GPU-1)\n"
TABLE = f"index, name, memory.total [MiB], driver_version\n0, {NAME}, 81559 MiB, 1.2\n1, {NAME}, 81559 MiB, 1.2\n\n"
OTHERS = "Types and memory not read: the list has other devices than the matrix."


def told(text: str) -> list[tuple[str | None, int | None]]:
    return [(device.type, device.memory_bytes) for device in read(text).devices]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(LISTED + PAIR, [(NAME, None)] * 2, id="list of the driver"),
        pytest.param(TABLE + PAIR, [(NAME, 81559 * 2**20)] * 2, id="table of a query"),
        pytest.param(PAIR + "\n" + TABLE + LISTED, [(NAME, 81559 * 2**20)] * 2, id="both, behind the matrix"),
        pytest.param(f"GPU 0,1: {NAME}\n" + PAIR, [(NAME, None)] * 2, id="grouped, one type"),
        pytest.param(f"GPU 0: {NAME}\nGPU 1: Tesla Y\n" + PAIR, [(NAME, None), ("Tesla Y", None)], id="two types"),
        pytest.param(f"GPU 0,1: {NAME}\nGPU 2: Tesla Y\n" + PAIR, [(None, None)] * 2, id="grouped, two types"),
        pytest.param("GPU 0: 34 % busy\nGPU 1: idle\n" + PAIR, [(None, None)] * 2, id="something else of a device"),
        pytest.param(TABLE.replace("81559 MiB", "[N/A]") + PAIR, [(NAME, None)] * 2, id="memory not known"),
    ],
)
def test_a_list_beside_the_matrix_says_types_and_memory(
    text: str, expected: list[tuple[str | None, int | None]]
) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param(f"{LISTED}GPU 2: {NAME} (UUID: GPU-2)\n" + PAIR, OTHERS, id="a device more"),
        pytest.param(LISTED.split("\n")[0] + "\n" + PAIR, OTHERS, id="a device less"),
        pytest.param(
            LISTED * 600 + PAIR, "Types and memory not read: the list has more than 1,024 entries.", id="without end"
        ),
        pytest.param(
            LISTED + TABLE.replace("0, NVIDIA", "0, Other") + PAIR,
            "Types and memory not read: the list contradicts itself, type of GPU0, line 4.",
            id="another type",
        ),
    ],
)
def test_a_list_that_does_not_fit_is_not_read_and_said(text: str, sentence: str) -> None:
    assert told(text) == [(None, None)] * 2
    assert (None, sentence) in notes(read(text))


def test_a_list_beside_two_matrices_is_of_neither() -> None:
    assert told(LISTED + TWO + PAIR) == [(None, None)] * 4


def test_slices_leave_types_open() -> None:
    assert told(LISTED + "  MIG 1g.10gb     Device  0: (UUID: MIG-0)\n" + PAIR) == [(None, None)] * 2


def test_what_the_list_says_is_in_the_fragment_and_not_asked() -> None:
    hardware = read(TABLE + PAIR)
    device = fragment(hardware)["identity"]["hardware"]["devices"]["node-0-gpu1"]
    assert device == {"node": "node-0", "type": NAME, "memory_bytes": 81559 * 2**20}
    assert not [entry.pointer for entry in missing(hardware) if "devices" in entry.pointer]
