"""The page of what runs against one decision: hosts, keys, ranks, the history of reports, and the bytes of one."""

from dataclasses import dataclass
from datetime import datetime

from reviews.asked_once import moment
from reviews.blobs import blob_read, checked
from reviews.errors import NotFoundError
from reviews.models import HostReport, IdentityReport, Person, Workspace
from reviews.selectors.decision_page import decision_of_member, decision_page
from reviews.selectors.live_identity import LiveIdentity, held_by, live_of_decision
from reviews.selectors.reported_keys import ReportedKey, keys_from
from reviews.selectors.rows import DecisionPage

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """A report that was something new when it came; ``place`` is None for the whole slot."""

    id: int
    place: str | None
    identity: str
    matches: bool
    named: tuple[ReportedKey, ...]
    person: str
    reported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityPage:
    """What runs against a decision. ``held_by`` is the decision that holds for the slot, where that is another one."""

    page: DecisionPage
    live: LiveIdentity
    held_by: str
    reports: tuple[ReportRow, ...]
    older: int | None
    now: datetime


def identity_page(*, actor: Person, workspace: Workspace, number: int, before: int | None = None) -> IdentityPage:
    """Return the page; ``before`` is the report from which on older ones are listed.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, read_plan=False)
    live = live_of_decision(actor=actor, workspace=workspace, number=number)
    now = moment()
    held = held_by(workspace, page.slot, now)
    reports = IdentityReport.objects.filter(workspace=workspace, decision__number=number).select_related("person")
    if before is not None:
        reports = reports.filter(pk__lt=before)
    rows = list(reports.order_by("-pk")[: PAGE_SIZE + 1])
    shown = rows[:PAGE_SIZE]
    return IdentityPage(
        page=page,
        live=live,
        held_by=held.name if held is not None and held.decision.number != number else "",
        reports=tuple(_report_row(row) for row in shown),
        older=shown[-1].pk if len(rows) > PAGE_SIZE else None,
        now=now,
    )


def _report_row(row: IdentityReport) -> ReportRow:
    return ReportRow(
        id=row.pk,
        place=row.place,
        identity=row.identity_id,
        matches=row.matches,
        named=keys_from(row.differences),
        person=row.person.display_name,
        reported_at=row.reported_at,
    )


def report_bytes(*, actor: Person, workspace: Workspace, number: int, sha256: str) -> bytes:
    """Return the bytes of a report of a decision's slot by their digest: a host's newest, or one that was news.

    Raises:
        NotFoundError: no such decision or report, or the actor is no member of the workspace.
        TamperedError: the stored bytes are not the ones that came.
    """
    decision = decision_of_member(actor=actor, workspace=workspace, number=number)
    newest = HostReport.objects.filter(workspace=workspace, slot=decision.slot, sha256=sha256).first()
    if newest is not None and sha256:
        return checked(bytes(newest.body), sha256, "report")
    if IdentityReport.objects.filter(workspace=workspace, slot=decision.slot, identity_id=sha256).exists():
        return blob_read(sha256, "report")
    raise NotFoundError(f"No report of {decision.slot} has this digest.")
