"""A model's ``config.json`` and ``hf_quant_config.json`` (``planner.hypotheses.config``), as an importer sees them.

Read by the reader of ``topogate model``, which takes both files together and prints the sections of a contract and
estimates; here every file is on its own. The revision is in neither.
"""

import json
from collections.abc import Iterator
from typing import Any

from planner.hypotheses.config import ConfigModel, File, read_config
from planner.importers.model import Importer, Place, Recognised, Run
from planner.importers.sheet import Sheet
from planner.importers.source import Source
from planner.strict_json import read

__all__ = ["IMPORTER"]

_SIGNS = ("model_type", "architectures", "hidden_size", "num_hidden_layers", "text_config", "vocab_size")
_MODEL = "/identity/model/"
_PRECISION = "/identity/precision/"
_NAMES = {"weights": "precision_weights", "activations": "precision_activations", "kv_cache": "precision_kv_cache"}


def _recognise(source: Source) -> Recognised | None:
    first = source.first
    if not isinstance(first, dict):
        return None
    quantiser = first.get("quantization")
    if isinstance(quantiser, dict) and "quant_algo" in quantiser:
        return Recognised(version="hf_quant_config.json")
    return Recognised(version="config.json") if sum(sign in first for sign in _SIGNS) >= 2 else None


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    # Text around the value is none of it, and the strict reader knows nothing of such text.
    raw = json.dumps(source.first).encode() if source.skipped_lines else source.raw()
    found = read_config([File(name=source.name, reading=read(raw))])
    sheet = Sheet("run-1", {}, line=1)
    _take(sheet, found)
    for notice in found.notices:
        sheet.remark("import/model", notice)
    for part in found.missing:
        if part.field.startswith("/identity/"):
            sheet.ask_field("contract", part.field, part.asked)
    sheet.ask("model_revision", "Which revision (commit) of the model?")
    yield sheet.finish(("precision_weights", "precision_kv_cache"), asked=False)


def _take(sheet: Sheet, found: ConfigModel) -> None:
    pointers = {entry.field: entry.pointers for entry in found.sources}
    widths = found.model.get("attention_widths", {})
    for key, value in found.model.items():
        if key != "attention_widths":
            _put(sheet, f"model_{key}", value, _place(pointers, f"{_MODEL}{key}"))
    for key, value in widths.items():
        _put(sheet, f"model_{key}", value, _place(pointers, f"{_MODEL}attention_widths/{key}"))
    for key, name in _NAMES.items():
        if key in found.precision:
            sheet.put_text(name, str(found.precision[key]), _place(pointers, f"{_PRECISION}{key}"))


def _place(pointers: dict[str, tuple[str, ...]], field: str) -> Place:
    known = pointers.get(field, ())
    return Place(pointer=known[0]) if known else Place(line=1)


def _put(sheet: Sheet, name: str, value: Any, place: Place) -> None:
    if isinstance(value, bool):
        sheet.put_switch(name, value, place)
    elif isinstance(value, int):
        sheet.put(name, value, place, standing="stated")
    elif isinstance(value, str):
        sheet.put_text(name, value, place)


IMPORTER = Importer(id="hf-config", title="config.json of a model", recognise=_recognise, read=_read)
