"""Figures that follow from a ``config.json`` alone: parameters, bytes of weights, what a token leaves in the cache."""

from collections.abc import Callable
from dataclasses import dataclass

from planner.hypotheses.config.model import ConfigModel
from planner.hypotheses.facts import MissingFactsError, Shape, all_missing
from planner.hypotheses.kv_cache import cached_elements
from planner.hypotheses.residency import active_parameters, parameters, weight_bytes

__all__ = ["ConfigFigure", "config_figures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFigure:
    """``value`` is None where the facts under ``missing`` are not stated."""

    name: str
    unit: str
    formula: str
    value: int | None
    missing: tuple[str, ...] = ()


def config_figures(found: ConfigModel) -> tuple[ConfigFigure, ...]:
    """Return every figure, or the names of what it needs; integers are exact."""
    shape = found.shape
    return (
        _figure(
            "parameters", "elements", "sum of all tensors of the text part", shape, lambda shape: parameters(shape)[0]
        ),
        _figure(
            "active_parameters",
            "elements",
            "parameters - (experts - experts per token) / experts * parameters of routed experts",
            shape,
            active_parameters,
        ),
        _figure(
            "weight_bytes",
            "bytes",
            "elements * width + scales of quantisation blocks",
            shape,
            lambda shape: weight_bytes(shape, found.formats),
        ),
        _figure(
            "kv_elements_per_token",
            "elements",
            "sum over layers of 2 * kv heads * head dim, or of kv_lora_rank + rope_head_dim",
            shape,
            lambda _: _cached(found),
        ),
    )


def _cached(found: ConfigModel) -> int:
    if found.shape.caches is None:
        raise MissingFactsError(found.cache_missing)
    return cached_elements(found.shape.caches, 1)


def _figure(name: str, unit: str, formula: str, shape: Shape, counted: Callable[[Shape], int]) -> ConfigFigure:
    try:
        return ConfigFigure(name=name, unit=unit, formula=formula, value=counted(shape))
    except MissingFactsError:
        missing = all_missing(shape, counted)
        return ConfigFigure(name=name, unit=unit, formula=formula, value=None, missing=missing)
