"""A model's shape for a contract that is being written, from its ``config.json`` and what lies beside it.

Read by ``planner.hypotheses.config`` alone; every value keeps the key of the file that gave it, and what the files do
not state is left for the form to ask.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.errors import DocumentRefusedError, Problem
from planner.hypotheses.config import ConfigRefusedError, File, Source, read_config
from planner.strict_json import read

__all__ = ["SeenModel", "model_read"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenModel:
    """Members of a contract that files state, where each was read, and remarks."""

    fragment: dict[str, Any]
    origins: dict[str, str]
    notes: tuple[str, ...]


def model_read(files: Sequence[tuple[str, bytes]]) -> SeenModel:
    """Read a ``config.json``, with ``hf_quant_config.json`` beside it where weights are quantised by ModelOpt.

    Raises:
        ConfigRefusedError: with every problem of every file.
    """
    readings: list[File] = []
    refused: dict[str, tuple[Problem, ...]] = {}
    for name, raw in files:
        try:
            readings.append(File(name=name, reading=read(raw)))
        except DocumentRefusedError as error:
            refused[name] = error.problems
    if not files:
        refused["config.json"] = (Problem("document/missing_field", "", "a config.json, or its text", "nothing"),)
    if refused:
        raise ConfigRefusedError(refused)
    found = read_config(readings)
    return SeenModel(
        fragment={"identity": {"model": found.model, "precision": dict(found.precision)}},
        origins={source.field: _place(source) for source in found.sources if source.field.startswith("/identity/")},
        notes=found.notices,
    )


def _place(source: Source) -> str:
    rule = f": {source.rule}" if source.rule else ""
    return f"{source.file} {', '.join(source.pointers)}{rule}"
