"""Types and memory of devices where the text around a matrix lists them: ``nvidia-smi -L`` and ``--query-gpu``.

Rules kept: a list counts where it has exactly the devices of the matrix, by number; lists that contradict one another
say nothing. Reports that group numbers (``GPU 0,1: ...``) number as the runtime does, which may differ from the
driver, so they count only where all devices are of one type.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from planner.hardware.lines import Line
from planner.hardware.model import Note, SeenDevice, SeenNode

__all__ = ["with_listed"]

_LISTED = re.compile(
    r"\s*GPU (\d{1,4}(?:,\d{1,4})*): "
    r"(?:([!-~][ -~]{0,127}) \(UUID: \S{1,80}\)|((?:NVIDIA|Tesla|GeForce|Quadro|GRID) [ -~]{1,120}?))\s*"
)
"""With the UUID, or with a maker's name at the front: a log may say anything of ``GPU 0:``."""
_MIB = re.compile(r"(\d{1,9}) MiB")
_BYTES_PER_MIB = 2**20

Said = dict[int, dict[str, str]]
"""What is said of a device by its number: ``type``, and ``memory`` as the tool writes it."""


def with_listed(node: SeenNode, lines: Sequence[Line]) -> SeenNode:
    """Return the node with types and memory that the lines list, and with a note where a list does not count."""
    numbers = {int(device.name.removeprefix("GPU")): device for device in node.devices}
    said: Said = {}
    contradicted: set[str] = set()
    for line, about in (*_list(lines), *_table(lines)):
        for number, words in about.items():
            for what, word in words.items():
                if said.setdefault(number, {}).setdefault(what, word) != word:
                    contradicted.add(f"{what} of GPU{number}, line {line}")
    if not said:
        return node
    if set(said) != set(numbers) or contradicted:
        reason = f"contradicts itself, {min(contradicted)}" if contradicted else "has other devices than the matrix"
        return replace(node, notes=(*node.notes, Note(sentence=f"Types and memory not read: the list {reason}.")))
    return replace(node, devices=tuple(_told(device, said[number]) for number, device in numbers.items()))


def _told(device: SeenDevice, words: Mapping[str, str]) -> SeenDevice:
    memory = _MIB.fullmatch(words.get("memory", ""))
    size = int(memory[1]) * _BYTES_PER_MIB if memory is not None else None
    return replace(device, type=words.get("type"), memory_bytes=size or None)


def _list(lines: Sequence[Line]) -> Iterator[tuple[int, Said]]:
    """Yield what lines as ``GPU 0: type (UUID: ...)`` say; grouped numbers only where there is one group."""
    matches = [(line.number, match) for line in lines if (match := _LISTED.fullmatch(line.text)) is not None]
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
