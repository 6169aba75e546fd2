"""Peer links of one host in a topology of NCCL: from the links of each device to the pairs they join.

Rules kept: a link to another device joins the two and has to be counted the same at both ends; devices with links to
switches are joined; a link to a device that the file does not have, to a CPU, or to what the file does not explain
joins nothing and is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from planner.errors import Problem
from planner.hardware.model import Note, SeenPath

__all__ = ["PeerLink", "peer_paths"]

_SHARED_FABRIC = "fffffff"
"""Start of the address that stands for the switches of a fabric where the host does not see them."""
_SWITCH = "0x0680"
_CPU = "0x068001"
_CODES = {"nvlink": "NV", "xgmi": "XGMI"}


@dataclass(frozen=True, slots=True)
class PeerLink:
    """Links of a device to one target; ``target`` and ``tclass`` in small letters."""

    device: str
    target: str
    count: int
    tclass: str
    tag: str
    line: int


def peer_paths(
    devices: Sequence[tuple[str, str]], links: Sequence[PeerLink], problems: list[Problem], notes: list[Note]
) -> tuple[dict[frozenset[str], SeenPath], frozenset[str]]:
    """Return the joined pairs of ``devices`` (name, PCI address), and the devices on the shared fabric."""
    at: dict[str, list[str]] = {}
    for name, bus_id in devices:
        at.setdefault(bus_id, []).append(name)
    direct = [link for link in links if link.target in at]
    switched = [link for link in links if link.target not in at and _is_switch(link)]
    for link in links:
        if link.target not in at and not _is_switch(link):
            sentence = f"{link.device}: {link.count} links to {link.target}, which is no device or switch."
            notes.append(Note(sentence=sentence, line=link.line))
    found = {**_switched(switched), **_direct(direct, at, problems)}
    fabric = frozenset(link.device for link in switched if link.target.startswith(_SHARED_FABRIC))
    return found, fabric


def _is_switch(link: PeerLink) -> bool:
    if link.target.startswith(_SHARED_FABRIC):
        return True
    return link.tclass.startswith(_SWITCH) and link.tclass != _CPU


def _direct(
    links: Sequence[PeerLink], at: dict[str, list[str]], problems: list[Problem]
) -> dict[frozenset[str], SeenPath]:
    ends: dict[tuple[str, str], PeerLink] = {}
    for link in links:
        for other in at[link.target]:
            first = ends.setdefault((link.device, other), link)
            if first is not link:
                expected = f"the links from {link.device} to {other} once, as line {first.line} has"
                problems.append(Problem("hardware/repeated", "", expected, "once more", link.line))
    found: dict[frozenset[str], SeenPath] = {}
    for (a, b), link in ends.items():
        if a == b:
            continue
        back = ends.get((b, a))
        if back is None or back.count != link.count:
            expected = f"{link.count} links from {b} to {a}, as line {link.line} has from {a} to {b}"
            counted = f"{back.count}" if back is not None else "none"
            problems.append(
                Problem("hardware/symmetry", "", expected, counted, back.line if back is not None else link.line)
            )
        found.setdefault(frozenset((a, b)), _path(a, b, link.tag, link.count))
    return found


def _switched(links: Sequence[PeerLink]) -> dict[frozenset[str], SeenPath]:
    """Join the devices on switches by the smaller count of both; all switches of a host are one, as in NCCL.

    A device need not see the switches of another: boards are joined by switches of their own, and some are hidden.
    """
    counts: dict[str, int] = {}
    for link in links:
        counts[link.device] = counts.get(link.device, 0) + link.count
    return {frozenset((a, b)): _path(a, b, "nvlink", min(counts[a], counts[b])) for a, b in combinations(counts, 2)}


def _path(a: str, b: str, tag: str, count: int) -> SeenPath:
    code = f"NV{count}" if tag == "nvlink" else _CODES[tag]
    return SeenPath(a=a, b=b, code=code, kind=tag, links=count)
