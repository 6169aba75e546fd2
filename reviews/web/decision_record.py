"""A decision's record as a file of Markdown."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from planner.decision_numbers import decision_label
from reviews.selectors.decision_record import decision_record
from reviews.web.csv_text import attachment
from reviews.web.frame import PersonRequest, page, workspace_of

__all__ = ["decision_record_download"]


@require_safe
@page
def decision_record_download(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Send the record of a decision, to be kept beside other text."""
    data = decision_record(actor=request.user, workspace=workspace_of(slug), number=number)
    return attachment(data, f"{decision_label(number)}.md", "text/markdown; charset=utf-8")
