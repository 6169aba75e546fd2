"""Why the selected topology has the degrees it has, as rows of text. Pure; every verdict is the planner's own.

Rules kept: a smaller topology has the name it has in the matrix; what a degree costs is a list with units, in words.
"""

from dataclasses import dataclass
from fractions import Fraction

from planner.numbers import exact
from planner.records.plan import Plan, Ratio, Reason
from reviews.web.banner_rows import cell_link
from reviews.web.cells import ALWAYS
from reviews.web.formats import MINUS, key_title, listed, percent, quantity
from reviews.web.links import Query
from reviews.web.names import Names, candidate_names
from reviews.web.words import Word

WHY: dict[str, Word] = {
    "RESOLVES": Word("Justified", "pass", "pass"),
    "PREFERENCE": Word("Preference", "na", "na"),
    "UNPROVEN": Word("Unproven", "unk", "unk"),
    "UNJUSTIFIED": Word("Unjustified", "unk", "unk"),
    "NOT_NEEDED": Word("Nothing to justify", "na", "na"),
}
SMALLER = {
    "pp": "fewer pipeline stages",
    "tp": "a smaller tensor degree",
    "ep": "a smaller expert degree",
    "cp": "a smaller context degree",
    "dp": "a smaller data degree",
    "instances": "fewer instances",
}
VERBS = {"RESOLVES": "fails", "UNJUSTIFIED": "fails only", "UNPROVEN": "is unknown in"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyRow:
    """Why one degree is what it is: against which smaller topology, in which gates, at what cost."""

    degree: str
    title: str
    word: Word
    sentence: str
    gates: tuple[tuple[str, str], ...]
    costs: tuple[str, ...]
    gaps: str


def why_rows(plan: Plan, *, query: Query) -> tuple[WhyRow, ...]:
    """Make one row for every degree of the selected topology."""
    names = candidate_names(plan)
    return tuple(
        WhyRow(
            degree=f"{reason.axis}{reason.degree}",
            title=title_of(reason),
            word=WHY[reason.verdict],
            sentence=sentence_of(reason, plan, names),
            gates=tuple((gate, gate_link(plan, reason.against or "", gate, query)) for gate in reason.gates),
            costs=costs_of(reason, plan),
            gaps=f"{reason.axis} {', '.join(map(str, reason.gaps))} not measured." if reason.gaps else "",
        )
        for reason in plan.justification
    )


def title_of(reason: Reason) -> str:
    """Name what forces a degree, or that nothing does."""
    named = listed(reason.constraints).capitalize()
    return named or ("Degree 1" if reason.verdict == "NOT_NEEDED" else "No constraint named")


def sentence_of(reason: Reason, plan: Plan, names: Names) -> str:
    """Say how the nearest smaller topology did; where there are gates, they end the sentence."""
    if reason.verdict == "NOT_NEEDED":
        return ""
    if reason.against is None:
        return f"No measured topology has {SMALLER[reason.axis]} and nothing larger."
    smaller = plan.candidates[reason.against]
    lead = f"The nearest smaller one, {names[reason.against]},"
    if reason.gates:
        return f"{lead} {VERBS[reason.verdict]}"
    if smaller.missing_keys:
        return f"{lead} has no known {listed([key_title(key) for key in smaller.missing_keys])}."
    count = "" if smaller.state == "ELIGIBLE" else ", but for the number of accelerators"
    return f"{lead} passes every declared gate{count}."


def gate_link(plan: Plan, trial: str, gate: str, query: Query) -> str:
    """Link to the first limit of the gate that the trial does not pass."""
    limits = plan.candidates[trial].gates[gate].limits if trial in plan.candidates else {}
    limit = next((name for name, outcome in limits.items() if outcome.outcome in ("FAIL", "UNKNOWN")), ALWAYS)
    return cell_link(query, trial, gate, limit)


def costs_of(reason: Reason, plan: Plan) -> tuple[str, ...]:
    """List what the degree costs and gains against the smaller topology, each with its unit."""
    if reason.against is None:
        return ()
    costs = []
    if reason.extra_devices is not None:
        costs.append(f"{signed(reason.extra_devices)} charged devices")
    if reason.extra_group_ranks is not None:
        costs.append(f"{signed(reason.extra_group_ranks)} ranks in the largest serving group")
    if reason.gain is not None and not isinstance(reason.gain, str) and plan.order:
        costs.append(gain_text(exact(reason.gain), key_title(plan.order[0].key)))
    share = reason.communication_share
    costs.append(f"communication share {'not measured' if share is None else quantity(share, 'share')}")
    return tuple(costs)


def gain_text(gain: Fraction, key: str) -> str:
    """Say how much better or worse the selected topology is in the first key of the order."""
    if not gain:
        return f"equal in {key}"
    share = abs(gain)
    size = percent(Ratio(num=share.numerator, den=share.denominator), signed=False)
    return f"{size} {'better' if gain > 0 else 'worse'} in {key}"


def signed(value: int) -> str:
    """Write a difference with its sign."""
    return f"{MINUS}{-value}" if value < 0 else f"+{value}" if value else "±0"
