"""Every group of a kind with its widest boundary, its slowest link and who contends for it, as rows. Pure.

Rules kept: figures are those of ``planner.group_links``; more groups than a page holds are put together where all that
is said of them is the same, and the download has each of them.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from planner.group_links import GroupLink, group_links
from reviews.web.csv_text import Value
from reviews.web.formats import count, listed, quantity, spans
from reviews.web.rank_facts import Kind, RankFacts

MOST_ROWS = 16
"""Groups up to which each has a row of its own."""
MOST_MEMBERS = 16
HEADER = (
    "kind",
    "group",
    "ranks",
    "widest_boundary",
    "undeclared_boundaries",
    "slowest_link",
    "link_class",
    "bytes_per_s_one_way",
    "contends_on",
    "contending_groups",
    "ranks_without_link",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One group, or several that are alike."""

    label: str
    ranks: str
    widest: str
    link: str
    bandwidth: str
    contends: str


def group_rows(facts: RankFacts, kind: Kind | None) -> tuple[GroupRow, ...]:
    """Make the rows of a kind's groups; none where ranks and degrees do not fit together."""
    if kind is None or facts.groups is None or not facts.is_placed:
        return ()
    links = group_links(facts.groups, facts.places, facts.site, kind.id)
    alike: dict[Hashable, list[int]] = {}
    # Groups of one rank have nothing between them: one row says so of all.
    one_by_one = len(links) <= MOST_ROWS and kind.largest > 1
    for index, link in enumerate(links):
        alike.setdefault(index if one_by_one else likeness(link), []).append(index)
    return tuple([group_row(facts, kind, links, indices) for indices in alike.values()])


def likeness(link: GroupLink) -> Hashable:
    """Return what makes groups alike: all but which link of a class it is."""
    contending = tuple(sorted(link.contending.items()))
    return link.widest, link.undeclared, link.link_class, link.bytes_per_s_one_way, contending, len(link.unlinked)


def group_row(facts: RankFacts, kind: Kind, links: Sequence[GroupLink], indices: Sequence[int]) -> GroupRow:
    """Write one group, or several that are alike."""
    link, several = links[indices[0]], len(indices) > 1
    labels = ", ".join(
        f"{kind.letter}{part.replace('–', f'–{kind.letter}')}" for part in shortened(spans(tuple(indices)))
    )
    ranks = f"{count(len(indices), 'group')} of {len(link.members)}" if several else members_short(link.members)
    slowest = sorted({links[index].link for index in indices} - {None}, key=str)
    name = (
        f"{count(len(slowest), 'link')} of class {link.link_class}"
        if len(slowest) > 1
        else slowest[0]
        if slowest
        else None
    )
    undeclared = f" ({listed(link.undeclared)} not declared)" if link.undeclared else ""
    return GroupRow(
        label=labels,
        ranks=ranks,
        widest=f"{widest_text(link)}{undeclared}",
        link=str(
            name or (f"inside {link.id}" if link.sort == "island" and not several else link.link_class) or no_link(link)
        ),
        bandwidth=quantity(link.bytes_per_s_one_way, "bytes/s"),
        contends=contention_text(facts, link, several=several),
    )


def shortened(text: str) -> list[str]:
    """Break spans apart and keep the first few."""
    parts = text.split(", ")
    return parts if len(parts) <= 4 else [*parts[:3], f"… {parts[-1]}"]


def members_short(members: Sequence[int]) -> str:
    """Write a group's ranks in its own order; of many the first, the last and how many."""
    if len(members) <= MOST_MEMBERS:
        return ", ".join(map(str, members))
    if list(members) == list(range(members[0], members[-1] + 1)):
        return f"{members[0]}–{members[-1]} ({len(members):,} ranks)"
    return f"{', '.join(map(str, members[:3]))}, … {members[-1]} ({len(members):,} ranks)"


def widest_text(link: GroupLink) -> str:
    """Name the widest boundary that a group crosses."""
    if link.widest is None:
        return "one rank"
    return "none" if link.widest == "device" else link.widest.replace("_", " ")


def no_link(link: GroupLink) -> str:
    """Say why no link is named."""
    if link.widest is None:
        return "–"
    return f"none declared for {count(len(link.unlinked), 'rank')}" if link.unlinked else "none declared"


def contention_text(facts: RankFacts, link: GroupLink, *, several: bool) -> str:
    """Say with which groups a group contends, and on what."""
    if not link.contending:
        return "nobody" if link.sort else "–"
    names = {kind.id: kind.name.lower() for kind in facts.kinds}
    parts = [f"{number:,} {names.get(kind, kind)}" for kind, number in sorted(link.contending.items())]
    where = "" if several or link.sort == "island" or link.id == link.link else f" on {link.id}"
    total = sum(link.contending.values())
    return f"{listed(parts)} {'group' if total == 1 else 'groups'}{where}"


def group_table(facts: RankFacts) -> list[list[Value]]:
    """Make the download's rows: every group of every kind, under ``HEADER``."""
    if facts.groups is None or not facts.is_placed:
        return []
    return [
        [
            kind.id,
            kind.label(index),
            " ".join(map(str, link.members)),
            link.widest,
            " ".join(link.undeclared),
            link.link,
            link.link_class,
            link.bytes_per_s_one_way,
            link.id,
            contending_text(link.contending),
            " ".join(map(str, link.unlinked)),
        ]
        for kind in facts.kinds
        for index, link in enumerate(group_links(facts.groups, facts.places, facts.site, kind.id))
    ]


def contending_text(contending: Mapping[str, int]) -> str:
    """Write who contends, for a file."""
    return " ".join(f"{kind}={number}" for kind, number in sorted(contending.items()))
