"""From bytes to a record: what every kind of document goes through, whatever it says.

The verdict is msgspec's, on a tree from the strict parser. When it refuses, or a value is wrong as JSON, the walk of
``planner.intake.shape`` says all that is wrong, and the rules of the kind run on the parts that are sound.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

import msgspec

from planner.errors import DocumentRefusedError, Problem
from planner.intake.places import with_places
from planner.intake.shape import shape_problems
from planner.intake.texts import text_problems
from planner.shown import shown
from planner.strict_json import Reading

__all__ = ["MAX_PROBLEMS", "opened"]

MAX_PROBLEMS = 1000
"""A hostile document can hold millions; the rest is counted as one last problem."""

R = TypeVar("R", bound=msgspec.Struct)


def opened(reading: Reading, record: type[R], schema: str, rules: Callable[[Any], Iterable[Problem]]) -> R:
    """Return the record of a document whose ``schema`` field has the given value.

    ``rules`` yields what the record's types cannot say; it gets the tree, which may be wrong anywhere.

    Raises:
        DocumentRefusedError: with every problem found, in the order of the text.
    """
    found = [*reading.problems, *_kind_problems(reading.tree, schema)]
    if found and found[-1].code == "document/schema":
        raise DocumentRefusedError(with_places(found, reading.raw.decode()))
    found += text_problems(reading.tree, reading.raw)
    try:
        built = msgspec.convert(reading.tree, record)
    except msgspec.ValidationError:
        built = None
    known = {problem.pointer for problem in found}
    described = shape_problems(reading.tree, record) if built is None else ()
    # A value that is refused already would be described a second time; a field that should not be there is not.
    further = (p for p in described if p.pointer not in known or p.code == "document/unknown_field")
    found += islice(further, MAX_PROBLEMS + 1)
    found += islice(rules(reading.tree), MAX_PROBLEMS + 1)
    if found or built is None:
        raise DocumentRefusedError(with_places(_bounded(found), reading.raw.decode()))
    return built


def _kind_problems(tree: Any, schema: str) -> Iterable[Problem]:
    if type(tree) is not dict:
        yield Problem("document/schema", "", f'an object with "schema": "{schema}"', shown(tree))
    elif tree.get("schema") != schema:
        found = shown(tree["schema"]) if "schema" in tree else "nothing"
        yield Problem("document/schema", "/schema", f'"{schema}"', found)


def _bounded(problems: list[Problem]) -> list[Problem]:
    if len(problems) <= MAX_PROBLEMS:
        return problems
    more = Problem("document/more_problems", "", f"at most {MAX_PROBLEMS:,} problems", "more than are listed here")
    return [*problems[:MAX_PROBLEMS], more]
