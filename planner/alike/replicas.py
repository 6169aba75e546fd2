"""What the replicas of windows say, for windows that record as many replicas as their form has, by the same names.

Rules kept: windows of several forms are read at once, each held to its own form; what is no number has to be what the
form says of that replica. Not handled: sections other than replicas (``planner.alike.form``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import eq
from typing import Any

from msgspec.structs import astuple

from planner.alike.columns import NUMBERS, Table, are_numbers, picking, replica_column
from planner.records.evidence import Replica

__all__ = ["Replicas", "replicas_of"]

Recorded = Mapping[str, Replica]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """The replicas of one window, none where it records none.

    ``size`` says how many. ``columns`` are the fields in which each has a number, ``agreed`` what all say alike in
    others, ``told`` what each says for itself. ``picked`` gives the replicas of a window in the order of this one.
    """

    recorded: Recorded
    size: int
    columns: tuple[str, ...]
    agreed: Mapping[str, object]
    told: Mapping[str, tuple[object, ...]]
    picked: Callable[[Recorded], Sequence[Replica]]

    def are_read_with(self, other: "Replicas") -> bool:
        """Say whether windows of both can be read at once: how many there are, and of which ranks, may differ."""
        return (self.columns, self.agreed) == (other.columns, other.agreed) and (
            self.told == other.told or self.told.keys() == other.told.keys() == {"ranks"}
        )

    def read(self, recorded: Sequence[Recorded], owns: Sequence["Replicas"], into: Table) -> None:
        """Read the replicas of windows, each with those of its form, which are read with these."""
        sizes = [own.size for own in owns]
        ends = list(accumulate(sizes))
        into.replicas = list(map(slice, chain((0,), ends), ends))
        every = list(chain.from_iterable(_in_order(recorded, owns, sizes, into)))
        for field, column in zip(Replica.__struct_fields__, zip(*map(astuple, every), strict=True), strict=True):
            fits: Sequence[bool] = ()
            if field in self.columns:
                if not are_numbers(column):
                    fits = [type(value) in NUMBERS for value in column]
                    column = tuple(value if fit else 0 for value, fit in zip(column, fits, strict=True))
                into.columns[replica_column(field)] = column
            elif field in self.agreed:
                expected = self.agreed[field]
                fits = () if column.count(expected) == len(column) else [value == expected for value in column]
            else:
                told = tuple(chain.from_iterable([own.told[field] for own in owns]))
                fits = () if column == told else list(map(eq, column, told))
            if fits:
                into.strangers.update(at for at, fit in enumerate(into.of_windows(fits)) if not fit)


def _in_order(
    recorded: Sequence[Any], owns: Sequence[Replicas], sizes: list[int], into: Table
) -> Sequence[Sequence[Replica]]:
    """Return the replicas of each window in the order of its form; the form's own where a window has not these."""
    try:
        if list(map(len, recorded)) == sizes:
            return [own.picked(each) for own, each in zip(owns, recorded, strict=True)]
    except (KeyError, TypeError):
        pass  # A name is missing, or the whole section.
    fits = [
        isinstance(each, dict) and each.keys() == own.recorded.keys() for each, own in zip(recorded, owns, strict=True)
    ]
    into.strangers.update(at for at, fit in enumerate(fits) if not fit)
    return [own.picked(each if fit else own.recorded) for each, own, fit in zip(recorded, owns, fits, strict=True)]


def replicas_of(recorded: Recorded) -> Replicas:
    """Return what the replicas of a window say."""
    values = {field: tuple([getattr(each, field) for each in recorded.values()]) for field in Replica.__struct_fields__}
    columns = tuple(field for field, found in values.items() if found and NUMBERS.issuperset(map(type, found)))
    others = {field: found for field, found in values.items() if found and field not in columns}
    # Ranks are those of each replica, even of the only one.
    agreed = {
        field: found[0] for field, found in others.items() if field != "ranks" and found.count(found[0]) == len(found)
    }
    return Replicas(
        recorded=recorded,
        size=len(recorded),
        columns=columns,
        agreed=agreed,
        told={field: found for field, found in others.items() if field not in agreed},
        picked=picking(tuple(recorded)),
    )
