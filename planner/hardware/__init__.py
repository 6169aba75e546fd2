"""Hardware from the files of tools: ``nvidia-smi topo -m``, ``rocm-smi --showtopo`` (text, JSON), NCCL topology XML.

A file is read or refused with every problem; what it does not say stays open. No reader opens a file.
"""

import re
from collections.abc import Callable, Container, Iterator
from itertools import count, islice

from planner.errors import DocumentRefusedError, Problem
from planner.hardware import nccl_topo, nvidia_topo, rocm_json, rocm_topo
from planner.hardware.assembly import assembled
from planner.hardware.declared import declared_hardware
from planner.hardware.fragment import Missing, fragment, missing
from planner.hardware.lines import MAX_PROBLEMS, decoded, refuse
from planner.hardware.model import Hardware, SeenNode
from planner.shown import shown

__all__ = ["SIGN", "Hardware", "Missing", "declared_hardware", "fragment", "missing", "numbered_nodes", "read_hardware"]

Reader = Callable[[str], tuple[SeenNode, ...]]

_JSON = re.compile(r"(?m)^\s*\{")
_XML_START = re.compile(r"\s*<(?:\?xml|!|system)")
_DECLARATION = re.compile(r"\A\s*<\?xml[^>\n]*\?>")
_SYSTEM = re.compile(r"<system[\s>]")
SIGN = re.compile("|".join((nvidia_topo.ROW, nvidia_topo.HEADER, rocm_topo.TITLE, _SYSTEM.pattern)), re.M)
"""What some line of a file that is no JSON has, together with ``GPU`` or ``<system``, where a reader may know it."""


def read_hardware(raw: bytes, *, node_ids: Iterator[str] | None = None) -> Hardware:
    """Return the hardware that a file shows.

    Nodes take their ids from ``node_ids`` in their order in the file, so that several files may share one iterator;
    without it they are ``node-0``, ``node-1`` and so on. The iterator has to last, and is left alone by a refusal.

    Raises:
        DocumentRefusedError: of no known format, or with every problem; the first 1,000 are listed.
    """
    text = decoded(raw)
    source, read, part = _reader(text)
    try:
        seen = read(part)
    except DocumentRefusedError as refused:
        if len(refused.problems) <= MAX_PROBLEMS:
            raise
        found = f"at least {len(refused.problems):,}"
        more = Problem("document/more_problems", "", f"at most {MAX_PROBLEMS:,} problems", found)
        raise DocumentRefusedError((*refused.problems[:MAX_PROBLEMS], more)) from None
    names = numbered_nodes() if node_ids is None else node_ids
    return assembled(source, seen, list(islice(names, len(seen))))


def numbered_nodes(taken: Container[str] = ()) -> Iterator[str]:
    """Yield ``node-0``, ``node-1`` and so on without those taken."""
    return (name for name in map("node-{}".format, count()) if name not in taken)


def _reader(text: str) -> tuple[str, Reader, str]:
    """Return the name of the format, its reader, and the part of the text to be read."""
    seen: list[tuple[str, Reader]] = []
    if _SYSTEM.search(text):
        seen.append((nccl_topo.SOURCE, nccl_topo.read_nccl_topo))
    if rocm_topo.looks_like(text):
        seen.append((rocm_topo.SOURCE, rocm_topo.read_rocm_topo))
    elif "(topology)" in text.lower() and _JSON.search(text):
        seen.append((rocm_json.SOURCE, rocm_json.read_rocm_json))
    if nvidia_topo.looks_like(text):
        seen.append((nvidia_topo.SOURCE, nvidia_topo.read_nvidia_topo))
    if not seen and text.lstrip().startswith("<"):
        seen.append((nccl_topo.SOURCE, nccl_topo.read_nccl_topo))
    if not seen:
        known = ", ".join(module.SOURCE for module in (nvidia_topo, rocm_topo, rocm_json, nccl_topo))
        refuse("hardware/format", f"one of {known}", shown(text.strip()) if text.strip() else "nothing")
    if len(seen) > 1:
        refuse("hardware/format", "the output of one tool", " and ".join(source for source, _ in seen))
    source, reader = seen[0]
    return source, reader, _xml_part(text) if reader is nccl_topo.read_nccl_topo else text


def _xml_part(text: str) -> str:
    """Return the XML at the lines where it stands: without its declaration, or cut out of a log or page around it."""
    if _XML_START.match(text) or not _SYSTEM.search(text):
        return _DECLARATION.sub("", text, count=1)
    start = text.index("<system")
    end = text.rfind("</system>") + len("</system>")
    return "\n" * text.count("\n", 0, start) + (text[start:end] if end > start else text[start:])
