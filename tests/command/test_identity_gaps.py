"""``topogate identity collect`` where things do not fit: other devices than the contract's, hosts nobody named, AMD."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.command import main
from planner.command.host import host_name
from tests.command.test_identity import line, nvidia, package, program
from tests.planner.documents import raw
from tests.planner.factories import a_contract

Capture = pytest.CaptureFixture[str]
ROCM = Path(__file__).parents[1] / "data" / "hardware" / "rocm_3gpu.json"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the whole path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def missing(capsys: Capture, folder: Path, *arguments: str) -> dict[str, str]:
    assert main(["identity", "collect", "--packages", str(folder), *arguments]) == 0
    return {entry["what"]: entry["because"] for entry in json.loads(capsys.readouterr().out)["missing"]}


def contract(folder: Path, *changes: Any) -> str:
    (folder / "contract.json").write_bytes(raw(a_contract(*changes)))
    return str(folder / "contract.json")


def test_devices_are_matched_only_where_there_are_as_many(path: Path, tmp_path: Path, capsys: Capture) -> None:
    nvidia(path)
    third = ("/identity/hardware/devices/a2", {"node": "node-a", "type": "accel", "memory_bytes": 1})
    name = contract(tmp_path, third)
    found = missing(capsys, path, "--contract", name, "--node", "node-a")
    assert found["/hardware"] == "2 devices are seen, 3 are on node-a in the contract"
    assert "was not said (--node)" in missing(capsys, path, "--contract", name)["/hardware"]


def test_keys_of_the_contract_that_nothing_says_are_listed(path: Path, tmp_path: Path, capsys: Capture) -> None:
    nvidia(path)
    found = missing(capsys, path, "--contract", contract(tmp_path), "--node", "node-a")
    assert found["/hardware/devices/b0/memory_bytes"] == "nothing at hand says it"
    assert "/hardware/devices/a0/memory_bytes" not in found
    assert found["/precision/weights"] == "nothing at hand says it"


@pytest.mark.parametrize(
    ("log", "because"),
    [
        ("nothing here\n", "the log shows no communicator of 4 ranks with its devices"),
        (line(0, 0).replace(f"{host_name()}:", "gpu-17:", 1), "which node gpu-17 is was not said (--host)"),
        (line(0, 7), "device 7 of node-a is not in the contract"),
    ],
    ids=["no ranks", "a host that nobody named", "a device too many"],
)
def test_ranks_are_placed_only_where_all_is_said(
    log: str, because: str, path: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "engine.log").write_text(log)
    more = ["--contract", contract(tmp_path), "--node", "node-a", "--log", str(tmp_path / "engine.log")]
    assert because in missing(capsys, path, *more, "--world-size", "4")["/placement"]
    assert main(["identity", "collect", "--log", str(tmp_path / "absent")]) == 2


def test_several_engines_are_no_engine(path: Path, tmp_path: Path, capsys: Capture) -> None:
    for name in ("vllm", "sglang"):
        package(tmp_path / "site", name, "1")
    because = "expected one engine among the installed packages, found vllm, sglang"
    assert missing(capsys, tmp_path / "site")["/stack/engine"] == because


def test_a_folder_without_a_model_says_so(path: Path, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    found = missing(capsys, path, "--model", str(folder))
    assert found["/model/files_digest"] == f"{folder} has none of its files"
    assert found["/model"] == f"{folder} has no config.json"
    assert "no such file" in missing(capsys, path, "--model", str(tmp_path / "absent"))["/model/files_digest"]


def test_devices_of_amd(path: Path, tmp_path: Path, capsys: Capture) -> None:
    card = {"Card Series": "MI300X", "VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "1"}
    cards = {**{f"card{at}": card for at in range(3)}, "system": {"Driver version": "6.10.5"}}
    (path / "cards.json").write_text(json.dumps(cards))
    (path / "topo.json").write_bytes(ROCM.read_bytes())
    script = f'case "$1" in --showtopo) /bin/cat {path}/topo.json;; *) /bin/cat {path}/cards.json;; esac'
    program(path, "rocm-smi", script)
    assert main(["identity", "collect", "--packages", str(path), "--node", "n0"]) == 0
    identity = json.loads(capsys.readouterr().out)["identity"]
    assert identity["stack"]["driver"] == {"version": "6.10.5"}
    assert identity["hardware"]["devices"]["n0-gpu2"] == {
        "node": "n0",
        "type": "MI300X",
        "memory_bytes": 206141652992,
    }


def test_a_tool_that_prints_something_else_is_told(path: Path, tmp_path: Path, capsys: Capture) -> None:
    program(path, "nvidia-smi", "echo No devices were found")
    assert "nvidia-smi shows text that starts with" in missing(capsys, path)["/hardware"]


def test_nics_of_a_stated_rank_map_are_taken_where_the_log_shows_the_rank(
    path: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "engine.log").write_text(line(0, 0) + line(1, 1))
    places = [
        {"rank": 0, "node": "node-a", "device": "a0", "nic": "a-nic0"},
        {"rank": 1, "node": "node-a", "device": "a7", "nic": "a-nic1"},
        {"rank": 2, "node": "node-b", "device": "b0", "nic": "b-nic0"},
    ]
    (tmp_path / "given.json").write_text(json.dumps({"placement": {"rank_map": places}}))
    more = ["--contract", contract(tmp_path), "--node", "node-a", "--log", str(tmp_path / "engine.log")]
    more += ["--world-size", "4", "--given", str(tmp_path / "given.json"), "--packages", str(tmp_path)]
    assert main(["identity", "collect", *more]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ranks_seen"]["ranks"] == [places[0], {"rank": 1, "node": "node-a", "device": "a1"}]
    assert [(one["what"], one["other"]["device"]) for one in report["conflicts"]] == [("/placement/rank_map/1", "a7")]
    assert "placement" not in report["identity"]


def test_what_a_person_states_is_not_told_as_missing(path: Path, tmp_path: Path, capsys: Capture) -> None:
    stated = {"identity": {"workload": {"name": "chat"}, "stack": {"firmware_digest": "sha256:" + "0" * 64}}}
    (tmp_path / "given.json").write_text(json.dumps(stated))
    told = missing(capsys, tmp_path, "--given", str(tmp_path / "given.json"))
    assert {"/workload", "/telemetry", "/stack/firmware_digest", "/stack/kernels_digest"} & set(told) == {
        "/telemetry",
        "/stack/kernels_digest",
    }
