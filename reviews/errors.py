"""Why a request was not carried out: one class per reason, each with the HTTP status that pages and API answer.

``message`` is for people and follows the interface's copy rules; ``code`` is stable and documented.
"""

import unicodedata
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

from planner.errors import Problem

DocumentName = Literal["contract", "evidence", "observations", "request"]


def printable(text: str, limit: int = 40) -> str:
    """Return foreign text as it may stand in a message, an entry or a column: printable, and not long."""
    return (text if text.isprintable() else ascii(text))[:limit]


def is_storable(text: str) -> bool:
    """Whether both databases hold the text: no NUL, no lone surrogate."""
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _is_deceptive(sign: str) -> bool:
    """Whether a sign changes how text around it is shown: a control sign, an embedding or override of direction."""
    is_control = unicodedata.category(sign) == "Cc" and sign not in "\t\r\n"
    return is_control or "\u202a" <= sign <= "\u202e" or "\u2066" <= sign <= "\u2069"


def is_readable(text: str) -> bool:
    """Whether a text is one that documents may hold, line ends and tabs among them."""
    return is_storable(text) and not any(map(_is_deceptive, text))


def readable(text: str) -> str:
    """Return a message that quotes what somebody sent, with escapes for signs that are not readable there."""
    return text if text.isprintable() else "".join(sign if is_readable(sign) else ascii(sign)[1:-1] for sign in text)


def is_prose(text: str, longest: int) -> bool:
    """Whether somebody wrote something that others can read as it was written, and that both databases hold."""
    is_seen = any(sign.isprintable() and not sign.isspace() for sign in text)
    return is_seen and len(text) <= longest and is_readable(text)


def length_of(text: str) -> str:
    """Say how long a refused text is, and which sign that nobody sees is in it: that may be why it is refused."""
    if not text:
        return "nothing"
    unseen = [sign for sign in text if not sign.isprintable() and sign not in "\t\r\n"]
    count = f"{len(text)} character{'' if len(text) == 1 else 's'}"
    if not unseen:
        return count
    return f"{count}, among them U+{ord(max(unseen, key=_is_deceptive)):04X}, which nobody sees"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with what was sent.

    ``document`` names the part it belongs to; ``request`` is everything that is not a document (title, as-of time).
    ``pointer`` is a JSON pointer into the document, or the field's name in the request. ``line`` and ``column``
    (from 1) are given where the bytes themselves are at fault.
    """

    document: DocumentName
    code: str
    pointer: str
    expected: str
    found: str
    line: int | None = None
    column: int | None = None

    @classmethod
    def of(cls, problem: Problem, document: DocumentName, *, pointer: str | None = None) -> Self:
        """Return what the planner found in a part of a request; ``pointer`` where the place has another name there."""
        return cls(
            document=document,
            code=problem.code,
            pointer=problem.pointer if pointer is None else pointer,
            expected=problem.expected,
            found=problem.found,
            line=problem.line,
            column=problem.column,
        )

    @property
    def sentence(self) -> str:
        """The finding in words, as in ``evidence /scope: expected ..., found ...``."""
        where = self.pointer if self.document == "request" else f"{self.document} {self.pointer}".rstrip()
        return readable(f"{where}: expected {self.expected}, found {self.found}.")


class ReviewError(Exception):
    """Base of everything the review application refuses on purpose."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "refused"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = readable(message)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything that is wrong, one sentence each."""
        return (self.message,)


class NotFoundError(ReviewError):
    """There is no such thing, or none that this person may know of."""

    status = 404
    code = "not_found"


class NotAuthenticatedError(ReviewError):
    """Nobody has shown who they are, or what was shown is not accepted."""

    status = 401
    code = "not_authenticated"


class NotAllowedError(ReviewError):
    """The person may see it but not do this with it."""

    status = 403
    code = "not_allowed"


class ProofNeededError(NotAllowedError):
    """The act binds the person, and they have not shown recently enough who they are.

    ``second_factor``: a password is not enough.
    """

    code = "proof_needed"

    def __init__(self, message: str, *, second_factor: bool = False) -> None:
        super().__init__(message)
        self.second_factor = second_factor


class ConflictError(ReviewError):
    """The request does not fit the present state.

    ``moved`` names the parts of the subject that changed since the person saw it (contract, evidence, identity,
    plan, policy, planner); ``revision`` is the newest revision's number, where there is one.
    """

    status = 409
    code = "conflict"

    def __init__(self, message: str, *, moved: tuple[str, ...] = (), revision: int | None = None) -> None:
        super().__init__(message)
        self.moved = moved
        self.revision = revision


class TamperedError(ReviewError):
    """Stored bytes are not the ones that were stored; nothing is shown of them, decided or signed on them."""

    status = 409
    code = "tampered"


class InvalidRequestError(ReviewError):
    """Fields of the request are wrong; ``problems`` lists all of them."""

    status = 422
    code = "invalid_request"

    def __init__(self, problems: tuple[Finding, ...]) -> None:
        super().__init__(" ".join(problem.sentence for problem in problems))
        self.problems = problems

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything that is wrong, one sentence each."""
        return tuple(problem.sentence for problem in self.problems)


class DocumentsRefusedError(InvalidRequestError):
    """A contract or evidence was not accepted; nothing of it was stored."""

    code = "documents_refused"


class LeaseLostError(ReviewError):
    """A planner run ended after another worker had taken its job over; its result is dropped."""

    status = 409
    code = "lease_lost"
