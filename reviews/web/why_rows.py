"""Why the selected topology has the degrees it has, as rows of text. Pure: sentences are the planner's own."""

from dataclasses import dataclass

from planner.records.plan import Plan
from reviews.web.banner_rows import cell_link
from reviews.web.cells import ALWAYS
from reviews.web.formats import listed
from reviews.web.links import Query
from reviews.web.words import Word

WHY: dict[str, Word] = {
    "RESOLVES": Word("Justified", "pass", "pass"),
    "PREFERENCE": Word("Preference", "na", "na"),
    "UNPROVEN": Word("Unproven", "unk", "unk"),
    "UNJUSTIFIED": Word("Unjustified", "unk", "unk"),
    "NOT_NEEDED": Word("Nothing to justify", "na", "na"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyRow:
    """Why one degree is what it is."""

    degree: str
    title: str
    word: Word
    sentence: str
    gates: tuple[tuple[str, str], ...]


def why_rows(plan: Plan, *, query: Query) -> tuple[WhyRow, ...]:
    """Make one row for every degree of the selected topology."""
    rows = []
    for reason in plan.justification:
        title = listed(tuple(c.capitalize() for c in reason.constraints))
        if not title:
            title = "Degree 1" if reason.verdict == "NOT_NEEDED" else "No constraint named"
        gates = []
        for gate in reason.gates:
            limits = plan.candidates[reason.against].gates[gate].limits if reason.against in plan.candidates else {}
            limit = next((name for name, outcome in limits.items() if outcome.outcome == "FAIL"), ALWAYS)
            gates.append((gate, cell_link(query, reason.against or "", gate, limit)))
        rows.append(
            WhyRow(
                degree=f"{reason.axis}{reason.degree}",
                title=title,
                word=WHY[reason.verdict],
                sentence=reason.sentence,
                gates=tuple(gates),
            )
        )
    return tuple(rows)
