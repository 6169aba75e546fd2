"""What a person does to a draft of evidence, as data: the pages and the API make these, one function applies them.

Each is one call of ``planner.builder``; ``do`` names it. A list of changes is applied whole or not at all.
"""

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from planner import builder, strict_json
from planner.errors import DocumentRefusedError
from reviews.building import Work
from reviews.errors import Finding, InvalidRequestError, printable

__all__ = ["MOST_CHANGES", "At", "Change", "Name", "apply", "changes_from", "sent_as"]

MOST_CHANGES = 1000
Name = Annotated[str, Meta(max_length=128)]
At = Annotated[str, Meta(max_length=512)]
Because = Annotated[str, Meta(max_length=2000)]


class _Change(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    """What all changes share. Each has ``to``: the draft after it, where ``by`` is the label of who made it."""


class ProposeAnew(_Change, frozen=True, kw_only=True, tag="propose_anew"):
    """Throw the arrangement away and propose trials for all runs again."""

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.proposed(work.draft, work.contract, anew=True)


class MoveRun(_Change, frozen=True, kw_only=True, tag="move_run"):
    """Put a run into a trial, or into a window of it; ``copy`` leaves it where it is as well."""

    run: Name
    trial: Name
    window: Name | None = None
    copy: bool = False

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.move_run(work.draft, self.run, trial=self.trial, window=self.window, copy=self.copy)


class LeaveOut(_Change, frozen=True, kw_only=True, tag="leave_out"):
    """Leave a run out, with the reason."""

    run: Name
    because: Because

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.leave_out(work.draft, self.run, by=by, because=self.because)


class TakeBack(_Change, frozen=True, kw_only=True, tag="take_back"):
    """Take a run back that was left out."""

    run: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.take_back(work.draft, work.contract, self.run)


class DecideHeld(_Change, frozen=True, kw_only=True, tag="decide_held"):
    """Decide whether a run that its importer held is used, with the reason."""

    run: Name
    use: bool
    because: Because

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.decide_held(work.draft, self.run, use=self.use, by=by, because=self.because)


class NewTrial(_Change, frozen=True, kw_only=True, tag="new_trial"):
    """Add an empty trial."""

    trial: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.new_trial(work.draft, self.trial)


class RenameTrial(_Change, frozen=True, kw_only=True, tag="rename_trial"):
    """Give a trial another name."""

    trial: Name
    new: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.rename_trial(work.draft, self.trial, self.new)


class SplitTrial(_Change, frozen=True, kw_only=True, tag="split_trial"):
    """Move windows of a trial into a new one."""

    trial: Name
    windows: tuple[Name, ...]
    new: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.split_trial(work.draft, self.trial, self.windows, self.new)


class MergeTrials(_Change, frozen=True, kw_only=True, tag="merge_trials"):
    """Move everything of ``other`` into ``trial``."""

    trial: Name
    other: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.merge_trials(work.draft, self.trial, self.other)


class RemoveTrial(_Change, frozen=True, kw_only=True, tag="remove_trial"):
    """Remove a trial; its runs are in none then."""

    trial: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.remove_trial(work.draft, self.trial)


class NewWindow(_Change, frozen=True, kw_only=True, tag="new_window"):
    """Add an empty window to a trial, at a load point of the contract."""

    trial: Name
    window: Name
    load_point: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.new_window(work.draft, work.contract, self.trial, self.window, self.load_point, by=by)


class RenameWindow(_Change, frozen=True, kw_only=True, tag="rename_window"):
    """Give a window another name."""

    trial: Name
    window: Name
    new: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.rename_window(work.draft, self.trial, self.window, self.new)


class SetLoadPoint(_Change, frozen=True, kw_only=True, tag="set_load_point"):
    """Say at which load point of the contract a window was measured."""

    trial: Name
    window: Name
    load_point: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.set_load_point(work.draft, work.contract, self.trial, self.window, self.load_point, by=by)


class RemoveWindow(_Change, frozen=True, kw_only=True, tag="remove_window"):
    """Remove a window; its runs are in none then."""

    trial: Name
    window: Name

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.remove_window(work.draft, self.trial, self.window)


class AnswerQuestion(_Change, frozen=True, kw_only=True, tag="answer"):
    """Answer a question; ``at`` is one of its pointers."""

    at: At
    value: Any
    because: Because | None = None

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.answer(work.draft, work.contract, self.at, self.value, by=by, because=self.because)


class Unanswer(_Change, frozen=True, kw_only=True, tag="unanswer"):
    """Take an answer back."""

    at: At

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.unanswer(work.draft, self.at)


class Confirm(_Change, frozen=True, kw_only=True, tag="confirm"):
    """Take the first proposal of each of these questions as the answer."""

    fields: tuple[At, ...]

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.confirm(work.draft, work.contract, self.fields, by=by)


class Settle(_Change, frozen=True, kw_only=True, tag="settle"):
    """Settle conflicts at a pointer: by the run that counts, by the kind of file, or with an own value."""

    at: At
    because: Because
    run: Name | None = None
    format: Name | None = None
    value: Any | UnsetType = UNSET

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.settle(
            work.draft,
            self.at,
            by=by,
            because=self.because,
            run=self.run,
            format=self.format,
            value=self.value,
        )


class Unsettle(_Change, frozen=True, kw_only=True, tag="unsettle"):
    """Open a settled conflict again."""

    at: At

    def to(self, work: Work, by: str) -> builder.Draft:
        return builder.unsettle(work.draft, self.at)


Change = (
    ProposeAnew
    | MoveRun
    | LeaveOut
    | TakeBack
    | DecideHeld
    | NewTrial
    | RenameTrial
    | SplitTrial
    | MergeTrials
    | RemoveTrial
    | NewWindow
    | RenameWindow
    | SetLoadPoint
    | RemoveWindow
    | AnswerQuestion
    | Unanswer
    | Confirm
    | Settle
    | Unsettle
)


class _Sent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    changes: Annotated[tuple[Change, ...], Meta(min_length=1, max_length=MOST_CHANGES)]


S = TypeVar("S")


def changes_from(raw: bytes) -> tuple[Change, ...]:
    """Read changes as the API takes them: ``{"changes": [{"do": ..., ...}, ...]}``.

    Raises:
        InvalidRequestError: it is not JSON, or no list of known changes.
    """
    return sent_as(raw, _Sent).changes


def sent_as(raw: bytes, shape: type[S]) -> S:
    """Read a list of changes in the shape of one kind of draft.

    Raises:
        InvalidRequestError: it is not JSON, or not of this shape.
    """
    try:
        # As strictly as documents: what is taken here has to stand in one later.
        return msgspec.convert(strict_json.parse(raw), type=shape)
    except DocumentRefusedError as refused:
        findings = (
            Finding("request", "request/change", one.pointer, one.expected, one.found, one.line, one.column)
            for one in refused.problems
        )
        raise InvalidRequestError(tuple(findings)) from refused
    except msgspec.ValidationError as wrong:
        # The message of the decoder names expectation, finding and place: "... - at `$.changes[0].run`".
        text, _, place = str(wrong).partition(" - at `$")
        pointer = "/changes" if not place else place.rstrip("`").replace(".", "/").replace("[", "/").replace("]", "")
        finding = Finding("request", "request/change", pointer, "changes as documented", printable(text, 200))
    raise InvalidRequestError((finding,))


def apply(work: Work, changes: Sequence[Change], *, by: str) -> builder.Draft:
    """Return the draft after all changes.

    Raises:
        InvalidRequestError: one of them cannot be made; pointers begin with its place in the list.
    """
    for number, change in enumerate(changes):
        try:
            work = Work(change.to(work, by), work.contract)
        except DocumentRefusedError as refused:
            placed = (
                Finding.of(problem, "request", pointer=f"/changes/{number}{problem.pointer}")
                for problem in refused.problems
            )
            raise InvalidRequestError(tuple(placed)) from refused
    return work.draft
