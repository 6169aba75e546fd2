"""What hosts report otherwise than an activation decided, for what has to be measured again.

Rules kept: every key counts, also one that ``requalify_on`` lets pass; a host answers for what it says, what speaks for
the whole slot for every key; an identity of the whole slot that is older than a host's report is not asked any more.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from planner.identity_check import KeyDifference, key_differences
from planner.identity_given import told_once
from reviews.blobs import checked
from reviews.models import Activation, HostReport, Workspace
from reviews.policies.host_reports import WHOLE, said_from

PLACEMENT = "/placement/"


def reported_changes(
    workspace: Workspace, slot: str, activation: Activation, bound: dict[str, Any]
) -> tuple[datetime | None, tuple[KeyDifference, ...]]:
    """Return when the newest report since the activation came, and each key that some report shows otherwise, once.

    Raises:
        TamperedError: a stored report is not what came.
    """
    rows = HostReport.objects.filter(workspace=workspace, slot=slot, subject=activation.subject).exclude(sha256="")
    reports = list(rows.order_by("received_at", "pk"))
    if not reports:
        return None, ()
    found = [one for row in _asked(reports) for one in _differences(row, bound, activation.rank_map_digest)]
    return reports[-1].received_at, told_once(found, activation.rank_map_digest)


def _asked(reports: Sequence[HostReport]) -> list[HostReport]:
    return [row for row in reports if row.place != WHOLE or row is reports[-1]]


def _differences(row: HostReport, bound: dict[str, Any], rank_map_digest: str) -> list[KeyDifference]:
    tree = msgspec.json.decode(checked(bytes(row.body), row.sha256, "identity report"))
    if row.place == WHOLE:
        return list(key_differences(bound, tree, rank_map_digest=rank_map_digest))
    found = key_differences(bound, tree["identity"], rank_map_digest="")
    moved = [one for one in said_from(bytes(row.said)).differs if one.key.startswith(PLACEMENT)]
    return [*(one for one in found if one.how == "differs"), *moved]
