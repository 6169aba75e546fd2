"""Scrapes of exporters as the bytes of a batch: what ``topogate observe convert`` prints, and what a server takes.

Rules kept: the same scrapes and words give the same bytes, so a span that is sent again is known by them; a mapping
that is no ``NAME=VALUE`` is refused with all others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from planner.errors import DocumentRefusedError, Problem
from planner.importers import Source
from planner.observations.prometheus import Places, segments_of
from planner.shown import shown
from planner.times import seconds_between

__all__ = ["MAPPINGS", "Converted", "Said", "batch_bytes", "places_of"]

MAPPINGS = {"group": "ENGINE=GROUP", "rank": "DEVICE=RANK", "link": "PORT=LINK"}
"""What says where a series belongs -> its form; group and rank are whole numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What scrapes do not say: of which topology they are, who took them, and when the first and the last was taken."""

    slot: str
    subject: str
    source: str
    started_at: str
    ended_at: str


@dataclass(frozen=True, slots=True)
class Converted:
    """A batch as bytes, and what of the scrapes is not in it."""

    raw: bytes
    notes: tuple[str, ...]


def places_of(given: Mapping[str, Sequence[str]], said: Said) -> Places:
    """Read mappings, such as ``{"group": ["0=0"], "rank": ["node-a/0=0"]}``.

    Raises:
        DocumentRefusedError: with every one that is none.
    """
    problems = list(_mapping_problems(given))
    if problems:
        raise DocumentRefusedError(tuple(problems))
    pairs = {name: dict(text.rsplit("=", 1) for text in texts) for name, texts in given.items()}
    seconds = seconds_between(said.started_at, said.ended_at)
    return Places(
        groups={name: int(value) for name, value in pairs.get("group", {}).items()},
        ranks={name: int(value) for name, value in pairs.get("rank", {}).items()},
        links=pairs.get("link", {}),
        seconds=float(seconds) if seconds else None,
    )


def _mapping_problems(given: Mapping[str, Sequence[str]]) -> Iterator[Problem]:
    for name, texts in given.items():
        for text in texts:
            key, parted, value = text.rpartition("=")
            is_number = name == "link" or (value.isascii() and value.isdigit() and len(value) < 10)
            if not (parted and key and value and is_number):
                yield Problem("observations/mapping", name, MAPPINGS[name], shown(text))


def _nothing(notes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what was expected and found where nothing of the scrapes belongs anywhere."""
    if not notes:
        yield "metrics of vLLM, SGLang, DCGM or the node exporter (traces and ncclras: observe slowest)", "none"
    yield from (("a series that belongs to a rank, group or link", note) for note in notes)


def batch_bytes(sources: Sequence[Source], said: Said, places: Places) -> Converted:
    """Return a batch of scrapes, the earliest first; several files have to be of one exporter. It is not judged.

    Raises:
        DocumentRefusedError: a file is no text, or packed in a way that is not read; or it says nothing.
    """
    first, *others = sources
    last = others[-1] if others else first
    if others:
        last.before = first
    for source in sources:
        source.check()
    found = segments_of(last, places)
    if not found.segments:
        raise DocumentRefusedError(tuple(Problem("observations/empty", "", *why) for why in _nothing(found.notes)))
    tree = {
        "schema": "topogate.observations/v1",
        "slot": said.slot,
        "subject": said.subject,
        "source": said.source,
        "started_at": said.started_at,
        "ended_at": said.ended_at,
        "segments": msgspec.to_builtins(found.segments),
    }
    return Converted(msgspec.json.encode(tree), found.notes)
