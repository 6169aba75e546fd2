"""What the pages of the contract builder show: steps and their state, the form, the document beside it, differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from planner.contract_builder.draft import ContractDraft
from planner.contract_builder.evidence_sets import SETS
from planner.contract_builder.form import form_at
from planner.contract_builder.known_models import KNOWN_MODELS
from planner.contract_builder.questions import Question, questions
from planner.contract_builder.rendered import Judged, judged
from planner.contract_builder.steps import REVIEW, STEPS, Step, step_at
from planner.errors import Problem
from planner.gates import GATES
from planner.intake.parts import object_at
from planner.undeclared import undeclared
from reviews.web.byte_text import bytes_text
from reviews.web.contract_builder_rows import (
    CollectionRow,
    FieldRow,
    PartRow,
    dom_id,
    field_ids,
    needed_sentence,
    part_row,
    parts_of,
    wrong_sentence,
)
from reviews.web.formats import count

__all__ = ["StepRow", "builder_page", "problems_by_step", "step_after", "step_before"]

ALL_LINES = 40
"""Lines up to which the document is shown whole beside every step; of a longer one, the lines of the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """A step as the rail shows it."""

    id: str
    label: str
    number: int
    is_current: bool
    wrong: int
    needed: int
    is_blank: bool

    @property
    def state(self) -> str:
        """In words what is left to do."""
        parts = [f"{self.wrong} wrong" if self.wrong else "", f"{self.needed} needed" if self.needed else ""]
        blank = "not complete yet" if self.id == REVIEW.id else "left out"
        return ", ".join(part for part in parts if part) or (blank if self.is_blank else "complete")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRow:
    """A line of the document; ``skipped`` counts lines that are not shown in its place."""

    number: int
    text: str
    is_wrong: bool = False
    is_here: bool = False
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemRow:
    """A problem that has no control of its own on the page, or any of them on the review."""

    pointer: str
    sentence: str
    is_open: bool
    code: str
    line: int | None
    step: str
    anchor: str
    can_take_out: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRow:
    """A question about the hardware, with the control of its answer."""

    id: str
    name: str
    text: str
    ids: tuple[str, ...]
    is_needed: bool
    settles: str
    field: FieldRow | None

    @property
    def for_name(self) -> str:
        """The name of the ticks that say whom an answer is for."""
        return f"for:{self.name}"


def builder_page(draft: ContractDraft, step: Step, opened: str) -> dict[str, Any]:
    """Return the context of one step."""
    found = judged(draft.tree)
    parts = [part_row(form_at(draft.tree, at, opened=opened), found.problems, draft.origins) for at in step.pointers]
    shown, folded = _names(parts), _folded(parts)
    here = [problem for problem in found.problems if step_at(problem.pointer) is step]
    rows = _steps(draft, found, step)
    return {
        "step": step,
        "steps": rows,
        "current": next(row for row in rows if row.is_current),
        "loose": [part for part in parts if isinstance(part, FieldRow)],
        "parts": [part for part in parts if not isinstance(part, FieldRow)],
        "slots": ",".join(f"#{name}-said" for part in parts for name in field_ids(part)),
        "elsewhere": [_problem_row(problem, draft.tree) for problem in here if not _is_placed(problem, shown, folded)],
        "lines": _lines(found, step),
        "open_count": sum(problem.is_lacking for problem in found.problems),
        "wrong_count": len(found.wrong),
        "document": found.document,
        "notes": draft.notes,
        "after": step_after(step),
        "before": step_before(step),
        **_PANELS.get(step.id, _no_panel)(draft, found),
    }


def step_after(step: Step) -> Step | None:
    """Return the next step, None after the last."""
    place = STEPS.index(step) + 1
    return STEPS[place] if place < len(STEPS) else None


def step_before(step: Step) -> Step | None:
    """Return the step before, None before the first."""
    place = STEPS.index(step)
    return STEPS[place - 1] if place else None


def _names(rows: Iterable[PartRow]) -> set[str]:
    """Return the pointers that have a place of their own on the page."""
    return {name for row in rows for name in (row.name, *_names(parts_of(row)))}


def _folded(rows: Iterable[PartRow]) -> set[str]:
    """Return the pointers of what is listed, or only counted, and says of itself what is wrong inside."""
    found: set[str] = set()
    for row in rows:
        if isinstance(row, CollectionRow):
            found |= {entry.name for entry in row.closed} | ({row.name} if row.more else set())
        found |= _folded(parts_of(row))
    return found


def _is_placed(problem: Problem, shown: set[str], folded: set[str]) -> bool:
    ends = (place for place, sign in enumerate(f"{problem.pointer}/") if sign == "/")
    return problem.pointer in shown or any(problem.pointer[:end] in folded for end in ends)


def _steps(draft: ContractDraft, found: Judged, current: Step) -> list[StepRow]:
    tallies: dict[str, list[int]] = {step.id: [0, 0] for step in STEPS}
    for problem in found.problems:
        tallies[step_at(problem.pointer).id][problem.is_lacking] += 1
    return [
        StepRow(
            id=step.id,
            label=step.label,
            number=number,
            is_current=step is current,
            wrong=tallies[step.id][False],
            needed=tallies[step.id][True],
            is_blank=found.document is None if step is REVIEW else not _has_any(draft.tree, step),
        )
        for number, step in enumerate(STEPS, start=1)
    ]


def _has_any(tree: Any, step: Step) -> bool:
    return any(_held(tree, pointer) for pointer in step.pointers)


def _held(tree: Any, pointer: str) -> bool:
    for name in pointer.split("/")[1:]:
        tree = tree.get(name) if isinstance(tree, dict) else None
    return tree not in (None, {}, [])


def _problem_row(problem: Problem, tree: Mapping[str, Any]) -> ProblemRow:
    step = step_at(problem.pointer)
    return ProblemRow(
        pointer=problem.pointer or "/",
        sentence=needed_sentence(problem) if problem.is_lacking else wrong_sentence(problem),
        is_open=problem.is_lacking,
        code=problem.code,
        line=problem.line,
        step=step.id,
        anchor=dom_id(problem.pointer),
        can_take_out=bool(problem.pointer) and _held(tree, problem.pointer),
    )


def _lines(found: Judged, step: Step) -> list[LineRow]:
    bad = {problem.line for problem in found.wrong}
    rows = [
        LineRow(number=number, text=line.text, is_wrong=number in bad, is_here=_is_in(line.pointer, step))
        for number, line in enumerate(found.lines, start=1)
    ]
    if step is REVIEW or len(rows) <= ALL_LINES:
        return rows
    shown: list[LineRow] = []
    for is_kept, group in groupby(rows, key=lambda row: row.is_here or row.is_wrong):
        members = list(group)
        shown += members if is_kept else [LineRow(number=members[0].number, text="", skipped=len(members))]
    return shown


def _is_in(pointer: str, step: Step) -> bool:
    return any(f"{pointer}/".startswith(f"{part}/") for part in step.pointers)


def _no_panel(draft: ContractDraft, found: Judged) -> dict[str, Any]:
    return {}


def _model_panel(draft: ContractDraft, found: Judged) -> dict[str, Any]:
    return {"known_models": [model.name for model in KNOWN_MODELS], "model_name": draft.model}


def _hardware_panel(draft: ContractDraft, found: Judged) -> dict[str, Any]:
    hardware = object_at(draft.tree, "identity", "hardware")
    parts = [count(len(object_at(hardware, name)), word) for name, word in _COUNTED if object_at(hardware, name)]
    rows = [_question_row(question) for question in questions(draft.tree)]
    return {
        "has_nodes": bool(object_at(hardware, "nodes")),
        "hardware_summary": ", ".join(parts),
        "needed_questions": [row for row in rows if row.is_needed],
        "other_questions": [row for row in rows if not row.is_needed],
        "node_origins": [
            (pointer.rpartition("/")[2], origin)
            for pointer, origin in draft.origins.items()
            if pointer.startswith("/identity/hardware/nodes/")
        ],
    }


_COUNTED = (("nodes", "node"), ("devices", "device"), ("nics", "NIC"), ("islands", "island"), ("links", "link"))


def _question_row(question: Question) -> QuestionRow:
    row = None if question.field is None else part_row(question.field, (), {})
    return QuestionRow(
        id=dom_id(f"answer:{question.pointer}"),
        name=question.pointer,
        text=question.text,
        ids=question.ids,
        is_needed=question.is_needed,
        settles=question.settles,
        field=row if isinstance(row, FieldRow) else None,
    )


def _limits_panel(draft: ContractDraft, found: Judged) -> dict[str, Any]:
    declared = object_at(draft.tree, "gates")
    families = [
        (family, [(gate.id, gate.title, gate.id in declared) for gate in gates if gate.limit is not None])
        for family, gates in ((family, list(group)) for family, group in groupby(GATES, key=lambda gate: gate.family))
    ]
    return {
        "families": [(family, gates) for family, gates in families if gates],
        "undeclared_families": [
            family for family, gates in families if gates and not any(taken for _, _, taken in gates)
        ],
    }


def _evidence_panel(draft: ContractDraft, found: Judged) -> dict[str, Any]:
    held = object_at(draft.tree, "evidence_required")
    metrics = {entry.get("metric") for entry in held.values() if isinstance(entry, dict)}
    return {
        "sets": [
            (
                chosen.id,
                chosen.title,
                chosen.purpose,
                all(wanted.metric in metrics for wanted in chosen.wanted.values()),
            )
            for chosen in SETS
        ]
    }


def problems_by_step(problems: Iterable[Problem], tree: Mapping[str, Any]) -> list[tuple[str, list[ProblemRow]]]:
    """Return what is needed or wrong under the titles of the steps that it is of, in their order."""
    rows = [_problem_row(problem, tree) for problem in problems]
    by_step = [(step.title, [row for row in rows if row.step == step.id]) for step in STEPS]
    return [(title, listed) for title, listed in by_step if listed]


def _review_panel(draft: ContractDraft, found: Judged) -> dict[str, Any]:
    return {
        "problems_by_step": problems_by_step(found.problems, draft.tree),
        "undeclared": [] if found.document is None else [u.sentence for u in undeclared(found.document.record, GATES)],
        "size": bytes_text(len(found.raw)),
    }


_PANELS = {
    "model": _model_panel,
    "hardware": _hardware_panel,
    "limits": _limits_panel,
    "evidence": _evidence_panel,
    "review": _review_panel,
}
