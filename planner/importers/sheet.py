"""One run while it is read: takes values out of a tree with unit and place, notes what cannot be taken.

An importer makes a ``Sheet`` for each run, takes what its format holds, and ends with ``finish``. A value that is
absent or null is missing and says nothing; one that is there and cannot be meant (text where a number belongs, NaN,
below zero) is left out and named.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from planner.importers.model import Asked, Effect, Place, Remark, Run, Standing, Value
from planner.importers.quantities import quantity
from planner.importers.questions import asked_of
from planner.importers.scrubbed import found, scrubbed, sentence_of
from planner.importers.spelling import spelled
from planner.importers.units import converted
from planner.pointers import joined

__all__ = ["Path", "Sheet"]

LARGEST = 10**18
"""No figure of a run is larger, in whatever unit; sums and products of such numbers stay numbers."""

Path = tuple[str | int, ...]
"""Keys and indices from the run's own tree down."""


class Sheet:
    """The values and remarks of one run. ``base`` leads from the document to ``tree``, ``line`` is where it starts."""

    def __init__(self, run: str, tree: Any = None, *, base: Path = (), line: int | None = None) -> None:
        self.run = run
        self.tree = tree
        self._base = joined(base)
        self._line = line
        self._values: dict[tuple[str, str], Value] = {}
        self._remarks: list[Remark] = []
        self._asked: list[Asked] = []

    def get(self, *path: str | int) -> Any:
        """Return what a path leads to, None where it leads nowhere."""
        here = self.tree
        for step in path:
            if isinstance(here, dict):
                here = here.get(step)
            elif isinstance(here, list) and isinstance(step, int) and 0 <= step < len(here):
                here = here[step]
            else:
                return None
        return here

    def place(self, *path: str | int) -> Place:
        """Return the place of a path in the file."""
        return Place(pointer=self._base + joined(path), line=self._line)

    def number(
        self, name: str, *path: str | int, unit: str | None = None, of: str = "", standing: Standing = "measured"
    ) -> int | float | None:
        """Take a number that is not below zero; ``unit`` is the file's, ours where it is left out.

        Returns it in our unit, None where there is none to take.
        """
        raw = self.get(*path)
        if raw is None:
            return None
        return self.put(name, raw, self.place(*path), unit=unit, of=of, standing=standing)

    def put(
        self,
        name: str,
        raw: Any,
        place: Place,
        *,
        unit: str | None = None,
        of: str = "",
        standing: Standing = "measured",
    ) -> int | float | None:
        """Take a number that was found at ``place``, as ``number`` does."""
        if isinstance(raw, bool) or not isinstance(raw, int | float):
            self.remark("import/type", f"{name} is left out: expected a number, found {found(raw)}", place)
            return None
        if raw > LARGEST or not isfinite(raw) or raw < 0:
            sentence = f"{name} is left out: expected a number from 0 to {LARGEST:g}, found {found(raw)}"
            self.remark("import/range", sentence, place)
            return None
        own = quantity(name).unit
        value = converted(raw, unit or own, own)
        if own in _COUNTS and isinstance(value, float) and value.is_integer():
            value = int(value)
        self._keep(name, value, raw, unit or own, place, of, standing)
        return value

    def statistics(self, family: str, unit: str, statistics: Mapping[str, Path]) -> None:
        """Take a distribution: ``statistics`` is the path of each, such as ``{"p99": ("p99_ttft_ms",)}``."""
        for statistic, path in statistics.items():
            self.number(f"{family}.{statistic}", *path, unit="requests" if statistic == "n" else unit)

    def text(self, name: str, *path: str | int, of: str = "", standing: Standing = "stated") -> str | None:
        """Take a text; empty and null are missing."""
        raw = self.get(*path)
        if raw is None or raw == "":
            return None
        if not isinstance(raw, str):
            self.remark("import/type", f"{name} is left out: expected text, found {found(raw)}", self.place(*path))
            return None
        return self.put_text(name, raw, self.place(*path), of=of, standing=standing)

    def put_text(self, name: str, raw: str, place: Place, *, of: str = "", standing: Standing = "stated") -> str:
        """Take a text that was found at ``place``, without secrets, as one line and in our spelling.

        Returns it.
        """
        found_text = scrubbed(raw)
        value = spelled(name, found_text)
        self._keep(name, value, found_text, "", place, of, standing)
        return value

    def put_switch(self, name: str, value: bool, place: Place, *, of: str = "", standing: Standing = "stated") -> None:
        """Take a switch."""
        self._keep(name, value, value, "", place, of, standing)

    def _keep(self, name: str, value: Any, raw: Any, raw_unit: str, place: Place, of: str, standing: Standing) -> None:
        own = quantity(name)
        self._values[name, of] = Value(
            name=name,
            value=value,
            unit=own.unit,
            raw=raw,
            raw_unit=raw_unit,
            place=place,
            document=None if standing == "predicted" else own.document,
            field=None if standing == "predicted" else own.field,
            standing=standing,
            of=of,
        )

    def value(self, name: str, of: str = "") -> Any:
        """Return a value that was taken, None where it was not."""
        kept = self._values.get((name, of))
        return None if kept is None else kept.value

    def things(self, name: str) -> tuple[str, ...]:
        """Return of which things a value was taken, in the order of the file."""
        return tuple(of for kept, of in self._values if kept == name)

    def has(self, family: str) -> bool:
        """Say whether any statistic of a family was taken."""
        return any(name.startswith(f"{family}.") for name, _ in self._values)

    def place_of(self, name: str) -> Place:
        """Return where a taken value stands."""
        return self._values[name, ""].place

    def drop(self, *names: str) -> None:
        """Take values back: every ``of`` of a name, every statistic of a family."""
        self._values = {
            key: value
            for key, value in self._values.items()
            if key[0] not in names and key[0].partition(".")[0] not in names
        }

    def remark(self, code: str, sentence: str, place: Place | None = None, effect: Effect = "note") -> None:
        """Note something about the run."""
        remark = Remark(code=code, effect=effect, sentence=sentence_of(sentence), place=place or self.place())
        self._remarks.append(remark)

    def ask(self, name: str, question: str) -> None:
        """Ask a person for a value of this run."""
        own = quantity(name)
        self._asked.append(Asked(name=name, document=own.document, field=own.field, question=question))

    def ask_field(self, document: str, field: str, question: str) -> None:
        """Ask a person for a field that no quantity fills."""
        self._asked.append(Asked(name="", document=document, field=field, question=question))

    @property
    def refused(self) -> bool:
        """Say whether the run is no evidence."""
        return any(remark.effect == "refused" for remark in self._remarks)

    def finish(self, expected: Sequence[str] = (), *, asked: bool = True) -> Run:
        """Return the run; of ``expected`` quantities those without a value are missing.

        ``asked`` False leaves out the questions that a run of a benchmark leaves open, for files of other kinds.
        """
        names = {name for (name, _), value in self._values.items() if value.standing not in ("hint", "predicted")}
        effects = {remark.effect for remark in self._remarks}
        return Run(
            id=self.run,
            place=self.place(),
            status="refused" if "refused" in effects else "held" if "held" in effects else "usable",
            values=tuple(self._values.values()),
            remarks=tuple(self._remarks),
            missing=tuple(name for name in expected if name not in names),
            asked=(*self._asked, *(asked_of(names) if asked else ())),
        )


_COUNTS = frozenset(
    {
        *("requests", "tokens", "devices", "ranks", "nodes", "bytes", "samples", "instances"),
        *("count", "communicators", "processes"),
    }
)
"""Units of which a whole double is a count."""
