"""Rows of what a person has to say in the evidence builder: held runs and questions. Pure.

Rules kept: a proposal becomes an answer only where somebody confirms it. Questions without which there is no document
come first, then those that gates read, then the rest.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from planner.builder import Draft, DraftState
from planner.builder.state import Proposal, Question
from planner.pointers import steps
from reviews.web.builder_acts import DEGREES
from reviews.web.builder_rows import RunLine, run_line
from reviews.web.builder_texts import json_example, place_text, scope_text, shown_json
from reviews.web.formats import count, listed
from reviews.web.words import Word

QUESTIONS_A_PAGE = 40
HELD_SHOWN = 30
MOST_ALIKE = 16
"""Trials or windows that one question names; of more, all are answered at once, or the rest on the next round."""
SHARED_KINDS = ("text", "count", "number", "switch", "choice", "json")
"""Kinds of answers that several trials often share; times, placements and degrees are each one's own."""

GROUPS = {
    "provenance": "Where it comes from",
    "trial": "Topology and placement",
    "window": "Windows",
    "model": "Model",
    "precision": "Precision",
    "workload": "Workload",
    "stack": "Software",
    "hardware": "Hardware",
    "telemetry": "Telemetry",
    "asked": "What no file says",
}
OPTIONAL = 2
LEAST_ROWS = {"rank_map": 4, "json": 2}
"""Kind of a question -> lines of its field while nothing stands in it."""
RANKS = ("", ", which gates read", ", if you know")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRow:
    """A run that its importer held for a person, with the reasons."""

    run: RunLine
    reasons: tuple[str, ...]
    decided: Word | None
    because: str


def held_rows(draft: Draft, state: DraftState) -> tuple[HeldRow, ...]:
    """Make rows of held runs, those that nobody decided on first."""
    words = {True: Word("Used", "pass", "pass"), False: Word("Not used", "na", "na")}
    ordered = sorted(state.held, key=lambda run: run.decided is not None)[:HELD_SHOWN]
    return tuple(
        HeldRow(
            run=run_line(draft, one.run),
            reasons=one.reasons,
            decided=None if one.decided is None else words[one.decided],
            because=str(draft.held[one.run].because) if one.run in draft.held else "",
        )
        for one in ordered
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRow:
    """A proposed answer, as text; ``fields`` are the questions that it answers, as JSON where there are several."""

    fields: str
    of: str
    value: str
    sentence: str
    where: str
    is_ticked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """A question with its controls. ``was`` is what stood in them, so that only what changed is an answer.

    ``of`` names the trial and window, where the form asks of several.
    """

    number: int
    field: str
    of: str
    question: str
    kind: str
    unit: str
    needed: bool
    gates: str
    is_answered: bool
    answered_at: str
    text: str
    was: str
    example: str
    rows: int
    choices: tuple[tuple[str, bool], ...]
    parts: tuple[tuple[str, str, tuple[tuple[str, bool], ...]], ...]
    scopes: tuple[tuple[str, str, bool], ...]
    proposals: tuple[ProposalRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionGroup:
    """Questions that one form answers."""

    id: str
    title: str
    questions: tuple[QuestionRow, ...]
    open: int
    summary: str
    proposals: int


@dataclass(frozen=True, slots=True)
class QuestionsPage:
    """One page of questions."""

    groups: tuple[QuestionGroup, ...]
    page: int
    pages: int
    total: int


@dataclass(frozen=True, slots=True)
class Given:
    """What a form held that was not taken, or that only asked to tick: texts by question, and what is ticked.

    ``tick`` names the group all of whose proposals are to be ticked.
    """

    typed: Mapping[str, Mapping[str, str]]
    ticked: frozenset[str] = frozenset()
    tick: str = ""


def rank_of(question: Question) -> int:
    """Return 0 for a question without which there is no document, 1 for one that a gate reads, 2 for the rest."""
    return 0 if question.needed else 1 if question.gates else 2


def questions_page(state: DraftState, page: int, given: Given, *, shows_all: bool) -> QuestionsPage:
    """Cut one page of questions: needed ones first, then those that gates read, then the rest where all are shown.

    The same question of several trials or windows that nobody answered yet is asked once.
    """
    asked = asked_once(question for question in state.questions if shows_all or rank_of(question) < OPTIONAL)
    order = list(GROUPS)
    asked.sort(key=lambda same: (rank_of(same[0]), order.index(same[0].group), len(same) == 1))
    pages = max(1, -(-len(asked) // QUESTIONS_A_PAGE))
    page = min(max(page, 1), pages)
    shown = asked[(page - 1) * QUESTIONS_A_PAGE : page * QUESTIONS_A_PAGE]
    groups = tuple(
        _group(f"g{number}", name[1], list(questions), given)
        for number, (name, questions) in enumerate(groupby(shown, key=lambda same: (rank_of(same[0]), same[0].group)))
    )
    return QuestionsPage(groups, page, pages, len(asked))


def asked_once(questions: Iterable[Question]) -> list[tuple[Question, ...]]:
    """Put the same open questions of several trials or windows together, where one answer may hold for all of them."""
    together: dict[tuple[str, ...], list[Question]] = {}
    for question in questions:
        is_shared = question.kind in SHARED_KINDS and question.answered is None and len(question.answer_at) > 1
        rank = str(rank_of(question))
        key = (question.answer_at[-1], question.question, rank) if is_shared else (question.field,)
        together.setdefault(key, []).append(question)
    return [tuple(same) for same in together.values()]


def _group(id_: str, group: str, questions: Sequence[tuple[Question, ...]], given: Given) -> QuestionGroup:
    rows = tuple(question_row(number, same, given, id_) for number, same in enumerate(questions))
    unanswered = sum(not row.is_answered for row in rows)
    summary = f"{count(unanswered, 'question')} open" if unanswered else f"{count(len(rows), 'question')}, all answered"
    return QuestionGroup(
        id=id_,
        title=f"{GROUPS[group]}{RANKS[rank_of(questions[0][0])]}",
        questions=rows,
        open=unanswered,
        summary=summary,
        proposals=sum(len(row.proposals) for row in rows),
    )


def question_row(number: int, same: Sequence[Question], given: Given, group: str) -> QuestionRow:
    """Make the row of a question; what somebody typed and was refused stands in the place of the answer."""
    question = same[0]
    typed = given.typed.get(question.field)
    stood = parts_of(question, question.answer if question.answered is not None else None)
    shown = {**stood, **typed} if typed is not None else stood
    # The order is that of the form's own names: the text first, then its parts.
    was = "\n".join([stood.get("", ""), *(stood[name] for name in sorted(stood) if name)])
    names = DEGREES if question.kind == "instances" else question.rows if question.kind == "names" else ()
    return QuestionRow(
        number=number,
        field=question.field,
        of=of_text(question) if len(same) == 1 else "",
        question=question.question,
        kind=question.kind,
        unit=question.unit,
        needed=question.needed,
        gates="" if question.needed else "; ".join(dict.fromkeys(gate for one in same for gate in one.gates)),
        is_answered=question.answered is not None,
        answered_at=question.answered or "",
        text=shown.get("", ""),
        was=was,
        example=json_example(question.field) if question.kind == "json" else "",
        rows=min(12, shown.get("", "").count("\n") + LEAST_ROWS.get(question.kind, 1)),
        choices=tuple((choice, choice == shown.get("")) for choice in question.choices),
        parts=tuple(
            (name, shown.get(name, ""), tuple((choice, choice == shown.get(name)) for choice in question.choices))
            for name in names
        ),
        scopes=_scopes(same),
        proposals=() if question.answered else tuple(_proposals(same, given, is_all=given.tick == group)),
    )


def _scopes(same: Sequence[Question]) -> tuple[tuple[str, str, bool], ...]:
    """Return for what an answer may be given; of a question asked once for several, all of them come first."""
    question = same[0]
    at = question.answered or question.field
    if len(same) == 1:
        return tuple((pointer, scope_text(pointer), pointer == at) for pointer in question.answer_at)
    widest = question.answer_at[-1]
    return (
        (widest, scope_text(widest), True),
        *((one.field, f"{of_text(one)} only", False) for one in same[:MOST_ALIKE]),
    )


def of_text(question: Question) -> str:
    """Name the trial, the window and the device or the like that a question is about."""
    path = steps(question.field)
    thing = path[4] if path[0] == "identities" and path[2:3] == ("hardware",) and len(path) > 4 else ""
    return " · ".join(part for part in (question.trial, question.window, thing) if part)


def _proposals(same: Sequence[Question], given: Given, *, is_all: bool) -> Iterator[ProposalRow]:
    """Yield the first proposal of each question; equal ones are one."""
    alike: dict[tuple[str, str], list[Question]] = {}
    for question in same:
        if question.proposals:
            first = question.proposals[0]
            alike.setdefault((shown_json(first.value), first.sentence), []).append(question)
    for questions in list(alike.values())[:MOST_ALIKE]:
        fields = [question.field for question in questions]
        chosen = fields[0] if len(fields) == 1 else shown_json(fields)
        of = "" if len(alike) == 1 else listed([of_text(question) for question in questions[:4]])
        yield replace(proposal_row(questions[0], chosen, of), is_ticked=is_all or chosen in given.ticked)


def proposal_row(question: Question, fields: str, of: str) -> ProposalRow:
    """Make the row of a question's first proposal."""
    proposal: Proposal = question.proposals[0]
    parts = parts_of(question, proposal.value)
    if isinstance(proposal.value, bool):
        parts = {"": "yes" if proposal.value else "no"}
    text = parts.get("") or ", ".join(f"{name} {value}" for name, value in parts.items() if name and value)
    return ProposalRow(
        fields=fields,
        of=of,
        value=text if len(text) <= 400 else f"{text[:400]}…",
        sentence=proposal.sentence,
        where=place_text(proposal.place) if proposal.place else "",
    )


def parts_of(question: Question, value: Any) -> dict[str, str]:
    """Write an answer as the texts of its controls: ``""`` is the field itself, other names are its parts."""
    if question.kind == "names":
        held = value if isinstance(value, dict) else {}
        return {"": "", **{name: str(held.get(name, "")) for name in question.rows}}
    if question.kind == "instances":
        is_plain = (
            isinstance(value, list | tuple)
            and len(value) == 1
            and isinstance(value[0], dict)
            and value[0].keys() <= set(DEGREES)
        )
        held = value[0] if is_plain else {}
        text = "" if is_plain or value is None else shown_json(value)
        return {"": text, **{name: str(held.get(name, "")) for name in DEGREES}}
    if value is None:
        return {"": ""}
    if question.kind == "rank_map" and isinstance(value, list | tuple):
        keys = ("rank", "node", "device", "nic")
        if all(isinstance(one, dict) and one.keys() <= set(keys) for one in value):
            return {"": "\n".join(" ".join(str(one[key]) for key in keys if key in one) for one in value)}
    if isinstance(value, bool):
        return {"": "true" if value else "false"}
    return {"": value if isinstance(value, str) else shown_json(value)}
