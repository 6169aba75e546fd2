"""Texts of documents that spell a variable of the launch: ``envsubst`` has no escape, and would fill them in.

Rule kept: the same for every target. A script quotes what it writes, but whoever reads ``${TOPOGATE_IMAGE}`` in one
cannot tell a decided text from what is left to fill in.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from planner.launch.base import Engine, Label, Start
from planner.matrix.words import Variable, Word

__all__ = ["OWN_SETTING", "spelled"]

OWN_SETTING = "cache_transceiver_config"
"""The one setting of an engine's file that holds a variable, and no text of a document."""
_SPELLS = re.compile(r"\$\{?TOPOGATE_")


def spelled(label: Label, engines: Iterable[Engine], sentences: Iterable[str]) -> str | None:
    """Return the first text of a document that spells a variable, None where none does."""
    texts = [*_of_label(label), *sentences]
    for engine in engines:
        texts += engine.left
        texts += _of_settings({name: value for name, value in engine.settings.items() if name != OWN_SETTING})
        texts += [text for start in engine.starts for text in _of_start(start)]
    return next((text for text in texts if _SPELLS.search(text)), None)


def _of_label(label: Label) -> Iterator[str]:
    yield from (value for value in asdict(label).values() if value is not None)


def _of_start(start: Start) -> Iterator[str]:
    yield from (start.node, *start.devices)
    for word in (*start.words, *start.environment.values()):
        yield from _literal(word)


def _literal(word: Word) -> Sequence[str]:
    return [part for part in (word if isinstance(word, tuple) else (word,)) if not isinstance(part, Variable)]


def _of_settings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _of_settings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_settings(inner)
