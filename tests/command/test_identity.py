"""``topogate identity``: run for real, with small programs in place of the driver's tools on the path."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from planner.command import main
from planner.command.host import answer_of, folder_digest, host_name, packages_of
from planner.identity_environment import environment_of
from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism
from tests.planner.documents import raw
from tests.planner.factories import IDENTITY, a_contract, an_evidence

Capture = pytest.CaptureFixture[str]
QUERY = """index, uuid, name, driver_version, memory.total [MiB], memory.used [MiB]
0, GPU-00000000-0000-0000-0000-00000000000a, accel, 590.44, 81920 MiB, 10 MiB
1, GPU-00000000-0000-0000-0000-00000000000b, accel, 590.44, 81920 MiB, 12 MiB
"""
TOPOLOGY = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV18\t0-7\nGPU1\tNV18\t X \t0-7\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder the whole path; programs of tests are put there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def program(folder: Path, name: str, script: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def nvidia(folder: Path) -> None:
    (folder / "query").write_text(QUERY)
    (folder / "topology").write_text(TOPOLOGY)
    script = f'case "$1" in topo) read -r x < /dev/null; /bin/cat {folder}/topology;; *) /bin/cat {folder}/query;; esac'
    program(folder, "nvidia-smi", script)


def package(folder: Path, name: str, version: str) -> None:
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{name}/__init__.py,sha256=abc,0\n")


def collected(capsys: Capture, *arguments: str) -> Any:
    assert main(["identity", "collect", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_machine_without_accelerators_says_so(path: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["identity", "collect", "--packages", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (report["schema"], report["host"], report["identity"]) == ("topogate.identity/v1", host_name(), {})
    none = "no accelerator can be seen: there is no nvidia-smi on the path; there is no rocm-smi on the path"
    assert report["missing"][:3] == [
        {"what": "/hardware", "because": none},
        {"what": "/stack/driver", "because": none},
        {"what": "/stack/engine", "because": "expected one engine among the installed packages, found none"},
    ]
    assert f"not at hand: /hardware: {none}" in err


def test_devices_driver_and_packages_with_their_sources(path: Path, tmp_path: Path, capsys: Capture) -> None:
    nvidia(path)
    site = tmp_path / "site"
    for name, version in (("vllm", "0.14.1"), ("nvidia_nccl_cu12", "2.30.1"), ("nvidia_cuda_runtime_cu12", "12.8")):
        package(site, name, version)
    report = collected(capsys, "--packages", str(site), "--node", "n0")
    devices = {"node": "n0", "type": "accel", "memory_bytes": 81920 * 2**20}
    assert report["identity"]["hardware"]["devices"] == {"n0-gpu0": devices, "n0-gpu1": devices}
    assert report["identity"]["hardware"]["islands"]["n0-island-0"]["devices"] == ["n0-gpu0", "n0-gpu1"]
    stack = report["identity"]["stack"]
    record = ["/usr/bin/sha256sum", str(site / "vllm-0.14.1.dist-info" / "RECORD")]
    digest = subprocess.run(record, capture_output=True, check=True, text=True).stdout.split()[0]
    assert stack["engine"] == {"name": "vllm", "version": "0.14.1", "build_digest": f"sha256:{digest}"}
    assert (stack["driver"], stack["runtime"]["version"]) == ({"version": "590.44"}, "12.8")
    assert report["sources"]["/stack/collective_library/version"] == "package nvidia-nccl-cu12 2.30.1"
    assert report["sources"]["/hardware/devices/n0-gpu1/type"] == "nvidia-smi, gpu-1"


def test_programs_that_fail_hang_or_print_without_end_are_told(path: Path) -> None:
    program(path, "fails", "exit 9")
    program(path, "hangs", "/bin/sleep 60 & wait")
    program(path, "pours", "/usr/bin/head -c 9000000 /dev/zero")
    (path / "broken").write_bytes(b"\x00")
    (path / "broken").chmod(0o755)
    assert answer_of("fails", (), 5).because == "fails ended with 9"
    assert answer_of("hangs", ("-q",), 0.2).because == "hangs -q gave no answer in 0.2 s"
    assert answer_of("pours", (), 20).because == "pours printed more than 8,388,608 bytes"
    assert answer_of("broken", (), 5).because == "broken cannot be started: exec format error"
    assert answer_of("absent", (), 5).because == "there is no absent on the path"


def test_the_digest_of_a_folder_is_what_sha256sum_makes_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "deep").mkdir(parents=True)
    for name, text in (("b.bin", "two"), ("a.json", "{}"), ("deep/tokenizer.json", "t")):
        (folder / name).write_text(text)
    (folder / "link.json").symlink_to(folder / "a.json")
    line = "find -L . -type f | sed 's,^./,,' | LC_ALL=C sort | xargs sha256sum | sha256sum"
    made = subprocess.run(["/bin/bash", "-c", line], cwd=folder, capture_output=True, check=True, text=True)
    assert folder_digest(folder) == (f"sha256:{made.stdout.split()[0]}", 4)
    assert folder_digest(folder, ("tokenizer.json",))[1] == 1
    with pytest.raises(OSError, match="No such file"):
        folder_digest(tmp_path / "absent")


def test_a_snapshot_names_its_model_and_revision(path: Path, tmp_path: Path, capsys: Capture) -> None:
    snapshot = tmp_path / "models--example--dense" / "snapshots" / ("c" * 40)
    snapshot.mkdir(parents=True)
    config = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    (snapshot / "config.json").write_text(json.dumps({**config, "num_key_value_heads": 2, "vocab_size": 100}))
    (snapshot / "tokenizer.json").write_text("{}")
    model = collected(capsys, "--packages", str(tmp_path), "--model", str(snapshot))["identity"]["model"]
    assert (model["name"], model["revision"], model["tokenizer_revision"]) == ("example/dense", "c" * 40, "c" * 40)
    assert (model["layers"], model["kv_heads"]) == (2, 2)
    assert model["files_digest"] == folder_digest(snapshot)[0]


def test_secrets_are_neither_named_nor_held() -> None:
    found = environment_of(
        {
            "NCCL_DEBUG": "INFO",
            "VLLM_API_KEY": "x",
            "HF_TOKEN": "hf_" + "a" * 30,
            "VLLM_ARGS": "--api-key abcdefghijkl --tp 2",
            "UCX_URL": "https://user:secretpass@host",
            "HOME": "/home/someone",
        }
    )
    assert found.keys() == {"NCCL_DEBUG", "UCX_URL", "VLLM_ARGS"}
    assert "abcdefghijkl" not in found["VLLM_ARGS"]
    assert "secretpass" not in found["UCX_URL"]


def test_the_environment_of_a_process_is_read(path: Path, tmp_path: Path, capsys: Capture) -> None:
    with subprocess.Popen(["/bin/sleep", "60"], env={"NCCL_IB_HCA": "mlx5_0", "API_KEY": "x"}) as process:
        report = collected(capsys, "--packages", str(tmp_path), "--pid", str(process.pid))
        process.kill()
    assert report["environment"] == {"NCCL_IB_HCA": "mlx5_0"}
    assert main(["identity", "collect", "--pid", "4194304"]) == 2


def test_a_damaged_package_is_passed_over(tmp_path: Path) -> None:
    package(tmp_path, "sglang", "0.5.23")
    (tmp_path / "odd-1.dist-info").mkdir()
    assert list(packages_of([str(tmp_path)], ("sglang", "odd"))) == ["sglang"]


def line(rank: int, device: int) -> str:
    comm = f"comm 0x55aa rank {rank} nranks 4 cudaDev 0 nvmlDev {device} busId 5d000 commId 0xabc"
    return f"{host_name()}:42:43 [0] NCCL INFO ncclCommInitRank {comm} - Init COMPLETE\n"


def reports(path: Path, tmp_path: Path, capsys: Capture, contract: str) -> list[str]:
    """Collect on both nodes of the example; its NICs, links and workload are given."""
    nvidia(path)
    given = tmp_path / "given.json"
    stated = {key: IDENTITY[key] for key in ("model", "precision", "workload", "hardware")}
    given.write_text(json.dumps({"identity": {**stated, "stack": {"engine": {"name": "vllm", "version": "1"}}}}))
    made = []
    for node, first in (("node-a", 0), ("node-b", 2)):
        log = tmp_path / f"{node}.log"
        log.write_text(line(first, 0) + line(first + 1, 1))
        more = ["--contract", contract, "--node", node, "--given", str(given), "--log", str(log), "--world-size", "4"]
        (tmp_path / f"{node}.json").write_text(json.dumps(collected(capsys, "--packages", str(path), *more)))
        made.append(str(tmp_path / f"{node}.json"))
    return made


def test_what_was_launched_is_checked_against_what_was_decided(path: Path, tmp_path: Path, capsys: Capture) -> None:
    contract = a_contract(("/identity/stack/engine/name", "vllm"))
    evidence = an_evidence(contract, ("/trials/t/topology/layout", "vllm"))
    for place in evidence["trials"]["t"]["rank_map"]:
        del place["nic"]
    files = {"contract": raw(contract), "evidence": raw(evidence)}
    read = read_contract(files["contract"])
    files["plan"] = plan_bytes(plan_parallelism(read, read_evidence(files["evidence"], read), "2026-10-02T00:00:00Z"))
    for name, text in files.items():
        (tmp_path / f"{name}.json").write_bytes(text)
    documents = [str(tmp_path / f"{name}.json") for name in files]
    made = reports(path, tmp_path, capsys, documents[0])
    assert json.loads(Path(made[0]).read_text())["sources"]["/placement"] == str(tmp_path / "node-a.log")
    assert main(["identity", "check", *documents, *made]) == 0
    assert capsys.readouterr().out == "yes: every key and every rank is what was decided\n"
    assert main(["identity", "check", *documents, made[0]]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "missing /placement/rank_map_digest (/placement): decided "
        f'"{json.loads(files["plan"])["selected"]["rank_map_digest"]}", found nothing',
        *(
            f"missing rank {rank} {what}: decided {decided}, found none"
            for rank, device in enumerate(("a0", "a1", "b0", "b1"))
            for what, decided in (("node", f"node-{device[0]}"), ("device", device))
        ),
    ]
    labelled = json.loads(Path(made[0]).read_text())
    labelled["environment"] = {"TOPOGATE_RANK_MAP": "sha256:other"}
    (tmp_path / "labelled.json").write_text(json.dumps(labelled))
    assert main(["identity", "check", *documents, str(tmp_path / "labelled.json"), made[1]]) == 1
    assert capsys.readouterr().out.startswith(f"differs /environment/{host_name()}/TOPOGATE_RANK_MAP (/environment): ")
    moved = json.loads(Path(made[1]).read_text())
    moved["identity"]["stack"]["driver"]["version"] = "580.1"
    moved["ranks_seen"]["ranks"][0]["device"], moved["ranks_seen"]["ranks"][1]["device"] = "b1", "b0"
    Path(made[1]).write_text(json.dumps(moved))
    assert main(["identity", "check", *documents, *made]) == 1
    assert "reports differ: /stack/driver/version: '590.44' (" in capsys.readouterr().err
    moved["identity"]["stack"]["driver"]["version"] = "590.44"
    Path(made[1]).write_text(json.dumps(moved))
    assert main(["identity", "merge", *made]) == 0
    (tmp_path / "whole.json").write_text(capsys.readouterr().out)
    assert main(["identity", "check", *documents, str(tmp_path / "whole.json"), "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert [(one["key"], one["how"], one["section"]) for one in answer["keys"]] == [
        ("/placement/rank_map_digest", "differs", "/placement")
    ]
    assert [(one["rank"], one["what"], one["found"]) for one in answer["ranks"]] == [
        (2, "device", "b1"),
        (3, "device", "b0"),
    ]


@pytest.mark.parametrize("text", ["[]", '{"a": 1, "a": 2}', "no"])
def test_what_is_given_has_to_be_an_identity(text: str, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "given.json").write_text(text)
    assert main(["identity", "collect", "--given", str(tmp_path / "given.json")]) == 2
    assert capsys.readouterr().out == ""
    assert os.listdir(tmp_path) == ["given.json"]
