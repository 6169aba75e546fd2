"""``rocm-smi --showtopo`` as text and as JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.planner.hardware.samples import codes, findings, islands, notes, problems_of, read, sample

Tree = dict[str, Any]
TEXT = sample("rocm_4gpu_two_islands.txt").decode()
JSON: Tree = json.loads(sample("rocm_3gpu.json"))
TITLE = "=============================== Link Type between two GPUs ===============================\n"
NUMA = "".join(f"GPU[{number}]\t\t: (Topology) Numa Node: {number // 2}\n" for number in range(4))


def test_devices_joined_by_xgmi_are_islands() -> None:
    hardware = read(TEXT)
    assert islands(hardware) == {
        "node-0-island-0": ("xgmi", ("node-0-gpu0", "node-0-gpu2")),
        "node-0-island-1": ("xgmi", ("node-0-gpu1", "node-0-gpu3")),
    }
    assert [device.numa for device in hardware.devices] == ["0", "1", "0", "1"]
    assert [(path.weight, path.hops) for path in hardware.paths[:2]] == [(72, 3), (15, 1)]
    assert hardware.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TEXT.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(TEXT.replace("GPU[", "GPU ").replace("]\t\t:", "          :"), id="other form of NUMA lines"),
        pytest.param("GPU Topology:\n  " + TEXT[TEXT.index("=") :], id="in a report of an environment"),
        pytest.param(" ".join(TEXT.split(" ")).replace("         ", " "), id="blanks collapsed"),
        pytest.param(TEXT[TEXT.index(TITLE) :], id="link types alone"),
        pytest.param(
            TEXT.replace("0            \n\n====", "0            \nXGMI is fast\n===="), id="prose below a table"
        ),
    ],
)
def test_the_same_tables_are_read_in_every_dress(text: str) -> None:
    assert islands(read(text)) == islands(read(TEXT))
    assert codes(read(text)) == codes(read(TEXT))


def test_a_row_that_a_terminal_wrapped_is_put_together() -> None:
    text = TEXT.replace("GPU1   PCIE         0            PCIE ", "GPU1   PCIE         0\n           PCIE ")
    assert islands(read(text)) == islands(read(TEXT))


def test_one_device_has_no_peers_and_no_island() -> None:
    hardware = read(f"{TITLE}       GPU0         \nGPU0   0            \n")
    assert [device.id for device in hardware.devices] == ["node-0-gpu0"]
    assert islands(hardware) == {}


def test_without_link_types_islands_stay_open() -> None:
    hardware = read(NUMA)
    assert len(hardware.devices) == 4
    assert islands(hardware) is None
    assert (None, "The file shows no peer links: which devices form an island is to be asked.") in notes(hardware)


def test_a_type_that_the_tool_does_not_know_joins_nothing() -> None:
    hardware = read(f"{TITLE} GPU0 GPU1\nGPU0 0 UNKNOWN\nGPU1 UNKNOWN 0\n")
    assert [path.kind for path in hardware.paths] == ["unknown"]
    assert islands(hardware) == {}


def test_a_table_of_another_title_is_said() -> None:
    assert (2, "A table without a title that is known; not read.") in notes(read("==== Speed ====\n GPU0\n" + NUMA))


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        pytest.param(
            f"{TITLE} GPU0 GPU1\nGPU0 0 XGMI\n",
            ("hardware/missing_row", 3, "a row of GPU1, which line 2 names", "none"),
            id="cut below a row",
        ),
        pytest.param(
            f"{TITLE} GPU0 GPU1\nGPU0 0 XGMI\nGPU1 PCIE 0\n",
            ("hardware/symmetry", 4, "XGMI between GPU1 and GPU0, as line 3 says", "PCIE"),
            id="both ways differ",
        ),
        pytest.param(
            f"{TITLE} GPU0 GPU1\nGPU0 0 XGMX\nGPU1 XGMI 0\n",
            ("hardware/cell", 3, "2 cells in the row of GPU0", '1, then "XGMX"'),
            id="cell that the tool does not print",
        ),
        pytest.param(
            f"{TITLE}GPU0 0 XGMI\nGPU1 XGMI 0\n",
            ("hardware/header", 1, "the names of the devices below the title", "none"),
            id="header lost",
        ),
        pytest.param(
            TEXT.replace(TITLE + "       GPU0", TITLE + "       GPU9"),
            ("hardware/header", 19, "the devices of line 5", '"GPU9 GPU1 GPU2 GPU3"'),
            id="tables of other devices",
        ),
        pytest.param(
            TEXT.replace("GPU[3]\t\t: (Topology) Numa Node", "GPU[4]\t\t: (Topology) Numa Node"),
            ("hardware/row", 32, "a device of line 5", '"GPU4"'),
            id="NUMA node of another device",
        ),
        pytest.param(
            NUMA + NUMA.replace("Node: 1", "Node: 0"),
            ("hardware/repeated", 7, "one NUMA node of GPU2, 1 as line 3 says", "0"),
            id="NUMA node twice",
        ),
        pytest.param(
            TEXT + TEXT,
            ("hardware/repeated", 39, "one table of this title, as line 5 begins", "another one"),
            id="twice",
        ),
    ],
)
def test_damage_is_refused_naming_the_line(text: str, finding: tuple[str, int, str, str]) -> None:
    assert finding in findings(text)


def test_json_says_the_same_as_tables_would() -> None:
    hardware = read(json.dumps(JSON))
    assert islands(hardware) == {"node-0-island-0": ("xgmi", ("node-0-gpu0", "node-0-gpu1"))}
    assert [device.numa for device in hardware.devices] == ["0", "0", "1"]
    assert [(path.code, path.weight, path.hops) for path in hardware.paths] == [
        ("XGMI", 15, 1),
        ("PCIE", 40, 2),
        ("PCIE", 40, 2),
    ]


def test_json_may_stand_below_a_warning_and_in_small_letters() -> None:
    text = "WARNING: a device is in a low-power state\n\n" + json.dumps(JSON).replace("(Topology)", "(topology)")
    assert islands(read(text)) == islands(read(json.dumps(JSON)))


def _key(what: str, a: int, b: int) -> str:
    return f"(Topology) {what} between DRM devices {a} and {b}"


def _drop(tree: Tree) -> None:
    del tree["system"][_key("Link type", 1, 2)]


def _other_way(tree: Tree) -> None:
    tree["system"][_key("Link type", 1, 0)] = "PCIE"


def _number(tree: Tree) -> None:
    tree["system"][_key("Weight", 0, 1)] = 15


def _numa(tree: Tree) -> None:
    tree["card1"]["(Topology) Numa Node"] = "zero"


def _empty(tree: Tree) -> None:
    tree.clear()
    tree["(Topology)"] = {}


AT = "/system/(Topology) "


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            _drop,
            ("hardware/missing_row", "/system", "the link type between DRM devices 1 and 2", "none"),
            id="pair missing",
        ),
        pytest.param(
            _other_way,
            (
                "hardware/symmetry",
                f"{AT}Link type between DRM devices 1 and 0",
                "XGMI, as the other order of the two says",
                '"PCIE"',
            ),
            id="both orders differ",
        ),
        pytest.param(
            _number,
            ("hardware/cell", f"{AT}Weight between DRM devices 0 and 1", "the weight of two devices, as text", "15"),
            id="number for a text",
        ),
        pytest.param(_numa, ("hardware/cell", "/card1", "a NUMA node as a number", '"zero"'), id="NUMA node"),
        pytest.param(
            _empty,
            ("hardware/no_device", "", 'members as "card0" or pairs of devices', "an object"),
            id="nothing of a device",
        ),
    ],
)
def test_damaged_json_is_refused_naming_the_member(
    change: Callable[[Tree], None], problem: tuple[str, str, str, str]
) -> None:
    tree = json.loads(json.dumps(JSON))
    change(tree)
    found = [(p.code, p.pointer, p.expected, p.found) for p in problems_of(json.dumps(tree))]
    assert found == [problem]


def test_json_is_read_strictly() -> None:
    text = sample("rocm_3gpu.json").decode().replace('"card2"', '"card1"')
    assert [problem.code for problem in problems_of(text)] == ["json/duplicate_key"]


def test_json_has_a_limit() -> None:
    cards = {f"card{number}": {"(Topology) Numa Node": "0"} for number in range(257)}
    assert findings(json.dumps(cards)) == [("hardware/size", None, "at most 256 devices", "257")]
