"""What a person types into a field as a value of the document, and a value as the text of its field.

Rules kept: a number keeps the value of its literal or is no number here; amounts with a unit (``80 GiB``, ``14 d``,
``20 %``) become the exact number in the field's own unit; whatever does not fit the field stays text, which intake
then refuses with what it expected. Text of engine settings may be of any type: JSON is taken as JSON, the rest as text.
"""

import json
import re
from fractions import Fraction
from typing import Any

from msgspec import inspect as mi

from planner.contract_builder.shapes import alternatives
from planner.errors import DocumentRefusedError
from planner.strict_json import read

__all__ = ["field_text", "typed_value"]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")
_AMOUNT = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([A-Za-z%][A-Za-z/]*)\Z")
_BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS: dict[str, dict[str, Fraction]] = {
    "_bytes": {unit: Fraction(factor) for unit, factor in _BYTES.items()},
    "bytes_per_s_one_way": {f"{unit}/s": Fraction(factor) for unit, factor in _BYTES.items()}
    | {"Gbit/s": Fraction(10**9, 8), "Tbit/s": Fraction(10**12, 8)},
    "_bytes_per_s": {f"{unit}/s": Fraction(factor) for unit, factor in _BYTES.items()},
    "_ms": {"ms": Fraction(1), "s": Fraction(1000)},
    "_s": {"s": Fraction(1), "min": Fraction(60), "h": Fraction(3600), "d": Fraction(86400)},
    "_share": {"%": Fraction(1, 100)},
    "utilization": {"%": Fraction(1, 100)},
}
"""End of a field's name -> unit that may be typed -> how many of the field's own unit it is."""


def typed_value(text: str, kind: mi.Type, name: str) -> Any:
    """Return the value that ``text`` stands for in the field ``name`` of a type."""
    parts = alternatives(kind)
    if any(isinstance(part, mi.AnyType) for part in parts):
        return _json_or_text(text)
    if any(isinstance(part, mi.DictType) for part in parts) and text.lstrip().startswith("{"):
        return _json_or_text(text)
    if any(isinstance(part, mi.IntType | mi.FloatType) for part in parts):
        return _number(text.strip(), name)
    literals = {
        str(value).lower(): value for part in parts if isinstance(part, mi.LiteralType) for value in part.values
    }
    if text.lower() in literals:
        return literals[text.lower()]
    if any(isinstance(part, mi.BoolType) for part in parts):
        return {"true": True, "false": False}.get(text, text)
    return text


def field_text(value: Any, kind: mi.Type) -> str:
    """Return the text that ``typed_value`` takes for the value."""
    if isinstance(value, str):
        parts = alternatives(kind)
        looks_typed = any(isinstance(part, mi.AnyType) for part in parts) and _json_or_text(value) != value
        return json.dumps(value, ensure_ascii=False) if looks_typed else value
    return json.dumps(value, ensure_ascii=False)


def _json_or_text(text: str) -> Any:
    try:
        reading = read(text.encode("utf-8", "surrogatepass"))
    except DocumentRefusedError:
        return text
    return text if reading.problems else reading.tree


def _number(text: str, name: str) -> Any:
    if _NUMBER.match(text):
        return _json_or_text(text)
    amount = _AMOUNT.match(text)
    units = next((units for end, units in _UNITS.items() if name.endswith(end)), {})
    if amount is None or amount[2] not in units:
        return text
    exact = Fraction(amount[1]) * units[amount[2]]
    if exact.denominator == 1:
        return exact.numerator
    decimal = float(exact)
    # A double stands for its shortest decimal: another value would not be what was typed.
    return decimal if Fraction(repr(decimal)) == exact else text
