"""The canonical form of a JSON value (RFC 8785) and the digests over it.

``rfc8785`` is the reference. A value is brought into a form that msgspec's encoder writes in the same bytes, several
times faster: integral doubles become integers; any other double that RFC 8785 writes differently, and any object
with a key beyond ASCII (whose order is by UTF-16 units), is written by the reference and put in as it is. Property
tests hold this equal to the reference and to a second, independent implementation.
"""

import hashlib
import math
from collections.abc import Iterable
from typing import Any

import msgspec
import rfc8785

from planner.records.base import SAFE_INTEGER

__all__ = ["all_plain", "canonical_bytes", "content_id", "file_sha256", "prepared"]

_ENCODER = msgspec.json.Encoder(order="sorted")
_ATOMS = frozenset({str, bool, type(None), msgspec.Raw})
_SMALLEST_POSITIONAL = 1e-4
"""Below it the encoder and RFC 8785 may differ in where the exponent form begins."""


def canonical_bytes(tree: Any) -> bytes:
    """Return the RFC 8785 form of a JSON value made of dict, list or tuple, str, int, float, bool and None.

    Raises:
        TypeError: any other type, subclasses included.
        ValueError: an integer beyond +-(2^53 - 1), NaN, an infinity, or a lone surrogate.
    """
    return _ENCODER.encode(prepared(tree))


def content_id(tree: Any) -> str:
    """Return ``sha256:`` and the hex sha256 of the canonical form."""
    return file_sha256(canonical_bytes(tree))


def file_sha256(raw: bytes) -> str:
    """Return ``sha256:`` and the hex sha256 of bytes, as ``sha256sum`` computes it."""
    return "sha256:" + hashlib.sha256(raw).hexdigest()


def prepared(value: Any) -> Any:
    """Return an equal value that the encoder writes canonically; see ``canonical_bytes``.

    A ``msgspec.Raw`` inside is taken as canonical already.
    """
    kind = type(value)
    if kind is dict:
        return _prepared_object(value)
    if kind is list or kind is tuple:
        return _prepared_array(value)
    if kind is float:
        return _prepared_float(value)
    _check_atoms((value,), {kind})
    return value


def _prepared_object(value: dict[Any, Any]) -> Any:
    for key in value:
        if type(key) is not str:
            raise TypeError(f"a key must be text, not {type(key).__name__}")
        if not key.isascii():
            return msgspec.Raw(_reference(value))
    values = value.values()
    kinds = set(map(type, values))
    _check_atoms(values, kinds)
    if kinds.isdisjoint((dict, list, tuple, float)):
        return value
    return {key: prepared(item) for key, item in value.items()}


def _prepared_array(value: list[Any] | tuple[Any, ...]) -> Any:
    kinds = set(map(type, value))
    _check_atoms(value, kinds)
    if kinds.isdisjoint((dict, list, tuple)) and (float not in kinds or all_plain(value)):
        return value
    return [prepared(item) for item in value]


def all_plain(values: Iterable[Any]) -> bool:
    """Say whether the encoder writes every double among the values canonically."""
    doubles = [value for value in values if type(value) is float]
    if not doubles:
        return True
    sizes = [*map(abs, doubles)]
    # NaN compares as false with everything, so it hides from min and max; a sum it takes over.
    return (
        not math.isnan(sum(sizes))
        and not any(map(float.is_integer, doubles))
        and min(sizes) >= _SMALLEST_POSITIONAL
        and max(sizes) <= SAFE_INTEGER
    )


def _prepared_float(value: float) -> Any:
    if value.is_integer() and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return int(value)
    if _SMALLEST_POSITIONAL <= abs(value) <= SAFE_INTEGER:
        return value
    return msgspec.Raw(_reference(value))


def _check_atoms(values: Iterable[Any], kinds: set[type]) -> None:
    """Refuse what has no canonical form among the values that are not containers or doubles."""
    if int in kinds:
        integers = [value for value in values if type(value) is int]
        if max(integers) > SAFE_INTEGER or min(integers) < -SAFE_INTEGER:
            raise ValueError("an integer beyond 2^53 - 1 has no canonical form")
    others = kinds - _ATOMS - {int, float, dict, list, tuple}
    if others:
        raise TypeError(f"{sorted(kind.__name__ for kind in others)[0]} has no canonical form")


def _reference(value: Any) -> bytes:
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise ValueError(str(error)) from error
