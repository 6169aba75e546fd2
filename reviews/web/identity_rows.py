"""What runs against what was decided, as rows of text: verdict, keys, ranks, hosts, reports. Pure.

Rules kept: what differs comes first, then what nobody reported, then what is as decided; every value stands beside the
decided one; an absent value is a dash and never a guess.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from planner.identity_check import KeyDifference
from planner.identity_live import places_of
from planner.pointers import steps
from planner.shown import shown
from reviews.clock import when
from reviews.policies.document import team_title
from reviews.policies.host_reports import WHOLE_NAME
from reviews.policies.validity import owned
from reviews.selectors.identity_page import IdentityPage, ReportRow
from reviews.selectors.live_identity import HostRow, LiveIdentity
from reviews.web.formats import ago, count, spans
from reviews.web.page_rows import Strip
from reviews.web.words import Word

__all__ = [
    "FOUND",
    "HostLine",
    "KeyLine",
    "RankLine",
    "ReportLine",
    "awaited_text",
    "history_lines",
    "host_lines",
    "key_lines",
    "rank_lines",
    "refused_text",
    "verdict_strip",
]

DIFFERS = Word("Differs", "fail", "fail")
MATCHES = Word("As decided", "pass", "pass")
AWAITED = Word("Not reported", "unk", "unk")
SILENT = Word("Silent", "stale", "unk")
FLAPS = Word("Flaps", "fail", "fail")
EARLIER = Word("From before", "na", "na")
REFUSED = Word("Refused", "fail", "fail")
NEWS = Word("News", "plain", "plain")
FOUND = {"differs": DIFFERS, "missing": AWAITED, "unknown": Word("Unknown", "unk", "unk"), "": MATCHES}
RANKS = "/placement/rank_map/"
SAYS_NOTHING = Word("Says nothing", "unk", "unk")
ORDER = ("Differs", "Flaps", "Refused", "Silent", "Says nothing", "From before", "As decided")
"""Hosts in this order: what somebody has to look at comes first."""
AWAITED_NAMED = 40
MOST_SPANS = 400
SAYING = 3
"""Hosts that a row names; of more it says how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLine:
    """A key: what was decided, what is found, who says so, since when, and whose it is."""

    how: str
    word: Word
    key: str
    decided: str
    found: str
    hosts: str
    since: str
    team: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankLine:
    """A rank at fault: its decided place and the one it has. ``href`` leads to it on the map."""

    rank: int
    word: Word
    decided: str
    found: str
    hosts: str
    team: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLine:
    """A host with its last report."""

    name: str
    host: str
    word: Word
    last: str
    last_ago: str
    since: str
    text: str
    raw_href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportLine:
    """A report of the history: ``keys`` differ, each with its team."""

    at: str
    name: str
    word: Word
    keys: tuple[tuple[str, str], ...]
    more: str
    person: str
    raw_href: str
    short: str


@dataclass(slots=True)
class _Place:
    """What is found of a rank."""

    found: dict[str, Any] = field(default_factory=dict)
    hosts: list[str] = field(default_factory=list)
    how: str = "differs"


def verdict_strip(found: IdentityPage) -> Strip:
    """Say in one line how the slot stands to the decision."""
    live, now = found.live, found.now
    last = f"Last report {ago(live.last_report, now)}." if live.last_report else "No report yet."
    if live.held is None and found.held_by:
        return Strip(lead="Never in force.", text=f"{found.page.label} was never put into force.", icon="na")
    if live.held is None:
        return Strip(lead="Nothing in force.", text=f"{live.because} {last}", icon="na")
    if live.together.differs:
        return Strip(lead="Differs.", text=live.because, icon="fail", css="fail", more=last)
    if live.flapping:
        return Strip(lead="Flaps.", text=live.because, icon="fail", css="fail", more=last)
    if live.matches:
        return Strip(lead="Matches.", text=live.because, icon="pass", more=last)
    if live.agrees:
        text = f"{live.because} Only a new revision puts it into force again."
        return Strip(lead="The slot matches again.", text=text, icon="pass", more=last)
    is_silent = live.last_report is not None and not any(row.is_fresh for row in live.hosts)
    lead = "Silent." if is_silent else "Not known to match."
    return Strip(lead=lead, text=live.because, icon="stale" if is_silent else "unk", css="unk", more=last)


def awaited_text(live: LiveIdentity) -> tuple[tuple[str, str], ...]:
    """Return what is waited for: what it is, and its names."""
    whole = live.together
    more = f" and {len(whole.awaited) - AWAITED_NAMED} more" if len(whole.awaited) > AWAITED_NAMED else ""
    rows = [("Nodes", ", ".join(whole.awaited[:AWAITED_NAMED]) + more)]
    for name, open_ranks in (("Ranks", whole.open_places), ("NICs of ranks", whole.open_nics)):
        ranks = spans(tuple(sorted(open_ranks)))
        rows.append((name, ranks if len(ranks) <= MOST_SPANS else count(len(open_ranks), "rank")))
    return tuple((name, text) for name, text in rows if text)


def key_lines(found: IdentityPage, *, everything: bool) -> tuple[KeyLine, ...]:
    """Return the keys that are not as decided; with ``everything`` all others after them."""
    live = found.live
    if live.decided is None:
        return ()
    lines = [*_differing(live), *_open(live)]
    if everything:
        named = {line.key for line in lines}
        lines += [line for line in _as_decided(live) if line.key not in named]
    return tuple(lines)


def _differing(live: LiveIdentity) -> Iterator[KeyLine]:
    for row in live.hosts:
        for one in row.differences if row.is_fresh else ():
            if not one.key.startswith(RANKS):
                yield KeyLine(
                    how=one.how,
                    word=FOUND[one.how],
                    key=one.key,
                    decided=shown(one.expected),
                    found="–" if one.found is None else shown(one.found),
                    hosts=row.name,
                    since=when(row.since),
                    team=team_title(one.team),
                )


def _open(live: LiveIdentity) -> Iterator[KeyLine]:
    decided = dict(live.decided.keys) if live.decided else {}
    for key in live.together.open_keys:
        node = live.decided.nodes.get(key, "") if live.decided else ""
        yield KeyLine(
            how="missing",
            word=AWAITED,
            key=key,
            decided=shown(decided[key]),
            found="–",
            hosts=node,
            since="",
            team=team_title(live.owner(key)),
        )


def _as_decided(live: LiveIdentity) -> Iterator[KeyLine]:
    if live.decided is None:
        return
    saying: dict[int, list[HostRow]] = {}
    for row in live.hosts:
        for at in places_of(row.keys) if row.is_fresh else ():
            saying.setdefault(at, []).append(row)
    for at, (key, value) in enumerate(live.decided.keys):
        rows = saying.get(at, [])
        yield KeyLine(
            how="",
            word=MATCHES,
            key=key,
            decided=shown(value),
            found=shown(value),
            hosts=_names([row.name for row in rows]),
            since=when(min(row.since for row in rows)) if rows else "",
            team=team_title(live.owner(key)),
        )


def _names(names: list[str]) -> str:
    rest = f" and {len(names) - SAYING} more" if len(names) > SAYING else ""
    return ", ".join(names[:SAYING]) + rest


def rank_lines(live: LiveIdentity, map_href: str) -> tuple[RankLine, ...]:
    """Return every rank that runs elsewhere than decided, in order."""
    places: dict[int, _Place] = {}
    for name, one in live.differences:
        if one.key.startswith(RANKS):
            _, _, rank, *what = steps(one.key)
            place = places.setdefault(int(rank), _Place())
            place.found[what[0] if what else "device"] = one.found
            if name not in place.hosts:
                place.hosts.append(name)
    return tuple(_rank_line(live, rank, place, map_href) for rank, place in sorted(places.items()))


def _rank_line(live: LiveIdentity, rank: int, place: _Place, map_href: str) -> RankLine:
    known = live.decided.by_rank.get(rank) if live.decided else None
    decided: Mapping[str, Any] = known[1] if known else {}
    one = KeyDifference(f"{RANKS}{rank}", "differs", None, None)
    return RankLine(
        rank=rank,
        word=DIFFERS,
        decided=_place(decided) or "no such rank",
        found=_place({**decided, **place.found}),
        hosts=_names(place.hosts),
        team=team_title(owned(live.owners, one).team) if live.owners else "",
        href=f"{map_href}&rank={rank}" if known else "",
    )


def _place(entry: Mapping[str, Any]) -> str:
    return " · ".join(str(entry[name]) for name in ("node", "device", "nic") if entry.get(name))


def host_lines(found: IdentityPage, raw: str) -> tuple[HostLine, ...]:
    """Return the hosts; ``raw`` is the address of a report's bytes with ``DIGEST`` in the place of the digest."""
    lines = [_host_line(row, found.now, raw) for row in found.live.hosts]
    return tuple(sorted(lines, key=lambda line: ORDER.index(line.word.text)))


def _host_line(row: HostRow, now: datetime, raw: str) -> HostLine:
    return HostLine(
        name=row.name,
        host=row.host if row.host != row.place else "",
        word=_host_word(row),
        last=when(row.collected_at) if row.collected_at else "never",
        last_ago=ago(row.collected_at, now) if row.collected_at else "",
        since=when(row.since),
        text=_host_text(row, now),
        raw_href=raw.replace("DIGEST", row.sha256) if row.sha256 else "",
    )


def _host_word(row: HostRow) -> Word:
    if row.collected_at is None:
        return REFUSED
    if not row.is_compared:
        return EARLIER
    if not row.is_fresh:
        return SILENT
    if row.differences:
        return DIFFERS
    if row.flaps_since is not None:
        return FLAPS
    return MATCHES if row.keys or row.ranks else SAYS_NOTHING


def _host_text(row: HostRow, now: datetime) -> str:
    said = []
    if not row.is_decided:
        said.append("In no decided rank map.")
    if row.collected_at is not None and not row.is_compared:
        said.append("From before the decision came into force.")
    if row.differences:
        said.append(f"{count(len(row.differences), 'difference')}.")
    if row.is_fresh and not row.differences:
        said.append(f"{count(row.keys.bit_count(), 'key')} and {count(row.ranks.bit_count(), 'rank')}.")
    if row.flaps_since is not None:
        keys = f" of {_names(list(row.flapped))}" if row.flapped else ""
        said.append(f"Flaps since {when(row.flaps_since)} UTC: {count(row.changes, 'change')}{keys}.")
    if row.refused_at:
        said.append(f"Refused {ago(row.refused_at, now)}: {row.refused_because}")
    return " ".join(said)


def refused_text(live: LiveIdentity, now: datetime) -> str:
    """Say what was refused last that is of no host in the list; empty where nothing was."""
    said = live.said
    return f"Refused {ago(said.refused_at, now)}: {said.refused_because}" if said.refused_at else ""


def history_lines(rows: tuple[ReportRow, ...], raw: str) -> tuple[ReportLine, ...]:
    """Return reports that were news, the newest first."""
    return tuple(
        ReportLine(
            at=when(row.reported_at),
            name=row.place or WHOLE_NAME,
            word=DIFFERS if row.named else MATCHES if row.matches else NEWS,
            keys=tuple((one.key, team_title(one.team)) for one in row.named[:SAYING]),
            more=f"and {count(len(row.named) - SAYING, 'more', 'more')}" if len(row.named) > SAYING else "",
            person=row.person,
            raw_href=raw.replace("DIGEST", row.identity),
            short=f"{row.identity[7:11]}…{row.identity[-4:]}",
        )
        for row in rows
    )
