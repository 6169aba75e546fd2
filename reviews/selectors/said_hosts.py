"""What the hosts of a slot said when they reported last, kept in the process: each report asks about all of them.

Rules kept: what is kept of a place counts only for the report, the subject and the moment that it was read with, so a
row that changed is read anew, whoever wrote it. An outcome with very many differences is read every time.
"""

from collections.abc import Collection
from datetime import datetime

from planner.identity_live import Said
from reviews.last_few import LastFew
from reviews.models import HostReport, Workspace
from reviews.policies.host_reports import said_from

__all__ = ["said_by_row"]

MOST_SLOTS = 8
"""A slot of 1,250 hosts with ten thousand ranks takes 8 MB."""
MOST_DIFFERENCES = 64
READ_APART = 100
"""Of more rows all of the slot are read: a list of their numbers would be the longer question."""

Stamp = tuple[str, datetime]
"""The digest of a report, and when it came."""
_KEPT: LastFew[dict[int, tuple[Stamp, Said]]] = LastFew(MOST_SLOTS)


def said_by_row(workspace: Workspace, slot: str, subject: str, rows: Collection[HostReport]) -> dict[int, Said]:
    """Return row id -> what it says of a subject, of those rows of a slot that were compared with it."""
    kept = _KEPT.get((workspace.pk, slot, subject), dict)
    found: dict[int, Said] = {}
    due = set()
    for row in rows:
        if row.subject != subject:
            continue
        known = kept.get(row.pk)
        if known is not None and known[0] == (row.sha256, row.received_at):
            found[row.pk] = known[1]
        else:
            due.add(row.pk)
    for pk, stamp, said in _read(workspace, slot, subject, due):
        found[pk] = said
        if len(said.differs) <= MOST_DIFFERENCES:
            kept[pk] = (stamp, said)
    for gone in kept.keys() - found.keys():
        kept.pop(gone, None)
    return found


def _read(workspace: Workspace, slot: str, subject: str, due: Collection[int]) -> list[tuple[int, Stamp, Said]]:
    """Read outcomes with what they are of: a row may have changed since it was seen."""
    if not due:
        return []
    rows = HostReport.objects.filter(workspace=workspace, slot=slot, subject=subject)
    rows = rows.filter(pk__in=due) if len(due) <= READ_APART else rows
    values = rows.order_by("pk").values_list("pk", "sha256", "received_at", "said")
    return [(pk, (sha256, at), said_from(bytes(raw))) for pk, sha256, at, raw in values if raw and pk in due]
