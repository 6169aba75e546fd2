"""From files to a shape, number formats, and both as sections of a contract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.errors import DocumentRefusedError, Problem
from planner.hypotheses.config.dimensions import read_shape
from planner.hypotheses.config.keys import File, Keys, Missing, Source
from planner.hypotheses.config.quantisation import formats
from planner.hypotheses.config.section import MODEL, asked_for, model_section
from planner.hypotheses.facts import Shape
from planner.hypotheses.formats import Excluded, WeightFormat

__all__ = ["ConfigModel", "ConfigRefusedError", "read_config"]

TEXT_PARTS = ("text_config", "llm_config", "language_config")
CACHE_FIELDS = frozenset(
    {
        *(f"{MODEL}/{name}" for name in ("layers", "kv_heads", "head_dim")),
        *("layer_types", "sliding_window", "block_configs"),
    }
)
NOTICES = {
    "vision_config": "the vision part is not counted",
    "audio_config": "the audio part is not counted",
    "num_nextn_predict_layers": "next-token layers of the checkpoint are not counted",
    "mtp_num_hidden_layers": "next-token layers of the checkpoint are not counted",
    "index_topk": "the indexer of sparse attention and its cache are not counted",
    "mamba_num_heads": "states of recurrent layers are not counted",
    "num_attention_heads_per_layer": "heads differ from layer to layer; the section has one number",
    "linear_num_value_heads": "states of recurrent layers are not counted",
}


class ConfigRefusedError(DocumentRefusedError):
    """Files were not accepted; ``by_file`` holds the problems of each."""

    def __init__(self, by_file: Mapping[str, tuple[Problem, ...]]) -> None:
        super().__init__(tuple(problem for problems in by_file.values() for problem in problems))
        self.by_file = dict(by_file)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigModel:
    """What files say of a model: its shape, its formats, and both as sections of a contract."""

    shape: Shape
    formats: WeightFormat
    model: dict[str, Any]
    precision: dict[str, str | int]
    sources: tuple[Source, ...]
    missing: tuple[Missing, ...]
    notices: tuple[str, ...]

    @property
    def cache_missing(self) -> tuple[str, ...]:
        """Return the names that the KV cache needs."""
        return tuple(part.field for part in self.missing if part.field in CACHE_FIELDS or part.field.startswith("KV "))


def read_config(
    files: Sequence[File], *, scale_bytes: int | None = None, left_alone: tuple[str, ...] = ()
) -> ConfigModel:
    """Read the shape from a ``config.json`` and, beside it, ModelOpt's ``hf_quant_config.json``.

    ``scale_bytes`` (of one quantisation scale) and ``left_alone`` (modules that the quantiser left alone) are stated by
    the caller; they count only where the files do not state them.

    Raises:
        ConfigRefusedError: a file is no object, or holds nothing of a model, or a value that is read is of another
            type or out of range; with every problem of every file.
    """
    no_object = (Problem("document/type", "", "an object", "another JSON value"),)
    strange = {file.name: no_object for file in files if not isinstance(file.reading.tree, dict)}
    if strange:
        raise ConfigRefusedError(strange)
    config = next((file for file in files if not _is_quantiser(file)), files[0])
    keys = Keys(config, _scopes(config.reading.tree))
    quantiser = _quantiser(files, config)
    shape, missing = read_shape(keys)
    found = formats(keys, quantiser)
    quantisation = found.weights.quantisation
    if quantisation is not None:
        stated = replace(
            quantisation,
            scale_bytes=quantisation.scale_bytes or scale_bytes,
            excluded=quantisation.excluded or (Excluded(left_alone) if left_alone else None),
        )
        found = replace(found, weights=replace(found.weights, quantisation=stated))
    readers = [keys] if quantiser is None else [keys, quantiser]
    sources = tuple(dict.fromkeys(source for reader in readers for source in reader.sources))
    if not (sources or keys.problems or keys.has("model_type")):
        # Some other JSON file: an empty shape would look like an answer.
        keys.refuse("", "document/schema", "a config.json of a model", config.reading.tree)
    _check(readers)
    unread = [flaw for reader in readers for flaw in reader.flaws()[1]]
    notices = [] if quantiser else ["no quantiser is named; where weights are quantised, hf_quant_config.json says how"]
    notices += [text for key, text in NOTICES.items() if keys.value(key)]
    notices += [f"{flaw.pointer} is not read: expected {flaw.expected}, found {flaw.found}" for flaw in unread]
    return ConfigModel(
        shape=shape,
        formats=found.weights,
        model=model_section(shape),
        precision=found.precision,
        sources=sources,
        missing=tuple(dict.fromkeys([*asked_for(shape, found.weights), *missing, *found.missing])),
        notices=tuple(dict.fromkeys(notices)),
    )


def _check(readers: list[Keys]) -> None:
    refused: dict[str, list[Problem]] = {}
    for reader in readers:
        for problem in (*reader.problems, *reader.flaws()[0]):
            refused.setdefault(reader.name, []).append(problem)
    if refused:
        raise ConfigRefusedError({name: tuple(dict.fromkeys(problems)) for name, problems in refused.items()})


def _is_quantiser(file: File) -> bool:
    return isinstance(file.reading.tree.get("quantization"), dict) and "model_type" not in file.reading.tree


def _scopes(tree: dict[str, Any]) -> list[str]:
    return [*(f"/{name}" for name in TEXT_PARTS if isinstance(tree.get(name), dict)), ""]


def _quantiser(files: Sequence[File], config: File) -> Keys | None:
    for file in files:
        if _is_quantiser(file):
            return Keys(file, ("/quantization",))
    scopes = [f"{scope}/quantization_config" for scope in _scopes(config.reading.tree)]
    found = Keys(config, scopes)
    return found if found.has("quant_method", "quant_algo", "config_groups") else None
