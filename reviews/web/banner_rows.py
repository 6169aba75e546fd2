"""The answer and its reasons as rows of text: banner, figures, why, alternatives, what was left out. Pure.

Rules kept: every figure has its limit and margin beside it; an outcome that is no selection says what is closest and
what it lacks; every failing and unknown gate of every alternative is listed, not only the first.
"""

from collections.abc import Collection
from dataclasses import dataclass

from planner.records.plan import Candidate, LimitOutcome, Plan
from reviews.web.bars import Bar, bar_of
from reviews.web.cells import ALWAYS, CellKey, outcome_text
from reviews.web.formats import count, limit_text, listed, number, percent, quantity, unit_of
from reviews.web.links import Query
from reviews.web.matrix_rows import candidate_order, head_of_trial
from reviews.web.names import candidate_names
from reviews.web.words import DECISIONS, OUTCOMES, Word, state_word

FIGURES = ("throughput", "ttft", "memory_headroom", "link_utilization", "failure_domain", "cost", "tpot", "kv_capacity")
"""Gates whose reading is worth a figure in the banner, in order; the first four that were read are shown."""
LABELS: dict[str, tuple[str, ...]] = {
    "throughput": ("Output throughput", "all devices", "worst window"),
    "ttft": ("TTFT",),
    "memory_headroom": ("Peak memory", "under load"),
    "link_utilization": ("Link use", "peak"),
    "failure_domain": ("Blast radius",),
    "cost": ("Cost",),
    "tpot": ("TPOT",),
    "kv_capacity": ("KV capacity",),
}
"""What a figure is called: its term, then what it is measured over."""
DEFINED = {"ttft": "TTFT", "throughput": "output throughput", "failure_domain": "blast radius", "tpot": "TPOT"}
"""The term of ``words.TERMS`` that a figure's name stands for."""
CLAIM = (
    "These figures are the supplied measurements. Nothing here says anything about a topology, map or workload that "
    "was not measured."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of the banner; ``note`` stands in for limit and margin where there are none."""

    name: str
    parts: tuple[str, ...]
    value: str
    unit: str
    bar: Bar | None
    note: str
    href: str
    defined: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Banner:
    """The decision in one block."""

    word: Word
    name: str
    trial: str
    sentence: str
    figures: tuple[Figure, ...]
    claim: str
    claim_sentence: str
    is_illustrative: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """One failing or unknown limit of an alternative."""

    word: Word
    gate: str
    limit_id: str
    text: str
    limit: str
    margin: str
    bar: Bar | None
    sentence: str
    missing: tuple[str, ...]
    href: str

    @property
    def missing_text(self) -> str:
        """In how many fields evidence is missing or not enough."""
        return f"{count(len(self.missing), 'field')} missing or not enough"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A candidate that was not selected, with everything that blocks it."""

    trial: str
    name: str
    other_name: str
    word: Word
    line: str
    first_key: str
    blockers: tuple[Blocker, ...]
    hints: tuple[str, ...]
    map_href: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that must be known before the figures are read; ``css`` is that of the strip."""

    lead: str
    text: str
    css: str
    more: tuple[tuple[str, str], ...] = ()


def shown_outcomes(candidate: Candidate) -> list[tuple[str, str, LimitOutcome]]:
    """Return (gate, limit, outcome) of the candidate's figures, in the banner's order."""
    found = []
    for gate in FIGURES:
        outcome = candidate.gates.get(gate)
        limits = outcome.limits.items() if outcome else ()
        read = [(gate, limit, value) for limit, value in limits if value.measured is not None]
        # Of several limits of one gate the saturated one says more than the one at a single request.
        read.sort(key=lambda row: "saturated" not in row[1])
        found += read[:1]
    return found[:4]


def figure_of(gate: str, limit: str, outcome: LimitOutcome, href: str) -> Figure:
    """Make a figure of an outcome."""
    measured = outcome.measured
    is_text = measured is None or isinstance(measured, str)
    margin = percent(outcome.margin_share)
    limit_shown = limit_text(outcome.comparator, outcome.limit, outcome.unit)
    name, *parts = LABELS.get(gate, (gate.replace("_", " "),))
    parts += [] if limit == ALWAYS else [limit.replace("_", " ")]
    return Figure(
        name=name,
        parts=tuple(parts),
        value=quantity(measured) if measured is None or isinstance(measured, str) else number(measured, outcome.unit),
        unit="" if is_text else unit_of(outcome.unit).text,
        bar=bar_of(outcome.outcome, outcome.margin_share),
        note=" · ".join(part for part in (limit_shown, margin) if part),
        href=href,
        defined=DEFINED.get(gate, ""),
    )


def selected_sentence(plan: Plan, candidate: Candidate) -> str:
    """Say how big the selected topology is and against whom it won."""
    states = [c.state for c in plan.candidates.values()]
    eligible, rejected, unknown = (states.count(s) for s in ("ELIGIBLE", "REJECTED", "INCONCLUSIVE"))
    lead = f"{count(candidate.ranks, 'rank')} on {count(candidate.nodes, 'node')}."
    others = [f"{rejected} rejected"] * bool(rejected) + [f"{unknown} inconclusive"] * bool(unknown)
    measured = f"{len(states)} measured" + (f": {', '.join(others)}" if others else "")
    if eligible == 1:
        return f"{lead} The only eligible one of {measured}."
    return f"{lead} First of {eligible} eligible, {measured}."


def closest(plan: Plan) -> str:
    """Return the trial that is nearest to eligible: no failing gate before few, then few unknown ones."""
    return min(
        plan.candidates,
        key=lambda trial: (len(plan.candidates[trial].failing), len(plan.candidates[trial].unknown), trial),
        default="",
    )


def fact(name: str, value: str, note: str = "", href: str = "") -> Figure:
    """Make a figure that is words."""
    return Figure(name=name, parts=(), value=value, unit="", bar=None, note=note, href=href)


def unselected_figures(plan: Plan) -> tuple[Figure, ...]:
    """Say what is closest to eligible and what it lacks, in place of figures."""
    trial = closest(plan)
    if not trial:
        return ()
    candidate = plan.candidates[trial]
    rows = [fact("Closest", candidate.topology, trial)]
    if candidate.failing:
        rows.append(fact("It fails", listed(candidate.failing)))
    if candidate.unknown:
        fields = dict.fromkeys(
            pointer.rsplit("/", 1)[-1]
            for gate in candidate.unknown
            for outcome in candidate.gates[gate].limits.values()
            for pointer in outcome.missing
        )
        rows.append(fact("Not known for it", listed(candidate.unknown)))
        if fields:
            named = (*fields,) if len(fields) <= 4 else (*tuple(fields)[:4], "more")
            rows.append(fact("It lacks", listed(named)))
    return tuple(rows[:4])


def banner(plan: Plan, *, query: Query) -> Banner:
    """Make the banner of a plan."""
    states = [c.state for c in plan.candidates.values()]
    if plan.selected:
        candidate = plan.candidates[plan.selected.trial]
        figures = tuple(
            figure_of(gate, limit, outcome, cell_link(query, plan.selected.trial, gate, limit))
            for gate, limit, outcome in shown_outcomes(candidate)
        )
        name, sentence = plan.selected.topology, selected_sentence(plan, candidate)
    elif plan.decision == "INCONCLUSIVE":
        name, figures = "No selection yet", unselected_figures(plan)
        unknown = states.count("INCONCLUSIVE")
        sentence = (
            f"Nothing is eligible, and {unknown} of {len(states)} could be if their missing evidence turns out well."
        )
    else:
        name, figures = "Nothing is eligible", unselected_figures(plan)
        sentence = f"{count(len(states), 'candidate')} measured, each fails at least one gate."
    return Banner(
        word=DECISIONS[plan.decision],
        name=name,
        trial=plan.selected.trial if plan.selected else "",
        sentence=sentence,
        figures=figures,
        claim=plan.claim,
        claim_sentence=CLAIM if plan.selected else f"{CLAIM} This outcome can be reviewed and closed, never activated.",
        is_illustrative=plan.illustrative,
    )


def cell_link(query: Query, trial: str, gate: str, limit: str) -> str:
    """Link to one cell of the matrix."""
    return query.link("cell", cell=str(CellKey(trial=trial, gate=gate, limit=limit)))


def blockers_of(candidate: Candidate, trial: str, query: Query) -> tuple[Blocker, ...]:
    """List every failing limit, then every unknown one."""
    rows = []
    for wanted in ("FAIL", "UNKNOWN"):
        for gate, result in candidate.gates.items():
            for limit, outcome in result.limits.items():
                if outcome.outcome != wanted:
                    continue
                text, margin = outcome_text(outcome)
                # A rule that weighs no figure has a verdict and nothing measured.
                text = "no figure" if text == OUTCOMES[outcome.outcome].text else text
                rows.append(
                    Blocker(
                        word=OUTCOMES[outcome.outcome],
                        gate=gate,
                        limit_id="" if limit == ALWAYS else limit,
                        text=text,
                        limit=limit_text(outcome.comparator, outcome.limit, outcome.unit),
                        margin=margin,
                        bar=bar_of(outcome.outcome, outcome.margin_share),
                        sentence=outcome.sentence,
                        missing=outcome.missing,
                        href=cell_link(query, trial, gate, limit),
                    )
                )
    return tuple(rows)


def alternatives(
    plan: Plan, *, query: Query, map_href: str, among: Collection[str] | None = None, chosen: str = ""
) -> tuple[Alternative, ...]:
    """List the candidates that were not selected, nearest first; where ``among`` is given, only those in it.

    ``chosen`` is the trial that was put into force in place of the selected one.
    """
    apart = chosen or (plan.selected.trial if plan.selected else "")
    names = candidate_names(plan)
    rows = []
    for trial in candidate_order(plan):
        if trial == apart or (among is not None and trial not in among):
            continue
        candidate = plan.candidates[trial]
        head = head_of_trial(plan, trial, names, map_href)
        rows.append(
            Alternative(
                trial=trial,
                name=head.name,
                other_name=head.other_name,
                word=state_word(candidate.state),
                line=head.lines[0],
                first_key=head.first_key,
                blockers=blockers_of(candidate, trial, query),
                hints=candidate.hints,
                map_href=head.href,
            )
        )
    return tuple(rows)


def notices(plan: Plan) -> tuple[Notice, ...]:
    """List what must be read before the figures: what nothing limits, and who might still win."""
    rows = []
    families = [row for row in plan.undeclared if row.kind == "family"]
    if families:
        names = tuple(row.name for row in families)
        text = f"{listed(names).capitalize()}: no limit in the contract, so nothing was checked there."
        rows.append(
            Notice(
                lead=f"{count(len(families), 'gate family', 'gate families')} not declared.",
                text=text,
                css="plain",
                more=tuple((row.name, row.sentence) for row in plan.undeclared),
            )
        )
    if plan.decisive is False:
        rows.append(
            Notice(
                "The lead is not decisive.",
                "It is smaller than the spread between the windows of one trial.",
                "unk",
            )
        )
    rows += [Notice(f"{row.topology} might win.", row.sentence, "unk") for row in plan.contenders]
    return tuple(rows)
