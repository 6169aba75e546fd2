"""Why the selected topology has the degrees it has, as rows of text. Pure: sentences are the planner's own."""

from dataclasses import dataclass

from planner.records.plan import Plan, Reason
from reviews.web.banner_rows import cell_link
from reviews.web.cells import ALWAYS
from reviews.web.formats import listed, percent
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
    cost: str
    gates: tuple[tuple[str, str], ...]


def why_cost(reason: Reason) -> str:
    """Say what a degree costs against the smaller trial, and what it gains."""
    parts = []
    if reason.gain is not None:
        parts.append(f"{percent(reason.gain)} on the first key of the order")
    if reason.extra_devices:
        parts.append(f"{reason.extra_devices:+d} charged devices".replace("-", "−"))
    if reason.extra_group_ranks:
        parts.append(f"{reason.extra_group_ranks:+d} ranks in the largest serving group".replace("-", "−"))
    return ", ".join(parts)


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
                cost=why_cost(reason),
                gates=tuple(gates),
            )
        )
    return tuple(rows)
