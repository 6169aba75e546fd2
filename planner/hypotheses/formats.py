"""Number formats: how many bytes an element has, and which tensors a quantiser took.

Widths are exact: 4-bit formats are half a byte. A block format keeps one scale a block of rows x columns; where the
scale's own width is not stated, bytes cannot be counted and the width is asked for. Sources: OCP Microscaling Formats
v1.0 (MX: 32 elements, one E8M0 byte), NVIDIA ModelOpt (NVFP4: 16 elements, one E4M3 byte), DeepSeek-V3
``README_WEIGHTS.md`` (FP8: 128 x 128, one FP32).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from fractions import Fraction
from functools import cached_property

from planner.hypotheses.facts import MissingFactsError
from planner.hypotheses.tensors import Tensor
from planner.widths import WIDTHS

__all__ = ["Excluded", "Placed", "Quantisation", "WeightFormat", "tensors_bytes", "width_of"]

WHOLE_FORMATS = frozenset(name for name, width in WIDTHS.items() if width > 1)
"""Formats that need no scales, so that a model is wholly in them."""


def width_of(name: str, field: str) -> Fraction:
    """Return the bytes of one element of a format.

    Raises:
        MissingFactsError: the name is none that is known; ``field`` is asked for.
    """
    width = WIDTHS.get(name.strip().lower())
    if width is None:
        raise MissingFactsError([f"{field} (one of {', '.join(WIDTHS)})"])
    return width


Placed = tuple[str, Tensor]
"""A tensor with what stands before its name in a checkpoint."""

PLAIN_FORMAT = "format of weights that are not quantised (torch_dtype)"


@dataclass(frozen=True)
class Excluded:
    """Modules that a quantiser left alone, in the words of the configuration: names, parents, tails, or globs."""

    patterns: tuple[str, ...]

    @cached_property
    def _plain(self) -> frozenset[str]:
        return frozenset(pattern for pattern in self.patterns if "*" not in pattern)

    @cached_property
    def _globs(self) -> tuple[re.Pattern[str], ...]:
        globs = [pattern for pattern in self.patterns if "*" in pattern]
        return tuple(re.compile(translate(glob)) for pattern in globs for glob in (pattern, f"{pattern}.*"))

    def holds(self, name: str) -> bool:
        """Say whether the module ``name`` (as in ``model.layers.3.self_attn.q_proj``) is left alone."""
        steps = name.split(".")
        if any(".".join(steps[:end]) in self._plain for end in range(1, len(steps) + 1)):
            return True
        if any(".".join(steps[start:]) in self._plain for start in range(1, len(steps))):
            return True
        return any(glob.match(name) for glob in self._globs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantisation:
    """What a quantiser did: format, block of a scale in rows x columns, bytes of a scale, modules left alone.

    ``block`` None is one scale a tensor. ``scale_bytes`` and ``excluded`` None are "not stated".
    """

    format: str
    block: tuple[int, int] | None
    scale_bytes: int | None
    excluded: Excluded | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFormat:
    """Formats of a model's weights: ``plain`` for what no quantiser took (None: not stated)."""

    plain: str | None
    quantisation: Quantisation | None = None

    def missing(self) -> tuple[str, ...]:
        """Return what bytes of weights need and is not stated."""
        names = [] if self.plain else [PLAIN_FORMAT]
        if self.quantisation is not None:
            if self.quantisation.excluded is None:
                names.append("modules that the quantiser left alone")
            if self.quantisation.scale_bytes is None:
                names.append("bytes of a quantisation scale")
        return tuple(names)


def tensors_bytes(placed: Iterable[Placed], formats: WeightFormat) -> int:
    """Return the bytes of tensors: elements x width, and the scales of those that are quantised.

    Formula: ``rows * columns * width + ceil(rows / block rows) * ceil(columns / block columns) * scale bytes`` for
    each copy. What stands before a tensor's name finds it among the modules left alone.

    Raises:
        MissingFactsError: a format or the width of scales is not stated; with all that these tensors need.
    """
    tensors = list(placed)
    if any(tensor.matrix for _, tensor in tensors) and formats.missing():
        raise MissingFactsError(formats.missing())
    return sum(_tensor_bytes(prefix + tensor.name, tensor, formats) for prefix, tensor in tensors)


def _tensor_bytes(name: str, tensor: Tensor, formats: WeightFormat) -> int:
    quantisation = formats.quantisation
    if tensor.matrix and quantisation is not None and not _left_alone(name, quantisation):
        return _quantised_bytes(tensor, quantisation)
    plain = tensor.always or formats.plain
    if plain is None:
        raise MissingFactsError([PLAIN_FORMAT])
    return _whole_bytes(tensor.size * width_of(plain, "/identity/precision/weights"))


def _quantised_bytes(tensor: Tensor, quantisation: Quantisation) -> int:
    elements = _whole_bytes(tensor.size * width_of(quantisation.format, "/identity/precision/weights"))
    rows, columns = quantisation.block or (tensor.rows, tensor.columns)
    scales = -(-tensor.rows // rows) * -(-tensor.columns // columns) * tensor.copies
    return elements + scales * (quantisation.scale_bytes or 0)


def _left_alone(name: str, quantisation: Quantisation) -> bool:
    return quantisation.excluded is None or quantisation.excluded.holds(name)


def _whole_bytes(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
