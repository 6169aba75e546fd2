"""What a form of the contract builder asks for, as an edit of the draft. No rule about contracts lives here.

A field is named by its JSON pointer. ``key:<pointer>`` and ``value:<pointer>`` add an entry to a collection,
``answer:<pointer>`` with ``for:<pointer>`` answers a question for many entries. The button pressed is ``act``: its
verb, and after a colon what it is done to. What was typed is taken with every button, so that none loses any of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict

from planner.contract_builder.draft import ContractDraft
from planner.contract_builder.edits import UnknownFieldError, entry_added, fields_set, moved_up, removed
from planner.contract_builder.evidence_sets import SETS, with_set
from planner.contract_builder.hardware import HardwareRefusedError, NodeClass, described_nodes
from planner.contract_builder.questions import Answer, answered
from planner.contract_builder.shapes import kind_at
from planner.contract_builder.taking import (
    UnknownModelError,
    with_hardware,
    with_hardware_files,
    with_known_model,
    with_model_files,
)
from planner.contract_builder.typed import typed_value
from planner.errors import Problem
from planner.hypotheses.config import ConfigRefusedError
from planner.intake.parts import object_at
from planner.pointers import child, steps
from planner.strict_json import MAX_BYTES
from reviews.errors import Finding, printable

__all__ = ["Edited", "RefusedActError", "edited", "given_files"]

Files: TypeAlias = "MultiValueDict[str, UploadedFile[bytes]]"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,47}\Z")
_COUNT = re.compile(r"[0-9]{1,18}\Z")


@dataclass(frozen=True, slots=True)
class Edited:
    """The draft after a form; ``problems`` are of files and of the form itself, ``at`` is what to look at next."""

    draft: ContractDraft
    problems: tuple[Finding, ...] = ()
    at: str = ""


class RefusedActError(Exception):
    """A part of the form was not taken; the rest of it was."""

    def __init__(self, problems: Sequence[Finding]) -> None:
        super().__init__(" ".join(problem.sentence for problem in problems))
        self.problems = tuple(problems)


def edited(draft: ContractDraft, form: QueryDict, files: Files) -> Edited:
    """Return the draft with everything that the form holds: what was typed first, then what its button does."""
    verb, _, target = form.get("act", "save").partition(":")
    try:
        typed = _with_typed(draft, form)
    except UnknownFieldError as unknown:
        return Edited(draft, (_unknown(unknown),))
    try:
        return ACTS.get(verb, _nothing)(typed, target, form, files)
    except RefusedActError as refused:
        return Edited(typed, refused.problems)
    except UnknownFieldError as unknown:
        return Edited(typed, (_unknown(unknown),))


def _unknown(unknown: UnknownFieldError) -> Finding:
    found = printable(unknown.pointer, 80)
    return Finding("request", "request/field", found or "field", "a field of a contract", found or "nothing")


def _with_typed(draft: ContractDraft, form: QueryDict) -> ContractDraft:
    tree = fields_set(draft.tree, {name: form.getlist(name) for name in form if name.startswith("/")})
    for name in form:
        key = form.get(name, "").strip()
        if name.startswith("key:") and key:
            pointer = name.removeprefix("key:")
            tree = entry_added(tree, pointer, key, _value(pointer, key, form.get(f"value:{pointer}", "")))
    answers = [
        Answer(pointer=pointer, text=form.get(name, ""), ids=tuple(form.getlist(f"for:{pointer}")))
        for name in form
        if name.startswith("answer:") and (pointer := name.removeprefix("answer:"))
    ]
    return draft.with_tree(answered(tree, answers))


def _value(pointer: str, key: str, text: str) -> object:
    kind = kind_at((*steps(pointer), key))
    return typed_value(text, kind, steps(pointer)[-1]) if kind is not None and text.strip() else None


def _nothing(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    return Edited(draft)


def _add(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    pointer, _, name = target.partition("|")
    if not name:  # the id was typed, and taken with the rest of the form
        return Edited(draft, at=child(pointer, form.get(f"key:{pointer}", "").strip()))
    return Edited(draft.with_tree(entry_added(draft.tree, pointer, name)), at=child(pointer, name))


def _remove(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    return Edited(draft.with_tree(removed(draft.tree, target)), at=target.rpartition("/")[0])


def _up(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    return Edited(draft.with_tree(moved_up(draft.tree, target)), at=target.rpartition("/")[0])


def _open(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    return Edited(draft, at=target)


def _add_limit(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    gate = form.get("limit_gate", "")
    if kind_at(("gates", gate, "limit")) is None:
        expected = "a gate that takes limits"
        raise RefusedActError(
            (Finding("request", "request/gate", "limit_gate", expected, printable(gate) or "nothing"),)
        )
    taken = object_at(draft.tree, "gates", gate)
    numbered = (f"limit-{number}" for number in range(1, len(taken) + 2))
    name = form.get("limit_id", "").strip() or next(name for name in numbered if name not in taken)
    pointer = f"/gates/{gate}"
    return Edited(draft.with_tree(entry_added(draft.tree, pointer, name)), at=child(pointer, name))


def _take_known_model(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    name = form.get("known_model", "")
    try:
        return Edited(with_known_model(draft, name), at="/identity/model")
    except UnknownModelError as unknown:
        found = printable(name) or "nothing"
        finding = Finding("request", "request/model", "known_model", "a model of the list", found)
        raise RefusedActError((finding,)) from unknown


def _take_config(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    try:
        taken = with_model_files(draft, given_files(files, form, "config", pasted_as="config.json"))
    except ConfigRefusedError as refused:
        raise RefusedActError(_findings(refused.by_file)) from refused
    return Edited(taken, at="/identity/model")


def _read_hardware(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    names = form.get("node_names", "").replace(",", " ").split()
    odd = [name for name in names if not _NAME.match(name)]
    if odd:
        expected = "ids of 1 to 48 of a-z, 0-9, '.', '_', '-'"
        found = printable(", ".join(odd), 200)
        raise RefusedActError((Finding("request", "request/id", "node_names", expected, found),))
    try:
        taken = with_hardware_files(
            draft,
            given_files(files, form, "topology", pasted_as="pasted text"),
            names=names,
            copies=_count(form, "copies", 1),
        )
    except HardwareRefusedError as refused:
        raise RefusedActError(_findings(refused.by_file)) from refused
    return Edited(taken, at="questions")


def _describe_nodes(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    counts, amounts = _numbers(
        form,
        counts={"class_nodes": 1, "class_devices": 0, "class_nics": 0},
        amounts=("class_memory_bytes", "class_link_bytes_per_s_one_way", "class_island_bytes_per_s_one_way"),
    )
    described = NodeClass(
        nodes=counts["class_nodes"],
        devices=counts["class_devices"],
        type=form.get("class_type", "").strip(),
        memory_bytes=amounts["class_memory_bytes"] or 0,
        nics=counts["class_nics"],
        link_class=form.get("class_link_class", "").strip() or "inter_node",
        link_rate=amounts["class_link_bytes_per_s_one_way"],
        is_island=form.get("class_island") == "yes",
        island_rate=amounts["class_island_bytes_per_s_one_way"],
    )
    try:
        seen = described_nodes(draft.tree, described)
    except HardwareRefusedError as refused:
        raise RefusedActError(_findings(refused.by_file)) from refused
    return Edited(with_hardware(draft, seen), at="questions")


def _start_set(draft: ContractDraft, target: str, form: QueryDict, files: Files) -> Edited:
    chosen = next((evidence for evidence in SETS if evidence.id == target), None)
    return Edited(draft if chosen is None else draft.with_tree(with_set(draft.tree, chosen)), at="/evidence_required")


Act = Callable[[ContractDraft, str, QueryDict, Files], Edited]
ACTS: Mapping[str, Act] = {
    "add": _add,
    "remove": _remove,
    "up": _up,
    "open": _open,
    "limit": _add_limit,
    "known-model": _take_known_model,
    "model-files": _take_config,
    "hardware-files": _read_hardware,
    "node-class": _describe_nodes,
    "evidence-set": _start_set,
}
"""What buttons do beyond saving what was typed."""


def given_files(files: Files, form: QueryDict, name: str, *, pasted_as: str) -> list[tuple[str, bytes]]:
    """Return uploaded files and pasted text as (name, bytes).

    Raises:
        RefusedActError: a file is too large; it is not read.
    """
    given: list[tuple[str, bytes]] = []
    problems = []
    for upload in files.getlist(name):
        shown = printable(upload.name or "file", 80)
        if (upload.size or 0) > MAX_BYTES:
            expected = f"at most {MAX_BYTES:,} bytes"
            problems.append(Finding("request", "request/file_size", shown, expected, f"{upload.size:,} bytes"))
        else:
            given.append((shown, upload.read()))
    if problems:
        raise RefusedActError(problems)
    text = form.get(f"{name}_text", "").replace("\r\n", "\n")
    return [*given, (pasted_as, text.encode("utf-8", "surrogatepass"))] if text.strip() else given


def _numbers(
    form: QueryDict, *, counts: Mapping[str, int], amounts: Sequence[str]
) -> tuple[dict[str, int], dict[str, int | None]]:
    """Read counts, with what an empty field means, and amounts.

    Raises:
        RefusedActError: with every field that holds something else.
    """
    whole: dict[str, int] = {}
    sizes: dict[str, int | None] = {}
    problems: list[Finding] = []
    for name in (*counts, *amounts):
        try:
            if name in counts:
                whole[name] = _count(form, name, counts[name])
            else:
                sizes[name] = _amount(form, name)
        except RefusedActError as refused:
            problems += refused.problems
    if problems:
        raise RefusedActError(problems)
    return whole, sizes


def _count(form: QueryDict, name: str, default: int) -> int:
    text = form.get(name, "").strip()
    if text and not _COUNT.match(text):
        raise RefusedActError((Finding("request", "request/count", name, "a whole number", printable(text)),))
    return int(text) if text else default


def _amount(form: QueryDict, name: str) -> int | None:
    kind = kind_at(("identity", "hardware", "devices", "device", "memory_bytes"))
    text = form.get(name, "").strip()
    value = typed_value(text, kind, name) if kind is not None and text else None
    if value is not None and not (isinstance(value, int) and value > 0):
        expected = "a whole number of bytes per second" if "_per_s" in name else "a whole number of bytes"
        raise RefusedActError((Finding("request", "request/amount", name, expected, printable(text)),))
    return value


def _findings(by_file: Mapping[str, Sequence[Problem]]) -> list[Finding]:
    return [
        Finding.of(problem, "request", pointer=" ".join(part for part in (name, problem.pointer) if part))
        for name, problems in by_file.items()
        for problem in problems
    ]
