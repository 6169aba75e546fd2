"""A decision's history: revisions with what moved between them, sign-offs, and every entry of the log. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from reviews.clock import when, when_exactly
from reviews.facts import SUBJECT_PARTS
from reviews.selectors.revisions import row_parts
from reviews.selectors.rows import DecisionPage, RevisionRow
from reviews.web.formats import moment
from reviews.web.page_rows import PARTS
from reviews.web.signoff_rows import SignedLine, signed_line
from reviews.web.words import DECISIONS, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a subject in a revision; ``before`` is given where it moved since the revision before."""

    name: str
    value: str
    before: str
    is_digest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionLine:
    """One revision; ``bound`` holds its subject and the digests of its files."""

    number: int
    who: str
    when: str
    as_of: str
    href: str
    compare_href: str
    outcome: str
    word: Word | None
    parts: tuple[Part, ...]
    moved: str
    bound: tuple[Part, ...]
    signoffs: tuple[tuple[str, SignedLine, str], ...]


def parts_of(row: RevisionRow, before: RevisionRow | None) -> tuple[Part, ...]:
    """List what the revision's subject is made of, with what each part was before."""
    now, then = row_parts(row), row_parts(before) if before else None
    parts = []
    for name in SUBJECT_PARTS:
        value, earlier = getattr(now, name) or "", getattr(then, name) or "" if then else ""
        parts.append(
            Part(
                name=name.replace("_", " "),
                value=value,
                before=earlier if then and earlier != value else "",
                is_digest=name != "planner_version",
            )
        )
    return tuple(parts)


def bound_of(row: RevisionRow, before: RevisionRow | None) -> tuple[Part, ...]:
    """List the subject and the files as they were uploaded, with what each was before."""
    return tuple(
        Part(
            name=name,
            value=getattr(row, field) or "",
            before=(getattr(before, field) or "") if before and getattr(before, field) != getattr(row, field) else "",
            is_digest=True,
        )
        for name, field in (
            ("subject", "subject"),
            ("contract file", "contract_file_sha256"),
            ("evidence file", "evidence_file_sha256"),
        )
    )


def outcome_of(row: RevisionRow) -> tuple[str, Word | None]:
    """Say what the planner made of a revision."""
    if row.plan is None:
        return "not planned", None
    return row.plan.selected_topology, DECISIONS[row.plan.decision_word]  # type: ignore[index] # the three words of a plan


def revision_lines(page: DecisionPage, href: str) -> tuple[RevisionLine, ...]:
    """Make a line for every revision, newest first."""
    rows: Sequence[RevisionRow] = page.revisions
    lines = []
    for at, row in enumerate(rows):
        parts = parts_of(row, rows[at - 1] if at else None)
        moved = [PARTS[part.name.replace(" ", "_")] for part in parts if part.before]
        outcome, word = outcome_of(row)
        lines.append(
            RevisionLine(
                number=row.number,
                who=row.author,
                when=when(row.made_at),
                as_of=when_exactly(moment(row.as_of)),
                href=f"{href}?revision={row.number}",
                compare_href=f"{href}compare/?revision={row.number}&with_revision={row.number - 1}" if at else "",
                outcome=outcome,
                word=word,
                parts=parts,
                moved=", ".join(moved) if at else "first revision",
                bound=bound_of(row, rows[at - 1] if at else None),
                signoffs=tuple(
                    (signed.team, signed_line(signed), signed.subject)
                    for signed in page.signoffs
                    if signed.revision == row.number
                ),
            )
        )
    return tuple(reversed(lines))
