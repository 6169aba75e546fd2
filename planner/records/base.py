"""What all records share: strictness, identifiers, quantities, absent fields.

Records are frozen and only ever built by ``planner.intake`` from bytes that passed the strict parser.
``UNSET`` means the document does not have the field; ``None`` means it says ``null`` (a value that was
looked for and is missing). The two are never the same thing.
"""

from typing import Annotated, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = [
    "UNSET",
    "Bytes",
    "Count",
    "Digest",
    "Id",
    "Number",
    "PositiveCount",
    "Prose",
    "Record",
    "Share",
    "Text",
    "Time",
    "UnsetType",
    "is_set",
    "stated",
]

T = TypeVar("T")

SAFE_INTEGER = 2**53 - 1
"""Largest integer that every JSON implementation reads exactly (RFC 8785, I-JSON)."""

# The look-ahead at the end refuses a trailing newline, which `$` alone would let through.
Id = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}(?![\s\S])", title="id")]
Digest = Annotated[str, Meta(pattern=r"^sha256:[0-9a-f]{64}(?![\s\S])", title="digest")]
Time = Annotated[
    str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z?(?![\s\S])", title="UTC time, whole seconds")
]
Text = Annotated[str, Meta(min_length=1, max_length=256, title="text")]
Prose = Annotated[str, Meta(min_length=1, max_length=4096, title="prose")]

Count = Annotated[int, Meta(ge=0, le=SAFE_INTEGER)]
PositiveCount = Annotated[int, Meta(ge=1, le=SAFE_INTEGER)]
Bytes = Count
Number = Annotated[int, Meta(ge=0, le=SAFE_INTEGER)] | Annotated[float, Meta(ge=0)]
"""A quantity >= 0. Kept as written (int or float) so that the canonical form survives a round trip."""
Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Base of every record: immutable, refuses unknown fields.

    ``gc=False``: built from the inside out and never changed, records form no cycles, and hundreds of thousands of them
    would only be walked over again and again.

    ``kw_only`` is not inherited by msgspec structs, so every record states it.
    """


def is_set(value: object) -> bool:
    """Say whether the document has the field, ``null`` included."""
    return value is not UNSET


def stated(value: T | UnsetType) -> T | None:
    """Return what the document says, None where it does not have the field."""
    return None if isinstance(value, UnsetType) else value
