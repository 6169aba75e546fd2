"""Samples of tools' output with our own values, and what tests ask of a file."""

from planner.errors import DocumentRefusedError, Problem
from planner.hardware import Hardware, read_hardware
from tests.shared import ROOT

SAMPLES = ROOT / "tests" / "data" / "hardware"

TWO = """\
        GPU0    GPU1    NIC0    NIC1    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      NV6     PIX     SYS     0-31            0               N/A
GPU1    NV6      X      SYS     NODE    32-63           1               N/A
NIC0    PIX     SYS      X      SYS
NIC1    SYS     NODE    SYS      X
"""
"""Two devices and two NICs of ``nvidia-smi topo -m`` as a paste shows them."""

PAIR = """\
        GPU0    GPU1    CPU Affinity    NUMA Affinity
GPU0     X      PHB     0-7             0
GPU1    PHB      X      0-7             0
"""


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def read(text: str | bytes) -> Hardware:
    return read_hardware(text.encode() if isinstance(text, str) else text)


def problems_of(text: str | bytes) -> tuple[Problem, ...]:
    """Return why the file is refused; none where it is read."""
    try:
        read(text)
    except DocumentRefusedError as refused:
        return refused.problems
    return ()


def findings(text: str | bytes) -> list[tuple[str, int | None, str, str]]:
    """Return code, line, expectation and finding of every problem."""
    return [(problem.code, problem.line, problem.expected, problem.found) for problem in problems_of(text)]


def islands(hardware: Hardware) -> dict[str, tuple[str | None, tuple[str, ...]]] | None:
    """Return kind and devices of each island."""
    if hardware.islands is None:
        return None
    return {island.id: (island.kind, island.devices) for island in hardware.islands}


def codes(hardware: Hardware) -> dict[tuple[str, str], str]:
    """Return the code of each pair, by the names that the file has."""
    names = {device.id: device.name for device in hardware.devices}
    names |= {nic.id: nic.name for nic in hardware.nics}
    return {(names[path.a], names[path.b]): path.code for path in hardware.paths}


def notes(hardware: Hardware) -> list[tuple[int | None, str]]:
    return [(note.line, note.sentence) for note in hardware.notes]
