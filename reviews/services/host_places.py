"""Keeps what each host of a slot said last, and how it went on. Called inside ``workspace_write``.

Rules kept: whoever changes a row moves the turn of its slot on, by which processes know what to read again; a host of
the decided rank map always has a place, of all others there are so many at most, and who is silent makes room.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings

from planner.identity_check import KeyDifference
from planner.identity_live import Said
from reviews.clock import database_now
from reviews.errors import Finding, InvalidRequestError
from reviews.models import HostReport, Person, ReportedSlot, Workspace
from reviews.policies.host_reports import WHOLE, Sent, outcome_id, said_bytes, said_from
from reviews.policies.report_news import KEYS_KEPT, Course, News, course_after, refused_again
from reviews.selectors.reported_keys import counts_since, fresh_for, names_from, names_text

MOST_UNDECIDED = 256
"""Hosts in no decided rank map that have a place; as many as were decided, where that is more."""
UNDECIDED = "request/undecided_hosts"
PRUNED_AT_ONCE = 500
KEPT = ("person", "collected_at", "received_at", "sha256", "body", "subject", "said", "outcome", "since", "turn")
FIELDS = ("host", *KEPT, "changes", "flaps_since", "flapped", "refused_because", "refused_at")


@dataclass(frozen=True, slots=True)
class Change:
    """What a report is after the one before it; ``told`` is the course that this ends, else the one that goes on.

    ``before`` is what differed until now, where the place flaps from now on.
    """

    news: News
    told: Course
    before: tuple[KeyDifference, ...] = ()

    @property
    def is_flapping(self) -> bool:
        """Whether its place flaps, now that the report is taken."""
        return self.told.flaps_since is not None and self.news is not News.SETTLED


def places_known(workspace: Workspace, slot: str, places: Collection[str]) -> Mapping[str, HostReport]:
    """Return place -> its row, without the bytes of its report."""
    rows = HostReport.objects.filter(workspace=workspace, slot=slot, place__in=list(places))
    return {row.place: row for row in rows.defer("body", "said")}


def places_keep(
    workspace: Workspace,
    slot: str,
    reports: Sequence[tuple[Sent, Said | None]],
    *,
    known: Mapping[str, HostReport],
    person: Person,
    subject: str,
    now: datetime,
) -> list[Change]:
    """Keep reports in the place of those before; return what each is.

    ``subject`` is what they were compared with, but for those whose outcome is None; ``known`` are rows of the places.
    """
    if not reports:
        return []
    turn = _slot_on(workspace, slot, now).turn
    rows, changes = [], []
    for sent, said in reports:
        own, outcome = (subject, said) if said is not None else ("", Said())
        digest = outcome_id(own, outcome)
        course, change = _change(known.get(sent.place), own, digest, outcome, now)
        changes.append(change)
        rows.append(
            HostReport(
                workspace=workspace,
                slot=slot,
                place=sent.place,
                host=sent.host,
                person=person,
                collected_at=sent.collected_at,
                received_at=now,
                sha256=sent.sha256,
                body=sent.raw,
                subject=own,
                said=said_bytes(said) if said is not None else b"",
                outcome=digest,
                since=course.since,
                turn=turn,
                changes=course.changes,
                flaps_since=course.flaps_since,
                flapped=names_text(course.flapped),
            )
        )
    HostReport.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=("workspace", "slot", "place"), update_fields=FIELDS
    )
    return changes


def _change(row: HostReport | None, subject: str, outcome: str, said: Said, now: datetime) -> tuple[Course, Change]:
    """Return how a place goes on, and what its report is."""
    keys = [one.key for one in said.differs]
    known = None
    if row is not None and row.outcome and row.subject == subject:
        flapped = names_from(row.flapped)
        known = Course(since=row.since, changes=row.changes, flaps_since=row.flaps_since, flapped=flapped)
    course, news = course_after(known, is_same=row is not None and row.outcome == outcome, keys=keys, now=now)
    if row is None or known is None or news in (News.NOTHING, News.NEW):
        return course, Change(news, course)
    if news is News.SETTLED:
        return course, Change(news, known)
    before = said_from(bytes(row.said)).differs if row.said else ()
    flapped = tuple(dict.fromkeys((*(one.key for one in before), *course.flapped)))[:KEYS_KEPT]
    course = replace(course, flapped=flapped)
    return course, Change(news, course, before)


def room_require(
    workspace: Workspace, slot: str, newcomers: Collection[str], decided: Collection[str], now: datetime
) -> None:
    """Make room for hosts that no decided rank map has; the longest silent of their kind are forgotten for them.

    Raises:
        InvalidRequestError: there are as many as may be, and all of them report.
    """
    strangers = [place for place in newcomers if place not in decided]
    if not strangers:
        return
    most = max(MOST_UNDECIDED, len(decided))
    rows = HostReport.objects.filter(workspace=workspace, slot=slot).exclude(sha256="").order_by("received_at", "pk")
    others = [
        (pk, at)
        for pk, place, at in rows.values_list("pk", "place", "received_at")
        if place != WHOLE and place not in decided
    ]
    over = len(others) + len(strangers) - most
    silent = [pk for pk, at in others if at < counts_since(now)]
    if over > len(silent):
        wanted = f"at most {most:,} hosts that are not in the decided rank map of {slot}"
        found = f"{strangers[0]} beside {len(others):,}"
        raise InvalidRequestError((Finding("request", UNDECIDED, "identity", wanted, found),))
    HostReport.objects.filter(pk__in=silent[: max(over, 0)]).delete()


def place_refuse(
    workspace: Workspace,
    slot: str,
    named: tuple[str, str],
    *,
    person: Person,
    reasons: Collection[str],
    because: str,
    decided: Collection[str],
) -> bool:
    """Note that a host was refused; return whether it was for the same reasons lately.

    ``named`` are place and host, each "" where none is said. What has no place yet and is in no decided rank map is
    noted at the slot, whatever it calls itself; ``slot`` is "" where it is none that has a decision.
    """
    (place, host), now = named, database_now()
    of_slot = _slot_on(workspace, slot, now)
    noted: HostReport | ReportedSlot = of_slot
    if place:
        row = HostReport.objects.filter(workspace=workspace, slot=slot, place=place).defer("body", "said").first()
        if row is None and place in decided:
            noted = HostReport(
                workspace=workspace, slot=slot, place=place, host=host, person=person, received_at=now, since=now
            )
        noted = row or noted
    noted.refusals, is_known = refused_again(noted.refusals, reasons, now)
    noted.refused_because, noted.refused_at = because, now
    if isinstance(noted, HostReport):
        noted.turn = of_slot.turn
    noted.save()
    return is_known


def _slot_on(workspace: Workspace, slot: str, now: datetime) -> ReportedSlot:
    """Move the turn of a slot on by one; nobody else does meanwhile."""
    row = ReportedSlot.objects.filter(workspace=workspace, slot=slot).first()
    row = row or ReportedSlot(workspace=workspace, slot=slot, begun_at=now)
    row.turn += 1
    row.save()
    return row


def places_prune() -> int:
    """Forget hosts that have not reported for ``IDENTITY_KEEP_DAYS``; return how many. The log keeps what they changed.

    None is forgotten while its report counts. Safe to run from any number of processes at any time.
    """
    before = database_now() - max(timedelta(days=settings.IDENTITY_KEEP_DAYS), fresh_for())
    due = HostReport.objects.filter(received_at__lt=before, refused_at=None) | HostReport.objects.filter(
        received_at__lt=before, refused_at__lt=before
    )
    keys = list(due.order_by("pk").values_list("pk", flat=True)[:PRUNED_AT_ONCE])
    HostReport.objects.filter(pk__in=keys).delete()
    return len(keys)
