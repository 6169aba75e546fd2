"""Collect what a list of modules defines, in the order of the list and then of definition."""

from collections.abc import Iterable
from types import ModuleType
from typing import Protocol, TypeVar


class Registered(Protocol):
    """Anything with a unique id."""

    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=Registered)


def collect(modules: Iterable[ModuleType], kind: type[T]) -> tuple[T, ...]:
    """Return every ``kind`` defined in ``modules``.

    Raises:
        ValueError: two of them share an id; a silent second one would shadow a rule.
    """
    found: dict[str, T] = {}
    for module in modules:
        for value in vars(module).values():
            if not isinstance(value, kind):
                continue
            if value.id in found:
                raise ValueError(f"{kind.__name__} {value.id!r} is defined twice")
            found[value.id] = value
    return tuple(found.values())
