"""Strict JSON: bytes in, a tree of dict, list, str, int, float, bool and None out, or every problem at once.

Refused, with ``json/...`` codes: more than 64 MiB or 8,000,000 values, a byte-order mark, bytes that are not UTF-8,
nesting deeper than 64, anything the grammar of RFC 8259 does not allow, a second document after the first, a key
twice in one object, NaN and infinities, numbers beyond a double's range or so near 0 that they would become 0,
integers beyond +-(2^53 - 1) and lone surrogates. ``document/precision`` refuses a literal that is not the shortest
decimal of its double in value (spec 1a, rule 28).

``-0`` is kept as the double -0.0, so that an integer field refuses it. Not handled here: what the values mean.
"""

import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Any, NoReturn

from planner.errors import DocumentRefusedError, Problem
from planner.pointers import child
from planner.records.base import SAFE_INTEGER
from planner.shown import shown

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_VALUES", "Reading", "nesting", "parse", "read"]

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 64
MAX_VALUES = 8_000_000
"""Bounds memory: 64 MiB of ``[],[],...`` would otherwise become gigabytes of lists."""
MAX_NUMBER_LENGTH = 1024

_ALWAYS_EXACT = 16
"""A plain decimal of up to 15 digits (and a point) is always the value of its double's shortest decimal."""

_SAFE_RANGE = f"an integer from -{SAFE_INTEGER} to {SAFE_INTEGER}"
_FIRST_WITH_EXPONENT = 1e21
"""From here the canonical form has an exponent; below, a whole double becomes an integer, which has to be safe."""

_BOM = b"\xef\xbb\xbf"
_KEPT = b'"\\[]{}'
_DROPPED = bytes(set(range(256)) - set(_KEPT))
_STRING = re.compile(rb'"[^"]*(?:"|\Z)')
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Reading:
    """Bytes that are JSON, and what is wrong with single values in them; stand-ins take their place in ``tree``."""

    raw: bytes
    tree: Any
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class _Flaw:
    """Stands in the tree for a number that is refused until its pointer is known."""

    code: str
    expected: str
    found: str
    stand_in: Any


class _Repeated(list[tuple[str, Any]]):
    """The pairs of an object in which a key stands twice."""


def parse(raw: bytes) -> Any:
    """Return the tree.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    reading = read(raw)
    if reading.problems:
        raise DocumentRefusedError(reading.problems)
    return reading.tree


def read(raw: bytes) -> Reading:
    """Return the tree together with the problems of single values, so that a caller can look for more.

    Raises:
        DocumentRefusedError: there is no tree to look at.
    """
    text = _decoded(raw)
    _check_size(raw)
    flawed = _Parser()
    tree = flawed.parse(text)
    if not flawed.has_flaws and not _SURROGATE_ESCAPE.search(text):
        return Reading(raw, tree, ())
    problems: list[Problem] = []
    sound = _without_flaws(tree, "", problems)
    return Reading(raw, sound, tuple(problems))


def _decoded(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        _refuse("json/size", f"at most {MAX_BYTES:,} bytes", f"{len(raw):,} bytes")
    if raw.startswith(_BOM):
        _refuse("json/byte_order_mark", "UTF-8 without a byte-order mark", "a byte-order mark", 1, 1)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        start = raw.rfind(b"\n", 0, error.start) + 1
        column = len(raw[start : error.start].decode("utf-8")) + 1
        _refuse("json/encoding", "UTF-8", f"byte 0x{raw[error.start]:02x}", line, column)


def _check_size(raw: bytes) -> None:
    values = raw.count(b",")
    if values > MAX_VALUES:
        _refuse("json/values", f"at most {MAX_VALUES:,} values", f"{values:,} commas")
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and nesting(raw) > MAX_DEPTH:
        _refuse("json/depth", f"nesting of at most {MAX_DEPTH}", "deeper nesting")


def nesting(raw: bytes) -> int:
    """Return the deepest nesting without parsing: no recursion, and C loops only.

    Where the bytes are not JSON the figure may be off, but then the parser stops at the same place or earlier.
    """
    if b"\\" in raw:
        raw = _ESCAPE.sub(b"", raw)
    brackets = _STRING.sub(b"", raw.translate(None, _DROPPED))
    steps = array("b", brackets.translate(_STEPS, b'"\\'))
    return max(accumulate(steps), default=0)


class _Parser:
    """One run of the standard parser with hooks that keep what it would let through."""

    def __init__(self) -> None:
        self.has_flaws = False

    def parse(self, text: str) -> Any:
        try:
            return json.loads(
                text,
                object_pairs_hook=self._object,
                parse_float=self._float,
                parse_int=self._int,
                parse_constant=self._constant,
            )
        except json.JSONDecodeError as error:
            _refuse_syntax(text, error)

    def _object(self, pairs: list[tuple[str, Any]]) -> Any:
        found = dict(pairs)
        if len(found) != len(pairs):
            self.has_flaws = True
            return _Repeated(pairs)
        return found

    def _float(self, text: str) -> Any:
        if len(text) <= _ALWAYS_EXACT and "e" not in text and "E" not in text:
            return float(text)
        if len(text) > MAX_NUMBER_LENGTH:
            return self._long(text)
        value = float(text)
        if value in (float("inf"), float("-inf")):
            return self._flaw("json/overflow", "a number in the range of a double", text, 0.0)
        if value == 0.0 and any(digit in "123456789" for digit in re.split("[eE]", text)[0]):
            return self._flaw("json/underflow", "0, or a number far enough from 0 for a double", text, 0.0)
        if SAFE_INTEGER < abs(value) < _FIRST_WITH_EXPONENT and value.is_integer():
            return self._flaw("json/integer_range", _SAFE_RANGE, text, 0)
        shortest = repr(value)
        if shortest != text and Decimal(shortest) != Decimal(text):
            return self._flaw("document/precision", f"the shortest decimal of the double, {shortest}", text, value)
        return value

    def _int(self, text: str) -> Any:
        if len(text) < _ALWAYS_EXACT:
            return -0.0 if text == "-0" else int(text)
        if len(text) > MAX_NUMBER_LENGTH:
            return self._long(text)
        value = int(text)
        if -SAFE_INTEGER <= value <= SAFE_INTEGER:
            return value
        return self._flaw("json/integer_range", _SAFE_RANGE, text, 0)

    def _constant(self, text: str) -> Any:
        return self._flaw("json/constant", "a number that JSON has", text, 0.0)

    def _long(self, text: str) -> Any:
        expected = f"a number of at most {MAX_NUMBER_LENGTH:,} characters"
        return self._flaw("json/number_length", expected, text, 0.0)

    def _flaw(self, code: str, expected: str, found: str, stand_in: Any) -> _Flaw:
        self.has_flaws = True
        return _Flaw(code, expected, shown(found, quote=False), stand_in)


def _refuse_syntax(text: str, error: json.JSONDecodeError) -> NoReturn:
    if error.msg == "Extra data":
        found = shown(text[error.pos : error.pos + 20])
        _refuse("json/trailing_data", "one JSON value", f"more after it: {found}", error.lineno, error.colno)
    here = shown(text[error.pos : error.pos + 20]) if error.pos < len(text) else "the end of the document"
    expected = _SYNTAX.get(error.msg, "JSON")
    _refuse("json/syntax", expected, here, error.lineno, error.colno)


_SYNTAX = {
    "Expecting value": "a JSON value",
    "Expecting ',' delimiter": "a comma, or the end of the object or array",
    "Expecting ':' delimiter": "a colon after the key",
    "Expecting property name enclosed in double quotes": "a key in double quotes",
    "Unterminated string starting at": "a closing quote for the text that starts here",
    "Invalid control character at": "an escaped control character",
    "Invalid \\escape": "an escape that JSON has",
    "Invalid \\uXXXX escape": "four hexadecimal digits after \\u",
}


def _without_flaws(value: Any, pointer: str, problems: list[Problem]) -> Any:
    """Return the tree with stand-ins, appending every flaw with its pointer."""
    kind = type(value)
    if kind is _Flaw:
        problems.append(Problem(value.code, pointer, value.expected, value.found))
        return value.stand_in
    if kind is str:
        return _without_surrogates(value, pointer, problems)
    if kind is list:
        return [_without_flaws(item, child(pointer, index), problems) for index, item in enumerate(value)]
    if kind is dict or kind is _Repeated:
        return _sound_object(value, pointer, problems)
    return value


def _sound_object(value: Any, pointer: str, problems: list[Problem]) -> dict[str, Any]:
    pairs = value if type(value) is _Repeated else value.items()
    for key, times in _repeats(value):
        problems.append(Problem("json/duplicate_key", child(pointer, key), "each key once", f"{times} times"))
    sound: dict[str, Any] = {}
    for key, item in pairs:
        here = child(pointer, key)
        sound[_without_surrogates(key, here, problems)] = _without_flaws(item, here, problems)
    return sound


def _repeats(value: Any) -> Iterator[tuple[str, int]]:
    if type(value) is not _Repeated:
        return
    times: dict[str, int] = {}
    for key, _ in value:
        times[key] = times.get(key, 0) + 1
    yield from ((key, count) for key, count in times.items() if count > 1)


def _without_surrogates(text: str, pointer: str, problems: list[Problem]) -> str:
    if text.isascii() or not _SURROGATE.search(text):
        return text
    problems.append(Problem("json/lone_surrogate", pointer, "text of whole characters", shown(text)))
    return _SURROGATE.sub("\ufffd", text)


def _refuse(code: str, expected: str, found: str, line: int | None = None, column: int | None = None) -> NoReturn:
    raise DocumentRefusedError((Problem(code, "", expected, found, line, column),))
