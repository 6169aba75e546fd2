"""Make the evidence document of a draft, or list everything that keeps it from being made.

Rules kept: the bytes are canonical, so the same draft gives the same document; strict intake accepts them for this
contract, or there is no document; every value names its source; files are named by digest, size and name, those of
which a run is used; nothing predicted and nothing proposed is in it. Stand-ins for hosts are put in last, so that no
text of the document names one.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from planner.builder.conflicts import conflict_sentence, open_conflicts
from planner.builder.files import file_of, placed_runs, run_of
from planner.builder.placing import feeding
from planner.builder.pointing import most_exact
from planner.builder.questions import questions_of
from planner.builder.records import Draft
from planner.builder.shapes import SAME_RUN
from planner.builder.state import Assembly, OpenPoint, Question
from planner.builder.trees import Trees, trees_of
from planner.canonical import canonical_bytes, file_sha256
from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError
from planner.intake import read_evidence
from planner.intake.evidence import EVIDENCE_SCHEMA
from planner.pointers import joined, steps
from planner.records.evidence import ValueSource

__all__ = ["assemble", "document_tree", "open_points"]

Json = Any


def assemble(draft: Draft, contract: ContractDocument) -> Assembly:
    """Return the document, or all that is open; never half of it."""
    trees = trees_of(draft, contract)
    return assembled(draft, contract, trees, questions_of(draft, contract, trees.trials))


def assembled(draft: Draft, contract: ContractDocument, trees: Trees, asked: Iterable[Question]) -> Assembly:
    """Return the document of trees and questions that were made before."""
    points = (*open_points(draft, contract, trees, asked),)
    if points:
        return _open(points)
    tree, files = document_tree(draft, contract, trees)
    try:
        raw = canonical_bytes(tree)
        document = read_evidence(raw, contract)
    except DocumentRefusedError as refused:
        return _open(
            OpenPoint(code=problem.code, field=problem.pointer, sentence=_expected(problem.expected, problem.found))
            for problem in refused.problems
        )
    except (TypeError, ValueError, RecursionError) as error:
        return _open((OpenPoint(code="builder/value", field="", sentence=f"a value is no JSON value: {error}"),))
    return Assembly(document=raw, content_id=document.content_id, file_sha256=file_sha256(raw), files=files, open=())


def _open(points: Iterable[OpenPoint]) -> Assembly:
    return Assembly(document=b"", content_id=None, file_sha256=None, files=(), open=tuple(points))


def _expected(expected: str, found: str) -> str:
    return f"expected {expected}, found {found}"


def open_points(
    draft: Draft, contract: ContractDocument, trees: Trees, asked: Iterable[Question]
) -> Iterator[OpenPoint]:
    """Yield everything that keeps the document from being made, before intake is asked."""
    if draft.contract_content_id != contract.content_id:
        sentence = f"the draft is for the contract {draft.contract_content_id}"
        yield OpenPoint(code="builder/other_contract", field="/contract_content_id", sentence=sentence)
    if not draft.trials:
        yield OpenPoint(code="builder/no_trial", field="/trials", sentence="no run of the files makes up a trial")
    for name, trial in draft.trials.items():
        if not trial.windows:
            at = joined(("trials", name, "windows"))
            sentence = "the trial has no window: no load of its files is like a load point of the contract"
            yield OpenPoint(code="builder/no_window", field=at, sentence=sentence)
    yield from _held(draft)
    yield from _asked(draft, trees, asked)
    for conflict in open_conflicts(draft, trees):
        yield OpenPoint(code="builder/conflict", field=conflict.field, sentence=conflict_sentence(conflict))
    for tree in trees.trials.values():
        for to in tree.overlapping:
            sentence = "another value stands where this one belongs: take one of the two answers back"
            yield OpenPoint(code="builder/overlap", field=to, sentence=sentence)


def _held(draft: Draft) -> Iterator[OpenPoint]:
    for run in dict.fromkeys(run for trial in draft.trials.values() for run in placed_runs(trial)):
        read = run_of(draft, run)
        if read.status == "held" and run not in draft.held:
            why = next((remark.sentence for remark in read.remarks if remark.effect == "held"), "")
            yield OpenPoint(code="builder/held", field=f"/held/{run}", sentence=f"{file_of(draft, run).name}: {why}")


def _asked(draft: Draft, trees: Trees, asked: Iterable[Question]) -> Iterator[OpenPoint]:
    for question in asked:
        if question.needed and question.answered is None and not _said(draft, trees, question.field):
            yield OpenPoint(code="builder/unanswered", field=question.field, sentence=question.question)
        elif steps(question.field)[-1] == SAME_RUN and question.answer is False:
            sentence = "files of different runs are no trial: move them apart, or leave them out"
            yield OpenPoint(code="builder/not_same_run", field=question.field, sentence=sentence)


def _said(draft: Draft, trees: Trees, field: str) -> bool:
    """Say whether a field has a value another way: by a settlement with an own value."""
    how = most_exact(draft.settled, field)
    own = trees.trials.get(steps(field)[1]) if field.count("/") > 1 else None
    return (how is not None and how[1].value is not UNSET) or (own is not None and field in own.values)


# The document


def document_tree(
    draft: Draft, contract: ContractDocument, trees: Trees, only: str | None = None
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the document as far as it goes, with the files that it names; ``only`` one trial of it."""
    chosen = {name: tree for name, tree in trees.trials.items() if only in (None, name)}
    sources: dict[str, ValueSource] = {}
    provenance: dict[str, Json] = {}
    for to, what in trees.provenance.items():
        if what.value is not UNSET:
            _nested(provenance, steps(to)[1:], what.value)
            if what.source is not None:
                sources[to] = what.source
    for own in chosen.values():
        sources |= own.sources
    files = _files(draft, chosen, sources)
    provenance["files"] = {
        name: {"name": draft.files[name].name, "sha256": draft.files[name].sha256, "bytes": draft.files[name].bytes}
        for name in files
    }
    provenance["sources"] = {to: msgspec.to_builtins(source) for to, source in sorted(sources.items())}
    tree = {
        "schema": EVIDENCE_SCHEMA,
        "contract_content_id": contract.content_id,
        "scope": contract.record.slot,
        "provenance": {name: value for name, value in provenance.items() if value != {}},
        "identities": {name: one.identity for name, one in chosen.items()},
        "trials": {name: one.trial for name, one in chosen.items()},
    }
    return _pseudonymised(tree, draft.pseudonyms), files


def _nested(tree: dict[str, Json], path: tuple[str, ...], value: Json) -> None:
    for step in path[:-1]:
        below = tree.setdefault(step, {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[path[-1]] = value


def _files(draft: Draft, chosen: Mapping[str, Any], sources: Mapping[str, ValueSource]) -> tuple[str, ...]:
    """Return the files of which a run is used, whether or not a value of it counts: they were looked at."""
    used = {run.partition(".")[0] for name in chosen for run, _, _ in feeding(draft, draft.trials[name])}
    used |= {str(source.file) for source in sources.values() if source.file is not UNSET}
    earlier = {draft.files[name].before for name in used}
    used |= {name for name, file in draft.files.items() if file.sha256 in earlier}
    return tuple(sorted(used))


def _pseudonymised(tree: Json, pseudonyms: Mapping[str, str]) -> Json:
    if not pseudonyms:
        return tree
    # The longest first: a host may be the beginning of another one's name.
    hosts = sorted(pseudonyms, key=lambda host: (-len(host), host))
    anywhere = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, hosts))})(?![A-Za-z0-9])")

    def clean(value: Json) -> Json:
        if isinstance(value, str):
            return anywhere.sub(lambda found: pseudonyms[found[0]], value)
        if isinstance(value, dict):
            return {name: clean(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [clean(item) for item in value]
        return value

    return clean(tree)
