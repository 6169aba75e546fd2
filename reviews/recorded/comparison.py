"""Goes through entries in their order and takes from the stored facts what each of them recorded."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reviews.models import Workspace
from reviews.recorded.fact import Fact, Kind, Said
from reviews.recorded.kinds import KINDS, OF_ACTION

SAID = ("seq", "action", "decision", "revision", "actor", "team", "meaning", "reason", "subject")


class RecordedFacts:
    """Rows that no entry has named yet, by kind; read when the first entry of their kind comes."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._open: dict[str, Open] = {}
        self._seen: dict[str, int] = defaultdict(int)

    def faults(self, fields: Fact, payload: Fact) -> Iterator[str]:
        """Yield what no stored row says any more as an entry, given by its fields and payload, recorded it."""
        action = fields["action"]
        self._seen[action] += 1
        told: Fact = {name: fields.get(name) for name in SAID}
        said = Said(**told, payload=payload, ordinal=self._seen[action])
        for kind in OF_ACTION.get(action, ()):
            rows = self._rows(kind)
            for fact in kind.of_entry(said):
                if not rows.take(fact) and action not in kind.perhaps:
                    yield f"no stored {kind.what} says what the entry recorded"

    def unrecorded(self) -> Iterator[str]:
        """Yield rows that no entry recorded."""
        for kind in KINDS:
            yield from (f"no entry records the stored {kind.what} {pk}" for pk in self._rows(kind).left())

    def _rows(self, kind: Kind) -> "Open":
        if kind.what not in self._open:
            found = Open(kind)
            for row in kind.rows(self._workspace).iterator(chunk_size=500):
                found.add(row.pk, kind.of_row(row))
            self._open[kind.what] = found
        return self._open[kind.what]


@dataclass(slots=True)
class Open:
    """The rows of one kind that were not named yet."""

    kind: Kind
    rows: dict[tuple[Any, ...], list[tuple[int, Fact]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, pk: int, fact: Fact) -> None:
        """Take a row."""
        self.rows[self._key(fact)].append((pk, fact))

    def take(self, said: Fact) -> bool:
        """Remove the first row that says the same as an entry; False where there is none."""
        candidates = self.rows.get(self._key(said), [])
        for at, (_, fact) in enumerate(candidates):
            if all(fact[name] == value for name, value in said.items()):
                del candidates[at]
                return True
        return False

    def left(self) -> list[int]:
        """Return the keys of the rows that are left."""
        return sorted(pk for rows in self.rows.values() for pk, _ in rows)

    def _key(self, fact: Fact) -> tuple[Any, ...]:
        return tuple(fact[name] for name in self.kind.key)
