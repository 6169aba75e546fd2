"""What every host of a slot said last, kept in the process: each report asks about all of them.

Rules kept: each time the rows are read that were changed since, by the turn of their slot, on which every service that
changes one moves it, and what another transaction is about to change comes with a later turn; all are read again where
the slot's own row is another one or went back, as in a restored database, and every ``READ_AGAIN_SECONDS``, so that
what was forgotten or written by hand is noticed, too. An outcome with very many differences is not kept and is read
every time.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from django.db.models import QuerySet

from planner.identity_live import Decided, Said, Together, together
from reviews.last_few import LastFew
from reviews.models import HostReport, ReportedSlot, Workspace
from reviews.policies.host_reports import WHOLE_NAME, said_from
from reviews.selectors.reported_keys import names_from

__all__ = ["Host", "SaidHosts", "hosts_of", "put_together"]

MOST_SLOTS = 8
"""A slot of 1,250 hosts with ten thousand ranks takes 8 MB."""
MOST_DIFFERENCES = 64
READ_AGAIN_SECONDS = 60.0
READ_APART = 100
"""Of more rows all of the slot are read: a list of their numbers would be the longer question."""
PLAIN = (
    *("place", "host", "collected_at", "received_at", "since", "sha256", "subject"),
    *("changes", "flaps_since", "refused_because", "refused_at"),
)
"""What is read of a host as it stands there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The newest report of a place, and what it says of its ``subject``: None where it is not kept, or of none."""

    place: str
    host: str
    collected_at: datetime | None
    received_at: datetime
    since: datetime
    sha256: str
    subject: str
    said: Said | None
    changes: int
    flaps_since: datetime | None
    flapped: tuple[str, ...]
    refused_because: str
    refused_at: datetime | None

    @property
    def name(self) -> str:
        """What it is called: node, host, or the whole slot."""
        return self.place or WHOLE_NAME


@dataclass(frozen=True, slots=True)
class SaidHosts:
    """The hosts of a slot by place, in that order; and the last refusal that is of none of them."""

    hosts: Mapping[str, Host]
    refused_because: str = ""
    refused_at: datetime | None = None


Of = tuple[int, datetime]
"""What tells the row of a slot from any other."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was read of a slot up to a turn, all of it at ``read_at``; the outcomes of ``large`` are not kept."""

    of: Of | None
    turn: int
    read_at: float
    hosts: dict[str, Host]
    large: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Whole:
    decided: Decided
    said: Mapping[str, Said]
    together: Together


_KEPT: LastFew[_Kept] = LastFew(MOST_SLOTS)
_WHOLE: LastFew[_Whole] = LastFew(MOST_SLOTS)


def hosts_of(workspace: Workspace, slot: str) -> SaidHosts:
    """Return what the hosts of a slot said last; two queries, whose answers do not grow with the hosts."""
    head = ReportedSlot.objects.filter(workspace=workspace, slot=slot).first()
    of = (head.pk, head.begun_at) if head is not None else None
    known = _KEPT.known((workspace.pk, slot))
    is_newer = known is not None and known.of == of and head is not None and head.turn >= known.turn
    is_fresh = known is not None and time.monotonic() < known.read_at + READ_AGAIN_SECONDS
    kept = _read(workspace, slot, of, known if is_newer and is_fresh else None)
    if of is not None:
        _KEPT.keep((workspace.pk, slot), kept)
    hosts = kept.hosts | _outcomes(workspace, slot, kept.large) if kept.large else kept.hosts
    return SaidHosts(hosts, head.refused_because, head.refused_at) if head is not None else SaidHosts(hosts)


def _read(workspace: Workspace, slot: str, of: Of | None, known: _Kept | None) -> _Kept:
    """Read what changed since, or all."""
    rows = HostReport.objects.filter(workspace=workspace, slot=slot)
    turn, hosts, large, read_at = 0, {}, set[str](), time.monotonic()
    if known is not None:
        rows = rows.filter(turn__gt=known.turn)
        turn, hosts, large, read_at = known.turn, known.hosts, set(known.large), known.read_at
    found: dict[str, Host] = {}
    for moved, host in _hosts(rows):
        turn = max(turn, moved)
        is_large = host.said is not None and len(host.said.differs) > MOST_DIFFERENCES
        (large.add if is_large else large.discard)(host.place)
        found[host.place] = replace(host, said=None) if is_large else host
    is_more = not found.keys() <= hosts.keys()
    hosts = hosts | found
    return _Kept(of, turn, read_at, dict(sorted(hosts.items())) if is_more else hosts, frozenset(large))


def _outcomes(workspace: Workspace, slot: str, places: Collection[str]) -> dict[str, Host]:
    """Read hosts whose outcomes are not kept."""
    rows = HostReport.objects.filter(workspace=workspace, slot=slot)
    rows = rows.filter(place__in=places) if len(places) <= READ_APART else rows
    return {host.place: host for _, host in _hosts(rows) if host.place in places}


def _hosts(rows: QuerySet[HostReport]) -> Iterator[tuple[int, Host]]:
    """Yield the turn of each row, and what its host said."""
    for turn, said, flapped, *values in rows.order_by("pk").values_list("turn", "said", "flapped", *PLAIN):
        outcome = said_from(bytes(said)) if said else None
        yield turn, Host(said=outcome, flapped=names_from(flapped), **dict(zip(PLAIN, values, strict=True)))


def put_together(workspace: Workspace, slot: str, decided: Decided, said: Mapping[str, Said]) -> Together:
    """Put together what hosts say; worked out anew where one of them says something else, or is another."""
    key = (workspace.pk, slot, decided.rank_map_digest)
    last = _WHOLE.known(key)
    if last is not None and last.decided is decided and last.said == said:
        return last.together
    made = _Whole(decided, said, together(decided, said))
    _WHOLE.keep(key, made)
    return made.together
