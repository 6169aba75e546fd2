"""Runs in JSON, whichever way a tool or a team keeps several: one value, one after the other, or arrays of them."""

from collections.abc import Callable, Iterator
from typing import Any

from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["example", "json_runs"]


def example(source: Source) -> Any:
    """Return the first value of a file, of an array its first element; None where the file is no JSON."""
    first = source.first
    return first[0] if isinstance(first, list) and first else first


def json_runs(source: Source, is_run: Callable[[Any], bool], what: str) -> Iterator[tuple[Sheet, bool]]:
    """Yield a sheet for every value, and whether it is a run; one that is none is refused as "no ``what``".

    Keys that stand twice with different values are named.
    """
    number = 0
    for document in source.documents():
        listed = isinstance(document.tree, list)
        for index, tree in enumerate(document.tree if listed else [document.tree]):
            number += 1
            sheet = Sheet(f"run-{number}", tree, base=(index,) if listed else (), line=document.line)
            for key in document.dropped:
                sheet.remark("import/duplicate_key", f"{key} stands twice with different values: neither is taken")
            known = is_run(tree)
            if not known:
                sheet.remark("import/format", f"this value is no {what}", effect="refused")
            yield sheet, known
