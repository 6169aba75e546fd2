"""``topogate hardware``: the hardware of files as text and as JSON."""

import json
from pathlib import Path

import pytest

from planner.command import main
from tests.planner.hardware.samples import PAIR, SAMPLES, TWO

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def pair(tmp_path: Path) -> str:
    path = tmp_path / "pair.txt"
    path.write_text(PAIR)
    return str(path)


def test_text_shows_devices_islands_and_what_to_ask_for(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "two.txt"
    path.write_text(TWO)
    assert main(["hardware", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        f"{path}: nvidia-smi topo -m",
        "  node node-0: 2 devices, 2 NICs",
        "    node-0-gpu0 (GPU0), NUMA 0, PIX to node-0-nic0",
        "    node-0-gpu1 (GPU1), NUMA 1, NODE to node-0-nic1",
        "  island node-0-island-0: nvlink-6, 2 devices: node-0-gpu0, node-0-gpu1",
    ]
    assert "  to be asked, always: /identity/hardware/devices/<id>/type (2): Which model of accelerator?" in lines


def test_json_is_one_line_per_file_with_nodes_numbered_over_all(pair: str, capsys: Capture) -> None:
    trays = str(SAMPLES / "nccl_two_trays.xml")
    assert main(["hardware", "--format", "json", trays, pair, "--node", "host-a"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["file"], first["ok"], first["source"]) == (trays, True, "NCCL topology XML")
    assert list(first["fragment"]["identity"]["hardware"]["nodes"]) == ["host-a", "node-0"]
    assert list(second["fragment"]["identity"]["hardware"]["nodes"]) == ["node-1"]
    assert second["missing"][0] == {
        "pointer": "/identity/hardware/nodes/<id>/sockets",
        "question": "How many sockets? NUMA nodes may be more than sockets.",
        "always": False,
        "ids": ["node-1"],
    }
    assert [path["code"] for path in second["paths"]] == ["PHB"]


def test_a_refused_file_says_its_line_and_the_others_are_read(tmp_path: Path, pair: str, capsys: Capture) -> None:
    cut = tmp_path / "cut.txt"
    cut.write_text("\n".join(TWO.split("\n")[:2]))
    assert main(["hardware", str(cut), pair]) == 2
    printed = capsys.readouterr()
    assert printed.err == (
        f"{cut}:2: document: expected a row of GPU1, which line 1 names, found none [hardware/missing_row]\n"
    )
    assert printed.out.startswith(f"{pair}: nvidia-smi topo -m\n  node node-0:")


def test_a_refusal_is_json_too(tmp_path: Path, capsys: Capture) -> None:
    assert main(["hardware", "--format", "json", str(tmp_path / "absent")]) == 2
    (answer,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert answer["ok"] is False
    assert [problem["code"] for problem in answer["problems"]] == ["file/unreadable"]


def test_a_name_of_a_node_is_an_id(pair: str, capsys: Capture) -> None:
    assert main(["hardware", pair, "--node", "Host A"]) == 2
    assert (
        "expected 1 to 48 of a-z, 0-9, '.', '_', '-', first a letter or digit, found 'Host A'"
        in capsys.readouterr().err
    )


def test_a_number_that_is_taken_is_left_out(pair: str, capsys: Capture) -> None:
    assert main(["hardware", "--format", "json", pair, pair, "--node", "node-0"]) == 0
    nodes = [
        json.loads(line)["fragment"]["identity"]["hardware"]["nodes"] for line in capsys.readouterr().out.splitlines()
    ]
    assert nodes == [{"node-0": {}}, {"node-1": {}}]


def test_two_nodes_have_two_names(pair: str, capsys: Capture) -> None:
    assert main(["hardware", pair, pair, "--node", "host", "--node", "host"]) == 2
    assert capsys.readouterr().err == "topogate: --node: expected another id for every node, found one twice\n"
