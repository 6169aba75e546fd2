"""Steps and arrivals of a trial's ranks as rows of text and lengths of bars. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from planner.gates.balance import PERSISTENT
from planner.gates.handoff_queue import queue_hint
from planner.rank_times import rank_time
from planner.records.base import UNSET, UnsetType
from planner.view import TrialView
from reviews.web.csv_text import Value, plain
from reviews.web.formats import count, percent, ranks_text
from reviews.web.formats import number as number_text
from reviews.web.stacked import Fleet, Segment, scaled, segments, skyline
from reviews.web.step_facts import Lateness, RankStep, WindowSteps

CLASSES = ("p1", "p3", "p-wait", "p2")
"""Own work, collectives that are not split, waiting, moving: in the order in which they are laid end to end."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the figures that the page begins with."""

    title: str
    value: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One rank's step. ``mark`` names what is remarkable of it, or is empty."""

    rank: int
    place: str
    segments: tuple[Segment, ...]
    step: str
    figure: str
    own: str
    over_median: str
    wait: str
    move: str
    share: str
    exposed: str
    behind: str
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalRow:
    """One rank's arrival at ``x``; ``segments`` are its wait for the last of its group, and moving after that."""

    rank: int
    place: str
    x: int
    segments: tuple[Segment, ...]
    behind: str
    mark: str
    is_late: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalGroup:
    """The arrivals of one group of peers, on the scale of all groups."""

    title: str
    rows: tuple[ArrivalRow, ...]


def ms(value: Fraction | None) -> str:
    """Write a time without its unit, an en dash where there is none."""
    return "–" if value is None else number_text(value, "ms")


def share_text(value: Fraction | None) -> str:
    """Write a share as per cent, an en dash where there is none."""
    return "–" if value is None else percent(value, signed=False)


def step_rows(steps: WindowSteps, ranks: range) -> tuple[StepRow, ...]:
    """Make a row for each of the ranks."""
    return tuple(step_row(steps, steps.ranks[rank]) for rank in ranks)


def step_row(steps: WindowSteps, row: RankStep) -> StepRow:
    """Make the row of one rank."""
    parts = tuple(zip(CLASSES, row.parts, strict=True)) if row.parts else ()
    return StepRow(
        rank=row.rank,
        place=f"{row.node} · {row.device}",
        segments=segments(parts, steps.longest),
        step=ms(row.step),
        figure=figure_text(row),
        own=ms(row.own),
        over_median="–" if row.over_median is None else f"{number_text(row.over_median, 'ratio')} ×",
        wait=ms(row.wait),
        move=ms(row.move),
        share=share_text(row.share(row.collective)),
        exposed=ms(row.exposed),
        behind=ms(row.behind),
        mark=mark_of(steps, row),
    )


def figure_text(row: RankStep) -> str:
    """Write what stands beside a rank's bar: the share of its collectives, or what there is of its step."""
    if row.step is None:
        return "no step"
    share = row.share(row.collective)
    return f"{ms(row.step)} ms" if share is None else f"{share_text(share)} of {ms(row.step)} ms"


def mark_of(steps: WindowSteps, row: RankStep) -> str:
    """Name what is remarkable of a rank."""
    lead = next(iter(steps.lateness), None)
    if lead and lead.rank == row.rank:
        return "late"
    if lead and lead.reporter == row.rank:
        return "waits longest"
    return "slowest" if steps.slowest is row and not lead else ""


def figures(view: TrialView, steps: WindowSteps) -> Iterator[Figure]:
    """Yield what the page begins with: the share of a step that collectives take, who is late, who would report it."""
    heaviest = steps.heaviest
    if heaviest is None:
        yield Figure(
            "Collectives, of the step", "Not recorded", "It needs step_ms, and collective_ms or its two parts."
        )
    else:
        wait, move = heaviest.share(heaviest.wait), heaviest.share(heaviest.move)
        split = (
            f"{share_text(wait)} waiting, {share_text(move)} moving bytes"
            if wait is not None and move is not None
            else ""
        )
        share = share_text(heaviest.share(heaviest.collective))
        text = f"On rank {heaviest.rank}, the most: {split or 'waiting and moving are not split'}."
        yield Figure("Collectives, of the step", share, text)
    lead = next(iter(steps.lateness), None)
    if lead is not None:
        place = view.trial.rank_map[lead.rank]
        text = f"On {place.node}, device {place.device}: {ms(lead.behind)} ms after the first of its group."
        yield Figure("Late, the others wait for it", f"Rank {lead.rank}", text)
        text = "It arrives first and waits longest, so its timeout expires first. It is not the cause."
        yield Figure("Would be first to report", f"Rank {lead.reporter}", text)
    elif steps.groups:
        widest = max(steps.groups, key=lambda group: group.spread)
        text = f"The widest spread of arrivals is {ms(widest.spread)} ms, up to rank {widest.last}."
        known = any(row.step is not None for row in steps.ranks)
        value = "No rank" if known else "Not known"
        yield Figure("Late, the others wait for it", value, text if known else f"{text} Late needs step_ms.")
    else:
        yield Figure("Late, the others wait for it", "Not recorded", slowest_text(steps))


def slowest_text(steps: WindowSteps) -> str:
    """Say what is known of slow ranks where arrivals are not recorded."""
    slowest = steps.slowest
    if slowest is None or slowest.over_median is None:
        return "It needs arrival_lag_ms or collective_wait_ms of every rank of a group."
    return f"Rank {slowest.rank} works {number_text(slowest.over_median, 'ratio')} × the median of its peers."


def lateness_lines(view: TrialView, steps: WindowSteps) -> Iterator[str]:
    """Say who else is late, and what the pattern suggests. It decides nothing."""
    if steps.lateness:
        lead = steps.lateness[0]
        if lead.followers:
            are = "of a later stage is" if len(lead.followers) == 1 else "of later stages are"
            yield f"{ranks_text(lead.followers).capitalize()} {are} late behind rank {lead.rank}."
        if len(steps.lateness) > 1:
            others = tuple(sorted(late.rank for late in steps.lateness[1:]))
            yield f"Late in other serving groups: {ranks_text(others)}."
    yield from pattern_lines(view, steps)


def pattern_lines(view: TrialView, steps: WindowSteps) -> Iterator[str]:
    """Say what the pattern of late ranks suggests."""
    late = [rank for group in steps.groups for rank in group.late]
    if len(late) == 1:
        yield "One rank is late: look at its placement, device and host."
    elif late:
        nodes = {view.trial.rank_map[rank].node for rank in late}
        where = (
            f"all on {next(iter(nodes))}: look at that node" if len(nodes) == 1 else "on several nodes: look at a link"
        )
        yield f"{count(len(late), 'rank')} are late, {where}{' that they share' if len(nodes) > 1 else ''}."
    for lead in steps.lateness[:1]:
        stays = rank_time_share(steps, lead)
        if stays is not None:
            ends = "it stays on this rank" if stays >= PERSISTENT else "it moves between ranks"
            yield f"Rank {lead.rank} is slowest in {share_text(stays)} of the samples: {ends}."
    hint = queue_hint(steps.window)
    if hint:
        yield hint


def rank_time_share(steps: WindowSteps, lead: Lateness) -> Fraction | None:
    """Return in what share of samples the late rank is the slowest; None where it is not recorded."""
    return rank_time(steps.window, "slowest_sample_share", lead.rank, UNSET).value


def incident_lines(steps: WindowSteps) -> Iterator[str]:
    """Say which incidents of communication the window counts."""
    recorded = steps.window.record.incidents
    for kind in ("collective_timeouts", "hangs", "retransmits"):
        found = None if isinstance(recorded, UnsetType) else recorded.get(kind)
        if found is not None and found.count:
            word = kind.replace("_", " ").removesuffix("s")
            first = "" if isinstance(found.first_after_s, UnsetType) else f", the first after {found.first_after_s} s"
            yield f"{count(found.count, word)} in this window{first}."


def arrival_groups(steps: WindowSteps, ranks: range) -> tuple[ArrivalGroup, ...]:
    """Draw the arrivals of the groups that have a rank among ``ranks``."""
    moves = [row.move or Fraction(0) for row in steps.ranks]
    widest = max(
        (group.spread + max(moves[rank] for rank in group.ranks) for group in steps.groups), default=Fraction(0)
    )
    found = []
    for group in steps.groups:
        members = [rank for rank in group.ranks if rank in ranks]
        if members and widest:
            rows = tuple(arrival_row(steps, group.behind[rank], group.spread, rank, widest) for rank in members)
            title = ranks_text(tuple(sorted(group.ranks))).capitalize()
            found.append(ArrivalGroup(title=f"{title}: {ms(group.spread)} ms from first to last", rows=rows))
    return tuple(found)


def arrival_row(steps: WindowSteps, behind: Fraction, spread: Fraction, rank: int, widest: Fraction) -> ArrivalRow:
    """Make the row of one rank."""
    row = steps.ranks[rank]
    late = any(rank in group.late for group in steps.groups)
    return ArrivalRow(
        rank=rank,
        place=f"{row.node} · {row.device}",
        x=scaled(behind, widest),
        segments=segments([("p-wait", spread - behind), ("p2", row.move or Fraction(0))], widest, behind),
        behind="first" if not behind else f"+{ms(behind)} ms",
        mark=mark_of(steps, row) or ("late" if late else ""),
        is_late=late,
    )


def fleet_of(steps: WindowSteps) -> Fleet:
    """Draw the steps of all ranks at once."""
    values = [row.step for row in steps.ranks if row.step is not None]
    said = f": {ms(min(values))} to {ms(max(values))} ms" if values else ""
    return Fleet(
        picture=skyline(CLASSES, [row.parts for row in steps.ranks], steps.longest),
        worst_x=None if steps.worst is None else steps.worst + 0.5,
        label=f"Steps of {count(len(steps.ranks), 'rank')}{said}",
    )


HEADER = (
    "window",
    "rank",
    "node",
    "device",
    "step_ms",
    "own_work_ms",
    "own_work_over_median",
    "collective_wait_ms",
    "collective_move_ms",
    "collective_ms",
    "collective_exposed_ms",
    "collective_share",
    "behind_first_ms",
)


def download_rows(steps: WindowSteps) -> list[list[Value]]:
    """Return every rank in the order of ``HEADER``."""
    return [
        [
            steps.window.id,
            row.rank,
            row.node,
            row.device,
            *(
                plain(value)
                for value in (
                    row.step,
                    row.own,
                    row.over_median,
                    row.wait,
                    row.move,
                    row.collective,
                    row.exposed,
                    row.share(row.collective),
                    row.behind,
                )
            ),
        ]
        for row in steps.ranks
    ]
