"""Types and memory of devices where the text around a matrix lists them: ``nvidia-smi -L`` and ``--query-gpu``.

Rules kept: a list counts where it has exactly the devices of the matrix, by number; lists that contradict one another
say nothing. Reports that group numbers (``GPU 0,1: ...``) number as the runtime does, which may differ from the
driver, so they count only where all devices are of one type.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from planner.hardware.lines import Line
from planner.hardware.model import Note, SeenDevice, SeenNode

__all__ = ["with_listed"]

_LISTED = re.compile(
    r"\s*GPU ([0-9]{1,4}(?:,[0-9]{1,4})*): "
    r"(?:([!-~][ -~]{0,127}) \(UUID: \S{1,80}\)|((?:NVIDIA|Tesla|GeForce|Quadro|GRID) [ -~]{1,120}?))\s*"
)
"""With the UUID, or with a maker's name at the front: a log may say anything of ``GPU 0:``."""
_MIB = re.compile(r"([0-9]{1,9}) MiB")
_BYTES_PER_MIB = 2**20
MAX_ENTRIES = 1024
"""Several lists of the devices of one host; a log may repeat them without end."""

Said = dict[int, dict[str, str]]
"""What is said of a device by its number: ``type``, and ``memory`` as the tool writes it."""


def with_listed(node: SeenNode, lines: Sequence[Line]) -> SeenNode:
    """Return the node with types and memory that the lines list, and with a note where a list does not count."""
    numbers = {int(device.name.removeprefix("GPU")): device for device in node.devices}
    entries = list(islice(chain(_list(lines), _table(lines)), MAX_ENTRIES + 1))
    if not entries:
        return node
    if len(entries) > MAX_ENTRIES:
        return _unread(node, f"has more than {MAX_ENTRIES:,} entries")
    said, contradiction = _together(entries)
    if contradiction is not None:
        return _unread(node, f"contradicts itself, {contradiction}")
    if set(said) != set(numbers):
        return _unread(node, "has other devices than the matrix")
    first = {number: line for line, about in reversed(entries) for number in about}
    told = (_told(device, said[number], first[number]) for number, device in numbers.items())
    return replace(node, devices=tuple(told))


def _together(entries: Sequence[tuple[int, Said]]) -> tuple[Said, str | None]:
    """Put together what the lines say, with the first place where they say something else of the same device."""
    said: Said = {}
    for line, about in entries:
        for number, words in about.items():
            known = said.setdefault(number, {})
            for what, word in words.items():
                if known.setdefault(what, word) != word:
                    return said, f"{what} of GPU{number}, line {line}"
    return said, None


def _unread(node: SeenNode, reason: str) -> SeenNode:
    return replace(node, notes=(*node.notes, Note(sentence=f"Types and memory not read: the list {reason}.")))


def _told(device: SeenDevice, words: Mapping[str, str], line: int) -> SeenDevice:
    memory = _MIB.fullmatch(words.get("memory", ""))
    size = int(memory[1]) * _BYTES_PER_MIB if memory is not None else None
    return replace(device, type=words.get("type"), memory_bytes=size or None, line=line)


def _list(lines: Sequence[Line]) -> Iterator[tuple[int, Said]]:
    """Yield what lines as ``GPU 0: type (UUID: ...)`` say; grouped numbers only where there is one group."""
    listed = ((line.number, match) for line in lines if (match := _LISTED.fullmatch(line.text)) is not None)
    matches = list(islice(listed, MAX_ENTRIES + 1))
    if any("," in match[1] for _, match in matches) and len({match[2] or match[3] for _, match in matches}) > 1:
        return
    for line, match in matches:
        yield line, {int(number): {"type": match[2] or match[3]} for number in match[1].split(",")}


def _table(lines: Sequence[Line]) -> Iterator[tuple[int, Said]]:
    """Yield the rows of a table of ``--query-gpu``, which has its fields in the first line."""
    fields: list[str] = []
    for line in lines:
        cells = [cell.strip() for cell in line.text.split(",")]
        if "index" in cells and len(cells) > 1:
            fields = cells
        elif len(cells) != len(fields):
            fields = []
        elif (index := cells[fields.index("index")]).isdecimal() and len(index) < 5:
            known = dict(zip(fields, cells, strict=True))
            words = {"type": known.get("name", ""), "memory": known.get("memory.total [MiB]", "")}
            yield line.number, {int(index): {what: word for what, word in words.items() if _is_plain(word)}}


def _is_plain(word: str) -> bool:
    return re.fullmatch(r"[!-~][ -~]{0,127}", word) is not None
