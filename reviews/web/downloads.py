"""A decision's plan and matrix as files."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from planner.numbers import exact
from planner.records.plan import LimitOutcome, Plan
from planner.records.plan import Value as PlanValue
from reviews.errors import NotFoundError
from reviews.selectors.decision_page import decision_page
from reviews.selectors.rows import DecisionPage
from reviews.web.csv_text import Value, attachment, csv_response
from reviews.web.frame import PersonRequest, page, workspace_of
from reviews.web.links import number_or_none
from reviews.web.matrix_rows import candidate_order

HEADER = (
    "trial",
    "topology",
    "state",
    "gate",
    "limit",
    "outcome",
    "measured",
    "comparator",
    "limit_value",
    "unit",
    "margin",
    "margin_share",
    "sentence",
    "missing",
    "limit_at",
    "measured_at",
)


def planned_page(request: PersonRequest, slug: str, number: int) -> DecisionPage:
    """Return the decision's page with a plan.

    Raises:
        NotFoundError: there is no such decision, or no plan yet.
    """
    revision = number_or_none(request.GET.get("revision", ""))
    found = decision_page(actor=request.user, workspace=workspace_of(slug), number=number, revision=revision)
    if found.plan_bytes is None:
        raise NotFoundError(f"{found.label} r{found.shown.number} has no plan yet.")
    return found


def plain_number(value: PlanValue) -> Value:
    """Return a value for a spreadsheet: a ratio as the nearest decimal, text as text."""
    return value if value is None or isinstance(value, str | int | float) else float(exact(value))


def candidate_values(plan: Plan, trial: str) -> list[list[Value]]:
    """Return one row for every limit of a candidate, in the order of ``HEADER``."""
    candidate = plan.candidates[trial]
    return [
        [trial, candidate.topology, candidate.state, gate_id, limit_id, *outcome_values(outcome)]
        for gate_id, gate in candidate.gates.items()
        for limit_id, outcome in gate.limits.items()
    ]


def outcome_values(outcome: LimitOutcome) -> list[Value]:
    """Return an outcome's fields in the order of ``HEADER``."""
    return [
        outcome.outcome,
        plain_number(outcome.measured),
        outcome.comparator,
        plain_number(outcome.limit),
        outcome.unit,
        plain_number(outcome.margin),
        plain_number(outcome.margin_share),
        outcome.sentence,
        " ".join(outcome.missing),
        outcome.limit_at,
        " ".join(outcome.measured_at),
    ]


@require_safe
@page
def plan_json(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Return the plan's canonical bytes: their digest is that of the plan file."""
    found = planned_page(request, slug, number)
    return attachment(found.plan_bytes or b"", f"{found.label}-r{found.shown.number}-plan.json", "application/json")


@require_safe
@page
def matrix_csv(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Return every outcome of every candidate, all pages of the matrix at once."""
    found = planned_page(request, slug, number)
    plan = found.plan()
    rows = [row for trial in candidate_order(plan) for row in candidate_values(plan, trial)] if plan else []
    return csv_response(f"{found.label}-r{found.shown.number}-matrix.csv", HEADER, rows)
