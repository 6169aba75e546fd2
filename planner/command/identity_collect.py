"""Gathers what a host says of itself for ``topogate identity collect``; what is not at hand is told, never guessed.

Rules kept: devices of a node are numbered in the order of their ids in the contract, as ``topogate launch`` numbers
them; they are matched only where the machine shows as many. What was read from the machine comes before what a person
gives; digests of lists of package files come last, because a contract may mean another digest.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from planner.command.base import input_file
from planner.command.host import Answer, Package, answer_of, folder_digest, host_name, packages_of
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError
from planner.hardware import fragment, read_hardware
from planner.identity_ranks import ranks_seen
from planner.identity_report import PLACEMENT, Conflict, Gathered
from planner.importers import Imported, Source, import_file
from planner.matrix.engines import NAMES
from planner.natural_order import natural
from planner.pointers import child, is_below, steps

__all__ = ["Asked", "gathered"]

SMI_QUERY = ("--query-gpu=index,uuid,name,driver_version,memory.total,memory.used", "--format=csv")
SMI_TOPO = ("topo", "-m")
ROCM_QUERY = ("--showproductname", "--showdriverversion", "--showmeminfo", "vram", "--json")
ROCM_TOPO = ("--showtopo", "--json")
ENGINES = ("vllm", "sglang", "tensorrt-llm")
PARTS = {"runtime": "nvidia-cuda-runtime", "collective_library": "nvidia-nccl"}
"""Parts of the stack by the beginning of the package that brings them."""
TOKENIZER_FILES = (
    *("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.json", "vocab.txt", "merges.txt", "chat_template.jinja", "chat_template.json"),
)
DEVICE_KEYS = {"device_type": "type", "device_memory_bytes": "memory_bytes"}
UNSEEN = {
    "/stack/firmware_digest": "no tool at hand prints it",
    "/stack/kernels_digest": "no tool at hand prints it",
    "/workload": "what is asked of the engine is not seen on its host",
    "/telemetry": "collectors are not asked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to look at. ``nodes`` is host name as logs print it -> node id; ``given`` is file name -> identity tree."""

    contract: ContractDocument | None = None
    node: str | None = None
    folders: tuple[str, ...] = ()
    model: str | None = None
    tokenizer: str | None = None
    logs: tuple[str, ...] = ()
    nodes: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    world_size: int | None = None
    timeout_s: float = 20


def gathered(asked: Asked) -> Gathered:
    """Return all that is at hand. Nothing is raised for what is not."""
    gathering = _Gathering(asked)
    gathering.accelerators()
    gathering.packages()
    gathering.model_files()
    gathering.logs()
    for name, tree in asked.given.items():
        gathering.nics(tree.get("placement"), name)
        gathering.found.put_tree({key: value for key, value in tree.items() if key != "placement"}, f"given in {name}")
    gathering.records()
    for what, because in UNSEEN.items():
        if not any(is_below(key, what) for key in gathering.found.values):
            gathering.found.lack(what, because)
    return gathering.found


class _Gathering:
    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.found = Gathered()
        self.bound: dict[str, Any] = (
            {} if asked.contract is None else msgspec.to_builtins(asked.contract.record.identity)
        )
        self.installed: dict[str, Package] = {}
        self.seen_devices: list[str] = []
        self.digests: list[tuple[str, str, str]] = []

    def accelerators(self) -> None:
        """Ask the driver's tools for devices, driver and links."""
        tools: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
            ("nvidia-smi", SMI_QUERY, SMI_TOPO),
            ("rocm-smi", ROCM_QUERY, ROCM_TOPO),
        )
        silent = []
        for program, query, topology in tools:
            answer = answer_of(program, query, self.asked.timeout_s)
            if answer.because:
                silent.append(answer.because)
                continue
            self._devices(program, import_file(Source(program, BytesIO(answer.output))))
            self._links(program, answer_of(program, topology, self.asked.timeout_s))
            return
        because = f"no accelerator can be seen: {'; '.join(silent)}"
        self.found.lack("/hardware", because)
        self.found.lack("/stack/driver", because)

    def _devices(self, program: str, imported: Imported) -> None:
        about = self._read_devices(program, imported)
        if not about:
            problems = "; ".join(problem.found for problem in imported.problems) or "no device"
            self.found.lack("/hardware", f"{program} shows {problems}")
            return
        self.seen_devices = sorted(about, key=natural)
        names = self._device_names()
        node = self._node()
        for seen, name in zip(self.seen_devices, names, strict=bool(names)):
            at = child("/hardware/devices", name)
            self.found.put(f"{at}/node", node, "the place of the device")
            for key, value in about[seen].items():
                self.found.put(f"{at}/{key}", value, f"{program}, {seen}")
        if names and self.bound and self.bound["hardware"]["nodes"].get(node) == {}:
            self.found.put(child("/hardware/nodes", node), {}, "the host itself")

    def _read_devices(self, program: str, imported: Imported) -> dict[str, dict[str, Any]]:
        """Return type and memory of every device that a tool shows, and take the driver's version."""
        about: dict[str, dict[str, Any]] = {}
        for value in imported.runs[0].values if imported.runs else ():
            if value.name == "driver_version":
                self.found.put("/stack/driver/version", value.value, program)
            elif value.name in DEVICE_KEYS:
                about.setdefault(value.of, {})[DEVICE_KEYS[value.name]] = value.value
        return about

    def _node(self) -> str:
        return self.asked.node or "node-0"

    def _device_names(self) -> list[str]:
        """Return the ids of the devices that were seen, in their order; none where they cannot be matched."""
        if not self.bound:
            return [f"{self._node()}-gpu{seen.rpartition('-')[2]}" for seen in self.seen_devices]
        if self.asked.node is None:
            self.found.lack("/hardware", "which node of the contract this host is was not said (--node)")
            return []
        names = self._of_node(self.asked.node)
        if len(names) != len(self.seen_devices):
            counts = f"{len(self.seen_devices)} devices are seen, {len(names)} are on {self.asked.node} in the contract"
            self.found.lack("/hardware", counts)
            return []
        return names

    def _of_node(self, node: str) -> list[str]:
        devices = self.bound.get("hardware", {}).get("devices", {})
        return sorted((name for name, device in devices.items() if device["node"] == node), key=natural)

    def _links(self, program: str, answer: Answer) -> None:
        if answer.because:
            self.found.lack("/hardware/islands", answer.because)
            return
        node = self._node()
        try:
            hardware = read_hardware(answer.output, node_ids=iter([node]))
        except DocumentRefusedError as error:
            self.found.lack("/hardware/islands", f"{program}: {error.problems[0].found}"[:400])
            return
        if not self.bound:
            self.found.put_tree({"hardware": fragment(hardware)["identity"]["hardware"]}, f"{program} topology")
            return
        ids = self._of_node(node)
        if len(ids) != len(hardware.devices):
            return
        renamed = dict(zip((device.id for device in hardware.devices), ids, strict=True))
        seen = {frozenset(renamed[name] for name in island.devices) for island in hardware.islands or ()}
        for name, island in self.bound["hardware"].get("islands", {}).items():
            if frozenset(island["devices"]) in seen:
                self.found.put(f"{child('/hardware/islands', name)}/devices", island["devices"], f"{program} topology")

    def packages(self) -> None:
        """Look at what is installed."""
        folders = self.asked.folders or tuple(sys.path)
        self.installed = packages_of(folders, (*ENGINES, *PARTS.values()))
        engines = [self.installed[name] for name in ENGINES if name in self.installed]
        if len(engines) == 1:
            self._engine(engines[0])
        else:
            names = ", ".join(package.name for package in engines) or "none"
            self.found.lack("/stack/engine", f"expected one engine among the installed packages, found {names}")
        for part, beginning in PARTS.items():
            held = [package for name, package in self.installed.items() if _is_of(name, beginning)]
            if len(held) == 1:
                self._part(f"/stack/{part}", held[0], "digest")
            else:
                count = "no package" if not held else f"{len(held)} packages"
                self.found.lack(f"/stack/{part}", f"{count} {beginning}-cu* installed")

    def _engine(self, package: Package) -> None:
        bound = self.bound.get("stack", {}).get("engine", {}).get("name", "")
        spelled = "".join(character for character in bound.lower() if character.isalnum())
        is_it = NAMES.get(spelled) is not None and NAMES.get(spelled) == NAMES[package.name.replace("-", "")]
        self.found.put("/stack/engine/name", bound if is_it else package.name, f"package {package.name}")
        self._part("/stack/engine", package, "build_digest")

    def _part(self, at: str, package: Package, digest: str) -> None:
        source = f"package {package.name} {package.version}"
        self.found.put(f"{at}/version", package.version, source)
        if package.record:
            self.digests.append((f"{at}/{digest}", package.record, f"{source}, its RECORD"))

    def records(self) -> None:
        """Take digests of lists of package files where nothing else was said."""
        for at, digest, source in self.digests:
            if at not in self.found.values:
                self.found.put(at, digest, source)

    def model_files(self) -> None:
        """Digest the files of the model and of its tokenizer, and read its ``config.json``."""
        folder = self.asked.model
        if folder is None:
            self.found.lack("/model", "no folder of the model was given (--model)")
        else:
            self._folder("/model/revision", "/model/files_digest", Path(folder), None)
            self._config(Path(folder))
        tokenizer = self.asked.tokenizer or folder
        if tokenizer is not None:
            self._folder("/model/tokenizer_revision", "/model/tokenizer_files_digest", Path(tokenizer), TOKENIZER_FILES)

    def _folder(self, revision: str, at: str, folder: Path, names: tuple[str, ...] | None) -> None:
        try:
            digest, count = folder_digest(folder, names)
        except OSError as error:
            self.found.lack(at, f"{folder}: {(error.strerror or str(error)).lower()}")
            return
        if not count:
            self.found.lack(at, f"{folder} has none of its files")
            return
        self.found.put(at, digest, f"{count} files of {folder}")
        wanted = self.bound.get("model", {}).get(steps(revision)[1], "")
        snapshot = folder.name if folder.parent.name == "snapshots" else ""
        if str(wanted).startswith("sha256:"):
            self.found.put(revision, digest, f"{count} files of {folder}")
        elif snapshot:
            self.found.put(revision, snapshot, f"name of the snapshot {folder}")
        else:
            self.found.lack(revision, f"{folder} is no snapshot that its revision names")
        repository = folder.parent.parent.name
        if snapshot and names is None and repository.startswith("models--"):
            self.found.put("/model/name", repository.removeprefix("models--").replace("--", "/"), f"name of {folder}")

    def _config(self, folder: Path) -> None:
        path = folder / "config.json"
        if not path.is_file():
            self.found.lack("/model", f"{folder} has no config.json")
            return
        with path.open("rb") as file:
            self._values(import_file(Source("config.json", file)), "config.json")

    def _values(self, imported: Imported, name: str) -> None:
        """Take what an importer read of the last run that fills the identity."""
        for run in imported.runs[-1:]:
            for value in run.values:
                key = _below_identity(value.field)
                if key is not None and value.standing in ("measured", "stated") and not value.of:
                    line = "" if value.place.line is None else f", line {value.place.line}"
                    self.found.put(key, value.value, f"{name}{line}")

    def logs(self) -> None:
        """Read engines' logs: what they print of themselves, and which rank runs where."""
        if not self.asked.logs:
            self.found.lack("/placement", "no log of the engine was given (--log)")
        for name in self.asked.logs:
            with input_file(name) as file:
                imported = import_file(Source(name, file))
                if imported.recognised:
                    self._values(imported, name)
            with input_file(name) as file:
                seen = ranks_seen(_lines(file), self.asked.world_size)
            if seen.because:
                self.found.lack("/placement", f"{name}: {seen.because}")
                continue
            self.found.world_size = seen.world_size
            for rank in seen.ranks:
                self._rank(rank.rank, rank.host, rank.device, f"{name}, line {rank.line}")
            if self.found.ranks:
                self.found.sources.setdefault(PLACEMENT, name)

    def _rank(self, rank: int, host: str, device: int, source: str) -> None:
        own = {host_name(), host_name().partition(".")[0]}
        node = self.asked.nodes.get(host) or (self.asked.node if host in own else None)
        if node is None:
            self.found.lack("/placement", f"which node {host} is was not said (--host)")
            return
        names = self._of_node(node) if self.bound else [f"{node}-gpu{device}"] * (device + 1)
        if device >= len(names):
            self.found.lack("/placement", f"{source}: device {device} of {node} is not in the contract")
            return
        if all(entry["rank"] != rank for entry in self.found.ranks):
            self.found.ranks.append({"rank": rank, "node": node, "device": names[device]})

    def nics(self, placement: Any, name: str) -> None:
        """Take the NICs of a stated rank map. Where ranks run is the log's to say; which NIC they use no log says."""
        if placement is None:
            return
        stated = {entry["rank"]: entry for entry in _entries(placement) if "rank" in entry}
        for seen in self.found.ranks:
            entry = stated.get(seen["rank"], {})
            if any(entry.get(key, seen[key]) != seen[key] for key in ("node", "device")):
                place = {key: seen[key] for key in ("node", "device")}
                self.found.conflicts.append(
                    Conflict(f"/placement/rank_map/{seen['rank']}", place, "the log", entry, f"given in {name}")
                )
            elif "nic" in entry:
                seen["nic"] = entry["nic"]


def _entries(placement: Any) -> list[dict[str, Any]]:
    entries = placement.get("rank_map") if isinstance(placement, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _is_of(name: str, beginning: str) -> bool:
    return name == beginning or name.startswith(f"{beginning}-cu")


def _below_identity(pointer: str | None) -> str | None:
    path = steps(pointer or "")
    if path[:1] == ("identity",):
        return "/" + "/".join(path[1:])
    return "/" + "/".join(path[2:]) if path[:1] == ("identities",) else None


def _lines(file: Any) -> Iterator[tuple[int, str]]:
    read: Callable[[int], bytes] = file.readline
    number = 0
    while raw := read(2**20):
        number += 1
        yield number, raw.decode("utf-8", "replace")
