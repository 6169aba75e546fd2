"""``topogate hardware``: print the hardware that files of tools show, as a part of a contract, and what to ask for.

Every file is read on its own; nodes are numbered over all of them, so that their parts can be put together.
"""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain

import msgspec

from planner.command.base import Command, Exit, Refused, add_format, json_line, opened, print_refused
from planner.hardware import Hardware, fragment, missing, numbered_nodes, read_hardware
from planner.hardware.model import Device, Note
from planner.shown import printable

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,47}")
"""Shorter than an id of a document may be: ids of devices, NICs and links are made from it."""


def _node_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ArgumentTypeError(f"expected 1 to 48 of a-z, 0-9, '.', '_', '-', first a letter or digit, found {text!r}")
    return text


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="nvidia-smi topo -m, rocm-smi --showtopo (text or JSON), NCCL topology XML; - is standard input",
    )
    parser.add_argument(
        "--node",
        action="append",
        default=[],
        type=_node_id,
        metavar="ID",
        help="id of the next node, in the order of the files (else node-0, node-1, ...)",
    )
    add_format(parser)


def _run(arguments: Namespace) -> int:
    if len(set(arguments.node)) < len(arguments.node):
        print("topogate: --node: expected another id for every node, found one twice", file=sys.stderr)
        return Exit.BAD_INPUT
    print_hardware = _print_json if arguments.format == "json" else _print_text
    node_ids = chain(arguments.node, numbered_nodes(taken=arguments.node))
    accepted = True
    for name in arguments.files:
        refused: Refused = {}
        hardware = opened(lambda raw: read_hardware(raw, node_ids=node_ids), name, refused)
        if hardware is None:
            print_refused(refused, arguments.format)
            accepted = False
        else:
            print_hardware(name, hardware)
    return Exit.OK if accepted else Exit.BAD_INPUT


def _print_json(name: str, hardware: Hardware) -> None:
    seen = msgspec.to_builtins(hardware)
    shown = {key: seen[key] for key in ("source", "devices", "nics", "paths", "notes")}
    asked = [asdict(entry) for entry in missing(hardware)]
    print(json_line({"file": name, "ok": True, **shown, "fragment": fragment(hardware), "missing": asked}))


def _print_text(name: str, hardware: Hardware) -> None:
    print(f"{printable(name)}: {hardware.source}")
    for line in _lines(hardware):
        print(f"  {line}")


def _lines(hardware: Hardware) -> Iterator[str]:
    for node in hardware.nodes:
        devices = [device for device in hardware.devices if device.node == node.id]
        nics = sum(nic.node == node.id for nic in hardware.nics)
        yield f"node {node.id}: {len(devices)} devices, {nics} NICs"
        yield from (f"  {_device_line(device)}" for device in devices)
    for island in hardware.islands or ():
        yield f"island {island.id}: {island.kind}, {len(island.devices)} devices: {', '.join(island.devices)}"
    for entry in missing(hardware):
        count = f" ({len(entry.ids)})" if len(entry.ids) > 1 else ""
        when = "always" if entry.always else "where a gate needs it"
        yield f"to be asked, {when}: {entry.pointer}{count}: {entry.question}"
    yield from (_note_line(note) for note in hardware.notes)


def _device_line(device: Device) -> str:
    parts = [f"{device.id} ({device.name})"]
    if device.numa is not None:
        parts.append(f"NUMA {device.numa}")
    if device.nearest_path is not None:
        parts.append(f"{device.nearest_path} to {', '.join(device.nearest_nics)}")
    return ", ".join(parts)


def _note_line(note: Note) -> str:
    return f"note: {note.sentence}" if note.line is None else f"note: line {note.line}: {note.sentence}"


COMMAND = Command(id="hardware", help="read the hardware that files of tools show", configure=_configure, run=_run)
