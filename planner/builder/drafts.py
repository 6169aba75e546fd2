"""Make, write and read drafts as JSON: strict, so that a stored draft is what was stored, or is refused."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from planner.builder.files import file_id, run_id
from planner.builder.records import DRAFT_SCHEMA, Draft
from planner.builder.shapes import problems_of
from planner.canonical import canonical_bytes
from planner.documents import ContractDocument
from planner.errors import Problem
from planner.intake.opening import opened
from planner.intake.parts import array_at, object_at, objects_at, referenced
from planner.shown import shown
from planner.strict_json import read

__all__ = ["draft_bytes", "new_draft", "read_draft"]


def new_draft(contract: ContractDocument) -> Draft:
    """Return an empty draft for a contract."""
    return Draft(contract_content_id=contract.content_id)


def draft_bytes(draft: Draft) -> bytes:
    """Return the draft as canonical JSON."""
    return canonical_bytes(msgspec.to_builtins(draft))


def read_draft(raw: bytes) -> Draft:
    """Read a draft from its bytes.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    return opened(read(raw), Draft, DRAFT_SCHEMA, _problems)


def _problems(tree: Any) -> Iterator[Problem]:
    """Yield what the types do not say: ids of files are those of their digests, runs are there, values fit."""
    yield from _misnamed(tree)
    yield from _misfit(tree)
    known = _runs(tree)
    for pointer, runs in _placed(tree):
        for number, run in enumerate(runs):
            yield from referenced(run, known, "a run of a file", f"{pointer}/{number}")
    for section in ("held", "left_out"):
        for run in object_at(tree, section):
            yield from referenced(run, known, "a run of a file", f"/{section}/{run}")


def _misnamed(tree: Any) -> Iterator[Problem]:
    for pointer, name, file in objects_at(tree, "files"):
        digest = file.get("sha256")
        if type(digest) is str and file_id(digest) != name:
            yield Problem("document/key", pointer, f"{shown(file_id(digest))}, as its digest begins", shown(name))


def _misfit(tree: Any) -> Iterator[Problem]:
    """Yield values that their fields do not take: nothing that reads a draft looks at their types again."""
    for section in ("answers", "settled"):
        for at, field, said in objects_at(tree, section):
            for problem in problems_of(field, said["value"]) if "value" in said else ():
                yield replace(problem, pointer=f"{at}/value{problem.pointer.removeprefix(field)}")


def _runs(tree: Any) -> set[str]:
    return {
        run_id(name, number)
        for _, name, file in objects_at(tree, "files")
        for number in range(1, len(array_at(file, "runs")) + 1)
    }


def _placed(tree: Any) -> Iterator[tuple[str, list[Any]]]:
    for at, _, trial in objects_at(tree, "trials"):
        holders = [(at, trial), *((f"{at}{below}", window) for below, _, window in objects_at(trial, "windows"))]
        for pointer, holder in holders:
            yield f"{pointer}/runs", array_at(holder, "runs")
