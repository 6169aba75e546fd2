"""Where the values of evidence come from: the file and the place in it, a person, or other values. Pure.

Shown for one place of the document: the sources of its value and of what stands below it. Only the provenance is
decoded, whatever the size of the document.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

import msgspec
from django.urls import reverse
from msgspec import UNSET, UnsetType

from planner.records.evidence import SourceFile, ValueSource
from reviews.selectors.attachments import AttachmentRow
from reviews.web.document_links import place_query

MOST_SHOWN = 60


class _Provenance(msgspec.Struct, frozen=True):
    files: dict[str, SourceFile] = {}
    sources: dict[str, ValueSource] = {}


class _Evidence(msgspec.Struct, frozen=True):
    provenance: _Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """The source of one value. ``href`` leads to the file and the place in it; empty where it is not attached."""

    field: str
    field_href: str
    file: str
    href: str
    where: str
    raw: str
    said: str
    derived: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ValueSources:
    """Sources of a place, the first of them, and how many there are."""

    lines: tuple[SourceLine, ...]
    total: int

    @property
    def more(self) -> int:
        """How many are not shown; a place further down shows them."""
        return self.total - len(self.lines)


def value_sources(
    evidence: bytes, at: str, *, slug: str, revision: int, attached: Mapping[str, AttachmentRow]
) -> ValueSources:
    """Return the sources of the value at a pointer and of what stands below it."""
    provenance = msgspec.json.decode(evidence, type=_Evidence).provenance
    found = [field for field in sorted(provenance.sources) if field == at or field.startswith(f"{at}/")]
    lines = tuple(
        _line(field, provenance, slug=slug, revision=revision, attached=attached) for field in found[:MOST_SHOWN]
    )
    return ValueSources(lines, len(found))


def _line(
    field: str, provenance: _Provenance, *, slug: str, revision: int, attached: Mapping[str, AttachmentRow]
) -> SourceLine:
    source = provenance.sources[field]
    file = None if isinstance(source.file, UnsetType) else provenance.files.get(source.file)
    derived = () if isinstance(source.derived_from, UnsetType) else source.derived_from
    return SourceLine(
        field=field,
        field_href=place_query(field, revision),
        file=file.name if file else "",
        href=place_href(slug, file, source) if file and file.sha256 in attached else "",
        where=", ".join(_where(source)),
        raw=" ".join(str(part) for part in (source.raw, source.raw_unit) if part is not UNSET),
        said=" ".join(_said(source)),
        derived=tuple((pointer, place_query(pointer, revision)) for pointer in derived),
    )


def place_href(slug: str, file: SourceFile, source: ValueSource) -> str:
    """Return the address of the place in an attached file."""
    named = {"line": source.line, "column": source.column, "at": source.pointer}
    query = urlencode({name: value for name, value in named.items() if value is not UNSET}, safe="/~")
    address = reverse("attachment", args=[slug, file.sha256])
    return f"{address}?{query}" if query else address


def _where(source: ValueSource) -> Iterator[str]:
    if source.line is not UNSET:
        yield f"line {source.line:,}"
    if source.column is not UNSET:
        yield f"column {source.column}"
    if source.pointer is not UNSET:
        yield str(source.pointer)


def _said(source: ValueSource) -> Iterator[str]:
    if source.answered_by is not UNSET:
        yield f"Said by {source.answered_by}."
    if source.settled_by is not UNSET:
        yield f"Chosen among several by {source.settled_by}."
