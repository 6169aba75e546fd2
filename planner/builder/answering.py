"""What a person says: answers, confirmed proposals, settled conflicts, names to be replaced.

Rules kept: an answer never overrules what a file says, that takes a settlement with a reason; what is said is checked
against the type of its field at once, and refused with every problem; who says it is a label, for it goes into the
document.
"""

import ipaddress
import re
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from planner.builder.editing import set_load_point
from planner.builder.files import file_of, run_of
from planner.builder.limits import MAX_ANSWERS, check, refuse
from planner.builder.pointing import ANY
from planner.builder.questions import questions_of
from planner.builder.records import Answer, Draft, Settlement
from planner.builder.shapes import problems_of
from planner.builder.trees import trees_of
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError, Problem
from planner.pointers import joined, steps
from planner.records.base import Id, Prose, Text
from planner.records.evidence import JsonPointer
from planner.shown import shown

__all__ = ["answer", "confirm", "pseudonymise", "settle", "unanswer", "unsettle"]

Json = Any

FIXED = ("schema", "contract_content_id", "scope")
NOT_ANSWERED = ("files", "sources")
MAX_HOSTS = 1_000


def answer(
    draft: Draft, contract: ContractDocument, at: str, value: Json, *, by: str, because: str | None = None
) -> Draft:
    """Say what a field is. ``at`` may stand for every trial or window by ``*``.

    Raises:
        DocumentRefusedError: there is no such field, or it does not take the value.
    """
    check(("/by", by, Id), *((("/because", because, Prose),) if because is not None else ()))
    _check_target(draft, at)
    path = steps(at)
    if path[0] == "trials" and len(path) == 5 and path[4] == "load_point":
        return _at_load_point(draft, contract, path, value, by, because)
    problems = problems_of(at, value)
    if problems:
        raise DocumentRefusedError(problems)
    if len(draft.answers) >= MAX_ANSWERS and at not in draft.answers:
        raise refuse("builder/limit", at, f"at most {MAX_ANSWERS:,} answers in a draft", "more")
    said = Answer(value=value, by=by, because=UNSET if because is None else because)
    return replace(draft, revision=draft.revision + 1, answers={**draft.answers, at: said})


def _check_target(draft: Draft, at: str, *, window_too: bool = False) -> None:
    """Refuse a pointer under which nothing is said; with ``window_too`` a whole window may be meant.

    Raises:
        DocumentRefusedError: it leads to no field of a person.
    """
    check((at, at, JsonPointer))
    path = steps(at)
    if path[0] in FIXED or (path[0] == "provenance" and path[1:2] and path[1] in NOT_ANSWERED):
        raise refuse("builder/field", at, "a field that a person answers", shown(at))
    if path[0] in ("trials", "identities"):
        if len(path) < 3:
            raise refuse("builder/field", at, "a field of a trial", shown(at))
        if path[1] != ANY and path[1] not in draft.trials:
            raise refuse("builder/trial", at, "a trial of the draft, or *", shown(path[1]))
    if path[0] == "trials" and path[2] == "windows":
        meant = draft.trials if path[1] == ANY else {path[1]: draft.trials[path[1]]}
        known = {window for trial in meant.values() for window in trial.windows}
        if len(path) < (4 if window_too else 5) or (path[3] != ANY and path[3] not in known):
            raise refuse("builder/window", at, "a field of a window of the draft, or *", shown(at))
    if path[0] == "trials" and path[2] == "identity_id":
        raise refuse("builder/field", at, "a field that a person answers", shown(at))


def _at_load_point(
    draft: Draft, contract: ContractDocument, path: tuple[str, ...], value: Json, by: str, because: str | None
) -> Draft:
    check((joined(path), value, Id))
    for name, trial in draft.trials.items():
        for window in trial.windows:
            if path[1] in (ANY, name) and path[3] in (ANY, window):
                draft = set_load_point(draft, contract, name, window, value, by=by, because=because)
    return draft


def unanswer(draft: Draft, at: str) -> Draft:
    """Take an answer back."""
    if at not in draft.answers:
        raise refuse("builder/answer", at, "a field that was answered", "none")
    rest = {field: said for field, said in draft.answers.items() if field != at}
    return replace(draft, revision=draft.revision + 1, answers=rest)


def confirm(draft: Draft, contract: ContractDocument, fields: Iterable[str], *, by: str) -> Draft:
    """Take the first proposal of each question as a person's answer.

    Raises:
        DocumentRefusedError: a field has no question, or its question no proposal; every such field is named.
    """
    check(("/by", by, Id))
    asked = {question.field: question for question in questions_of(draft, contract, trees_of(draft, contract).trials)}
    problems: list[Problem] = []
    said = dict(draft.answers)
    for field in fields:
        question = asked.get(field)
        if question is None or not question.proposals:
            problems.append(Problem("builder/proposal", field, "a question with a proposal", "none"))
            continue
        problems += problems_of(field, question.proposals[0].value)
        said[field] = Answer(value=question.proposals[0].value, by=by)
    if problems:
        raise DocumentRefusedError(tuple(problems))
    if len(said) > MAX_ANSWERS:
        raise refuse("builder/limit", "/answers", f"at most {MAX_ANSWERS:,} answers in a draft", f"{len(said):,}")
    return replace(draft, revision=draft.revision + 1, answers=said)


def settle(
    draft: Draft,
    at: str,
    *,
    by: str,
    because: str,
    run: str | None = None,
    format: str | None = None,
    value: Json | UnsetType = UNSET,
) -> Draft:
    """Say which source counts at a field or below it, or with ``value`` that none does; exactly one is given.

    A run that counts in other trials or windows too stands for its kind of file, for a run is in one place.

    Raises:
        DocumentRefusedError: with every problem.
    """
    check(("/by", by, Id), ("/because", because, Prose))
    _check_target(draft, at, window_too=isinstance(value, UnsetType))
    given = [name for name, what in (("run", run), ("format", format)) if what is not None]
    given += ["value"] if not isinstance(value, UnsetType) else []
    if len(given) != 1:
        raise refuse("builder/settlement", at, "one of run, format and value", " and ".join(given) or "none of them")
    if run is not None:
        run_of(draft, run)
        if ANY in steps(at):
            format, run = file_of(draft, run).format, None
    if format is not None and format not in {file.format for file in draft.files.values()}:
        raise refuse("builder/settlement", at, "a format of the draft's files", shown(format))
    if len(draft.settled) >= MAX_ANSWERS and at not in draft.settled:
        raise refuse("builder/limit", at, f"at most {MAX_ANSWERS:,} settlements in a draft", "more")
    problems = () if isinstance(value, UnsetType) else problems_of(at, value)
    if problems:
        raise DocumentRefusedError(problems)
    how = Settlement(
        by=by,
        because=because,
        run=UNSET if run is None else run,
        format=UNSET if format is None else format,
        value=value,
    )
    return replace(draft, revision=draft.revision + 1, settled={**draft.settled, at: how})


def unsettle(draft: Draft, at: str) -> Draft:
    """Take a settlement back."""
    if at not in draft.settled:
        raise refuse("builder/settlement", at, "a field that was settled", "none")
    rest = {field: how for field, how in draft.settled.items() if field != at}
    return replace(draft, revision=draft.revision + 1, settled=rest)


# Names of hosts

_ADDRESS = re.compile(r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9.])")


def pseudonymise(draft: Draft, hosts: Iterable[str] = ()) -> Draft:
    """Give every host a stand-in for the document: those named, and IPv4 addresses in names and texts of files.

    A host keeps its stand-in for as long as the draft lives, whatever is added later.
    """
    named = [host.strip() for host in hosts]
    check(*(("/pseudonyms", host, Text) for host in named))
    found = dict.fromkeys((*named, *sorted(_addresses(draft))))
    known = dict(draft.pseudonyms)
    for host in found:
        known.setdefault(host, f"host-{len(known) + 1}")
    if len(known) > MAX_HOSTS:
        raise refuse("builder/limit", "/pseudonyms", f"at most {MAX_HOSTS:,} hosts", f"{len(known):,}")
    return draft if known == draft.pseudonyms else replace(draft, revision=draft.revision + 1, pseudonyms=known)


def _addresses(draft: Draft) -> set[str]:
    texts = [file.name for file in draft.files.values()]
    texts += [
        value.value
        for file in draft.files.values()
        for run in file.runs
        for value in run.values
        if isinstance(value.value, str)
    ]
    return {address for text in texts for address in _ADDRESS.findall(text) if _is_address(address)}


def _is_address(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True
