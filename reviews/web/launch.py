"""The page of a decision's launch configuration, and its files."""

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from planner.launch import TARGETS, Target
from planner.launch.written import CONTENT_TYPES, launch_archive, launch_file
from reviews.errors import Finding, InvalidRequestError, NotFoundError
from reviews.selectors.launch import LaunchView, handed_out, launch_view
from reviews.web.csv_text import attachment
from reviews.web.decision_head import head_for
from reviews.web.frame import PersonRequest, frame, identity_post_command, page, workspace_of
from reviews.web.launch_rows import launch_strips, launch_table, steps_after, targets

__all__ = ["decision_launch", "launch_archive_download", "launch_file_download"]

NEXT: Mapping[str, tuple[str, str, str]] = {
    "IN_REVIEW": ("Once the teams have signed, a releasing team puts it into force.", "decision-release", "Release"),
    "EVALUATION_FAILED": ("Planning failed; its author submits a new revision.", "decision-detail", "Decision"),
    "STALE": ("See what changed and what has to be measured again.", "decision-requalification", "Measure again"),
    "EXPIRED": (
        "A new revision with evidence that is young enough comes next.",
        "decision-requalification",
        "Measure again",
    ),
    "CONTESTED": ("The contest is settled first: the decision is upheld or revoked.", "decision-release", "Release"),
}
"""State -> what comes next, the page where it is done, and its name."""
REVIEWED = ("Once it is planned and signed, a releasing team puts it into force.", "decision-detail", "Decision")
ENDED = ("This decision has ended. Another one of the slot may be in force.", "decision-history", "History")
OPEN = ("DRAFT", "EVALUATING")


@require_safe
@page
def decision_launch(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Show how the topology in force is started, or why nothing is."""
    found = _found(request, slug, number)
    own = reverse("decision-launch", args=[slug, number])
    made = found.made
    offered, not_offered = targets(found, lambda target: f"{own}?for={target}")
    context = frame(
        slug,
        "inbox",
        head=head_for(found.page, slug, "decision-launch"),
        strips=launch_strips(found, timezone.now()),
        targets=offered,
        not_offered=not_offered,
        table=launch_table(made, partial(_file_href, slug, number, made.target)) if made else None,
        archive_href=_archive_href(slug, number, made.target) if made else "",
        steps=steps_after(found, partial(identity_post_command, request, found.page.slot, slug)),
        documents=_documents(found, slug),
        identity_href=reverse("decision-identity", args=[slug, number]),
        instead=_instead(found, slug),
        next_step=_next_step(found, slug),
    )
    return render(request, "reviews/decision_launch.html", context)


@require_safe
@page
def launch_file_download(request: PersonRequest, slug: str, number: int | str, name: str) -> HttpResponse:
    """Give one file.

    Raises:
        ConflictError: the decision is not in force.
        NotFoundError: its launch has no such file.
    """
    made = handed_out(_found(request, slug, int(number)))
    data = launch_file(made, name)
    if data is None:
        raise NotFoundError(f"The launch has no file {name}, only {', '.join(file.name for file in made.files)}.")
    return attachment(data, name, CONTENT_TYPES[name.rpartition(".")[2]])


@require_safe
@page
def launch_archive_download(request: PersonRequest, slug: str, number: int) -> HttpResponse:
    """Give all files in one archive.

    Raises:
        ConflictError: the decision is not in force.
    """
    found = _found(request, slug, number)
    made = handed_out(found)
    revision = "" if found.revision is None else f"-r{found.revision.number}"
    return attachment(launch_archive(made), f"{found.page.label}{revision}-{made.target}.zip", "application/zip")


def _found(request: PersonRequest, slug: str, number: int) -> LaunchView:
    asked = request.GET.get("for", "")
    chosen: Target | None = next((target for target in TARGETS if target == asked), None)
    if asked and chosen is None:
        raise InvalidRequestError(
            (Finding("request", "request/query", "for", f"one of {', '.join(TARGETS)}", "another"),)
        )
    return launch_view(actor=request.user, workspace=workspace_of(slug), number=number, target=chosen)


def _file_href(slug: str, number: int, target: Target, name: str) -> str:
    return f"{reverse('launch-file', args=[slug, number, name])}?{urlencode({'for': target})}"


def _archive_href(slug: str, number: int, target: Target) -> str:
    return f"{reverse('launch-archive', args=[slug, number])}?{urlencode({'for': target})}"


def _documents(found: LaunchView, slug: str) -> list[tuple[str, str]]:
    """Return the files that the commands after the launch read: name and address."""
    if found.revision is None:
        return []
    number, query = found.page.number, f"?revision={found.revision.number}"
    pages = [
        (f"{kind}.json", reverse("document", args=[slug, number, kind]) + query) for kind in ("contract", "evidence")
    ]
    return [*pages, ("plan.json", reverse("plan-json", args=[slug, number]) + query)]


def _instead(found: LaunchView, slug: str) -> tuple[str, str] | None:
    """Return label and launch of what holds in the slot; None where that is this decision, or nothing."""
    if found.instead is None:
        return None
    return found.instead.label, reverse("decision-launch", args=[slug, found.instead.number])


def _next_step(found: LaunchView, slug: str) -> tuple[str, str, str] | None:
    """Say what has to happen before there is a launch; None where there is one."""
    if found.is_in_force:
        return None
    state = found.page.state
    text, name, title = NEXT.get(state, REVIEWED if state in OPEN else ENDED)
    return text, reverse(name, args=[slug, found.page.number]), title
