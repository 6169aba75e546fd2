"""The planner's errors: one class per reason, each carrying every problem found."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a document.

    ``code`` is stable and documented (``json/...`` or ``document/...``); ``pointer`` is an RFC 6901 JSON
    pointer ("" is the whole document); ``expected`` and ``found`` are for people. ``line`` and ``column``
    (from 1) are given where the bytes themselves are at fault. ``is_lacking`` says that nothing is wrong with what is
    there: something that has to be there is not, yet; it is no part of what the problem is.
    """

    code: str
    pointer: str
    expected: str
    found: str
    line: int | None = None
    column: int | None = None
    is_lacking: bool = field(default=False, compare=False)


class PlannerError(Exception):
    """Base of everything the planner raises on purpose."""


class DocumentRefusedError(PlannerError):
    """A document was not accepted; ``problems`` lists everything wrong with it, never only the first."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__(
            "; ".join(f"{p.code} at {p.pointer or '/'}: expected {p.expected}, found {p.found}" for p in problems)
        )
        self.problems = problems


class TamperedRecordError(PlannerError):
    """A record reached the planner altered or built behind validation's back."""
