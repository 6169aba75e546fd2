"""A place in a stored document as lines: the node of a JSON pointer, its neighbours, and what they stand in. Pure.

Rules kept: lines are those of the whole document, pretty-printed, whatever its size; what is not shown is a gap with
its number of members or lines, and leads to where it is shown; a pointer to what is not there shows the nearest
holder that is. Stored bytes passed intake, so keys are unique and text is sound; only what is shown is decoded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from planner.pointers import child, steps
from planner.shown import printable
from reviews.web.formats import count

INDENT = 2
WHOLE_UP_TO = 200
"""Lines of a node up to which it is shown whole; of a larger one the members are, each on a line."""
AROUND = 5
"""Neighbours shown on each side."""
PAGE_SIZE = 100
MOST_CHARACTERS = 240

Key = str | int
Members = list[tuple[Key, msgspec.Raw]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLine:
    """One line. ``at`` is the pointer that the line leads to, None where it leads nowhere; ``page`` is one of it.

    A gap has no number; its text says what is not shown.
    """

    number: int | None
    text: str
    at: str | None = None
    page: int | None = None
    note: str = ""
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A container on the way to the node: its pointer, first and last line, members, and the place of the one taken."""

    at: str
    first: int
    last: int
    members: Members
    taken: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPlace:
    """What a page shows of a document.

    ``at`` is the pointer found and ``absent`` the rest of the one asked for. ``page`` and ``pages`` count the members
    of a large node; ``before`` and ``after`` are the pointers of its neighbours, None where there are none.
    """

    at: str
    absent: tuple[str, ...]
    first: int
    last: int
    total: int
    lines: tuple[DocumentLine, ...]
    page: int
    pages: int
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class _Node:
    at: str
    key: Key | None
    raw: msgspec.Raw
    first: int
    depth: int
    comma: str


def place_of(document: bytes, pointer: str, page: int = 1) -> DocumentPlace:
    """Return the lines around the node of a pointer; ``page`` is one of its members where there are many."""
    wanted = steps(pointer)
    levels, node, found = _descended(msgspec.Raw(document.strip()), wanted)
    size = lines_in(node.raw)
    members = members_of(node.raw) or []
    pages = -(-len(members) // PAGE_SIZE) if size > WHOLE_UP_TO else 1
    page = page if 0 < page <= pages else 1
    own = _whole(node) if size <= WHOLE_UP_TO else list(_members(node, members, page, size))
    parent = levels[-1] if levels else None
    return DocumentPlace(
        at=node.at,
        absent=wanted[found:],
        first=node.first,
        last=node.first + size - 1,
        total=levels[0].last if levels else size,
        lines=(
            *_opening(levels),
            *(replace(line, is_marked=True) for line in own),
            *_closing(levels, node.first + size),
        ),
        page=page,
        pages=pages,
        before=_neighbour(parent, -1),
        after=_neighbour(parent, 1),
    )


def lines_in(raw: msgspec.Raw) -> int:
    """Return the lines that a value takes pretty-printed."""
    return _pretty(raw).count(b"\n") + 1


def _pretty(raw: msgspec.Raw) -> bytes:
    return msgspec.json.format(bytes(raw), indent=INDENT)


def _start(raw: msgspec.Raw) -> bytes:
    return bytes(memoryview(raw)[:1])


def members_of(raw: msgspec.Raw) -> Members | None:
    """Return the members of an object or an array, None for any other value."""
    start = _start(raw)
    if start == b"{":
        return list(msgspec.json.decode(raw, type=dict[str, msgspec.Raw]).items())
    if start == b"[":
        return list(enumerate(msgspec.json.decode(raw, type=list[msgspec.Raw])))
    return None


def _descended(root: msgspec.Raw, wanted: Sequence[str]) -> tuple[list[Level], _Node, int]:
    """Follow the steps as far as they lead; with the number of those that were found."""
    levels: list[Level] = []
    node = _Node("", None, root, 1, 0, "")
    for found, step in enumerate(wanted):
        members = members_of(node.raw) or []
        taken = next((place for place, (key, _) in enumerate(members) if str(key) == step), None)
        if taken is None:
            return levels, node, found
        last = node.first + lines_in(node.raw) - 1
        levels.append(Level(node.at, node.first, last, members, taken))
        key, raw = members[taken]
        first = node.first + 1 + sum(lines_in(each) for _, each in members[:taken])
        node = _Node(child(node.at, key), key, raw, first, len(levels), "," if taken + 1 < len(members) else "")
    return levels, node, len(wanted)


def _neighbour(level: Level | None, by: int) -> str | None:
    place = level.taken + by if level else -1
    return child(level.at, level.members[place][0]) if level and 0 <= place < len(level.members) else None


# Lines


def _named(key: Key | None) -> str:
    return f"{msgspec.json.encode(key).decode()}: " if isinstance(key, str) else ""


def _clipped(text: str) -> str:
    shown = printable(text[: MOST_CHARACTERS + 1])
    return shown if len(shown) <= MOST_CHARACTERS else f"{shown[:MOST_CHARACTERS]}…"


def _whole(node: _Node) -> list[DocumentLine]:
    """Return every line of a node that is small enough."""
    texts = _pretty(node.raw).decode().split("\n")
    space = " " * (INDENT * node.depth)
    texts[0] = _named(node.key) + texts[0]
    texts[-1] += node.comma
    return [DocumentLine(number=node.first + place, text=_clipped(space + text)) for place, text in enumerate(texts)]


def _brackets(raw: msgspec.Raw) -> tuple[str, str]:
    return ("{", "}") if _start(raw) == b"{" else ("[", "]")


def _members(node: _Node, members: Members, page: int, size: int) -> Iterator[DocumentLine]:
    """Yield a large node: one page of its members, each on one line."""
    space = " " * (INDENT * node.depth)
    opening, closing = _brackets(node.raw)
    start, end = (page - 1) * PAGE_SIZE, min(page * PAGE_SIZE, len(members))
    yield DocumentLine(number=node.first, text=_clipped(f"{space}{_named(node.key)}{opening}"))
    if start:
        yield _gap(start, node.depth + 1, node.at, page - 1)
    first = node.first + 1 + sum(lines_in(raw) for _, raw in members[:start])
    yield from _folded(node.at, members, start, end, first, node.depth + 1)
    if end < len(members):
        yield _gap(len(members) - end, node.depth + 1, node.at, page + 1)
    yield DocumentLine(number=node.first + size - 1, text=f"{space}{closing}{node.comma}")


def _folded(at: str, members: Members, start: int, end: int, first: int, depth: int) -> Iterator[DocumentLine]:
    """Yield some members of a container, each on one line that leads to it."""
    space = " " * (INDENT * depth)
    for place, (key, raw) in enumerate(members[start:end], start):
        size = lines_in(raw)
        comma = "," if place + 1 < len(members) else ""
        inner = members_of(raw)
        if inner:
            opening, closing = _brackets(raw)
            text, note = f"{opening} … {closing}", count(size, "line")
        else:
            text, note = _pretty(raw).decode(), ""
        yield DocumentLine(
            number=first, text=_clipped(f"{space}{_named(key)}{text}{comma}"), at=child(at, key), note=note
        )
        first += size


def _gap(members: int, depth: int, at: str, page: int | None = None) -> DocumentLine:
    text = f"{' ' * (INDENT * depth)}… {count(members, 'member')} more"
    return DocumentLine(number=None, text=text, at=at, page=page)


def _opening(levels: Sequence[Level]) -> Iterator[DocumentLine]:
    """Yield what stands before the node: the beginning of each holder, and the last neighbours."""
    for depth, level in enumerate(levels):
        key = levels[depth - 1].members[levels[depth - 1].taken][0] if depth else None
        opening = "{" if isinstance(level.members[0][0], str) else "["
        text = f"{' ' * (INDENT * depth)}{_named(key)}{opening}"
        yield DocumentLine(number=level.first, text=_clipped(text), at=level.at)
        is_last = depth + 1 == len(levels)
        start = max(0, level.taken - AROUND) if is_last else level.taken
        if start:
            yield _gap(start, depth + 1, level.at, start // PAGE_SIZE + 1)
        first = level.first + 1 + sum(lines_in(raw) for _, raw in level.members[:start])
        yield from _folded(level.at, level.members, start, level.taken, first, depth + 1)


def _closing(levels: Sequence[Level], first: int) -> Iterator[DocumentLine]:
    """Yield what stands behind the node: the next neighbours, and the end of each holder."""
    for depth, level in reversed(list(enumerate(levels))):
        is_last = depth + 1 == len(levels)
        total = len(level.members)
        end = min(total, level.taken + 1 + AROUND) if is_last else level.taken + 1
        yield from _folded(level.at, level.members, level.taken + 1, end, first, depth + 1)
        if end < total:
            yield _gap(total - end, depth + 1, level.at, end // PAGE_SIZE + 1)
        closing = "}" if isinstance(level.members[0][0], str) else "]"
        above = levels[depth - 1] if depth else None
        comma = "," if above and above.taken + 1 < len(above.members) else ""
        yield DocumentLine(number=level.last, text=f"{' ' * (INDENT * depth)}{closing}{comma}")
