"""Read ``rocm-smi --showtopo --json``: one text for each pair of devices, and for each device its NUMA node.

Rules kept: the tool writes each pair once, so every pair has to be there; a key of another kind is left. The devices
are those that a pair or a NUMA node names.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from planner.errors import DocumentRefusedError, Problem
from planner.hardware.matrix import MAX_NAMES
from planner.hardware.model import SeenDevice, SeenNode, SeenPath
from planner.hardware.rocm_topo import KINDS, xgmi_path
from planner.pointers import joined
from planner.shown import shown
from planner.strict_json import parse

__all__ = ["SOURCE", "read_rocm_json"]

SOURCE = "rocm-smi --showtopo --json"

_PAIR = re.compile(
    r"\(topology\) (link type|weight|hops) between drm devices ([0-9]{1,4}) and ([0-9]{1,4})", re.IGNORECASE
)
_CARD = re.compile(r"card([0-9]{1,4})")
_NUMA = "(topology) numa node"
_VALUES = {"weight": re.compile(r"[0-9]{1,6}|N/A"), "hops": re.compile(r"[0-9]{1,6}|N/A")}
Pairs = dict[tuple[int, int], dict[str, str]]


def read_rocm_json(text: str) -> tuple[SeenNode, ...]:
    """Return the one node that the text shows; lines of warnings may stand before the object.

    Raises:
        DocumentRefusedError: no strict JSON, or with every member that does not fit.
    """
    tree = parse(text[max(text.find("{"), 0) :].encode())
    problems: list[Problem] = []
    pairs = _pairs(tree, problems)
    numa = dict(_numa(tree, problems))
    numbers = sorted({number for pair in pairs for number in pair} | set(numa))
    typed = any("link type" in values for values in pairs.values())
    if not numbers:
        problems.append(Problem("hardware/no_device", "", 'members as "card0" or pairs of devices', shown(tree)))
    elif len(numbers) > MAX_NAMES:
        problems.append(Problem("hardware/size", "", f"at most {MAX_NAMES} devices", f"{len(numbers)}"))
    elif typed:
        problems.extend(_missing(numbers, pairs))
    if problems:
        raise DocumentRefusedError(tuple(problems))
    return (
        SeenNode(
            devices=tuple(SeenDevice(name=f"GPU{number}", numa=numa.get(number)) for number in numbers),
            paths=tuple(_paths(pairs)) if typed else (),
            peers_seen=typed or len(numbers) == 1,
        ),
    )


def _pairs(tree: Any, problems: list[Problem]) -> Pairs:
    """Return what is said of each pair, by the smaller number first."""
    system = tree.get("system") if isinstance(tree, dict) else None
    found: Pairs = {}
    for key, value in system.items() if isinstance(system, dict) else ():
        match = _PAIR.fullmatch(key)
        if match is None:
            continue
        what, at = match[1].lower(), joined(("system", key))
        a, b = sorted((int(match[2]), int(match[3])))
        if not isinstance(value, str) or not _is_value(what, value) or a == b:
            problems.append(Problem("hardware/cell", at, f"the {what} of two devices, as text", shown(value)))
        elif found.setdefault((a, b), {}).setdefault(what, value) != value:
            expected = f"{found[a, b][what]}, as the other order of the two says"
            problems.append(Problem("hardware/symmetry", at, expected, shown(value)))
    return found


def _is_value(what: str, value: str) -> bool:
    pattern = _VALUES.get(what)
    return value in (*KINDS, "N/A", "UNKNOWN") if pattern is None else pattern.fullmatch(value) is not None


def _numa(tree: Any, problems: list[Problem]) -> Iterator[tuple[int, str | None]]:
    for card, members in tree.items() if isinstance(tree, dict) else ():
        match = _CARD.fullmatch(card)
        if match is None or not isinstance(members, dict):
            continue
        value = next((value for key, value in members.items() if key.lower() == _NUMA), None)
        if value is not None and not re.fullmatch(r"-?[0-9]{1,6}|N/A", str(value)):
            problems.append(Problem("hardware/cell", joined((card,)), "a NUMA node as a number", shown(value)))
        yield int(match[1]), str(value) if str(value).isdecimal() else None


def _missing(numbers: list[int], pairs: Mapping[tuple[int, int], Mapping[str, str]]) -> Iterator[Problem]:
    for position, a in enumerate(numbers):
        for b in numbers[position + 1 :]:
            if "link type" not in pairs.get((a, b), {}):
                expected = f"the link type between DRM devices {a} and {b}"
                yield Problem("hardware/missing_row", "/system", expected, "none")


def _paths(pairs: Pairs) -> Iterator[SeenPath]:
    for (a, b), values in sorted(pairs.items()):
        yield xgmi_path(f"GPU{a}", f"GPU{b}", values["link type"], values.get("weight"), values.get("hops"))
