"""A launch configuration as rows of text: what starts it, its label, ranks by node, what is not said, files. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from planner.canonical import file_sha256
from planner.launch import TARGETS, LaunchConfiguration, Target
from planner.launch.base import File, Unsaid
from planner.layouts import LAYOUTS
from reviews.clock import when, when_exactly
from reviews.selectors.launch import LaunchView
from reviews.web.formats import ago, count, listed, moment, ranks_text
from reviews.web.page_rows import Strip, Tab

__all__ = ["FileRow", "LaunchTable", "launch_strips", "launch_table", "steps_after", "targets"]

MOST_LINES = 200
"""Lines of a file that a page shows; the download has all."""
MOST_NODES = 64
TITLES: Mapping[Target, str] = {
    target: "LeaderWorkerSet" if target == "lws" else LAYOUTS[target].title for target in TARGETS
}
"""What people call the targets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A file: ``text`` is what is shown of it, ``hidden`` how many lines are not; ``whole`` is copied, if short."""

    name: str
    href: str
    size: str
    sha256: str
    text: str
    hidden: int
    whole: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRow:
    """What is started on one node."""

    instance: str
    node: str
    ranks: str
    devices: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTable:
    """Everything of a configuration that the page shows; ``faults`` are why ranks cannot be where they were decided."""

    title: str
    label: tuple[tuple[str, str], ...]
    digests: tuple[tuple[str, str], ...]
    to_fill: tuple[tuple[str, str], ...]
    faults: tuple[Unsaid, ...]
    unsaid: tuple[Unsaid, ...]
    seats: tuple[SeatRow, ...]
    more_nodes: int
    files: tuple[FileRow, ...]


def targets(found: LaunchView, href: Callable[[Target], str]) -> tuple[list[Tab], str]:
    """Return what could start it, and why the others cannot; nothing where no engine has a command for it."""
    offered = [choice.target for choice in found.choices if not choice.refused]
    if not offered or found.layout is None or found.activation is None:
        return [], ""
    others = tuple(TITLES[choice.target] for choice in found.choices if choice.refused)
    measured = f"{found.activation.trial} was measured with {LAYOUTS[found.layout].title}"
    note = f"Not with {listed(others, 'or')}: {measured}, and another engine is another topology, to be measured first."
    return [Tab(TITLES[target], href(target), target == found.target) for target in offered], note


def launch_strips(found: LaunchView, now: datetime) -> tuple[Strip, ...]:
    """Say whether something may be started at all, until when, and whether it is exact."""
    if found.made is None:
        lead = "There is no launch of this here." if found.is_in_force else "Nothing may be launched."
        return (Strip(lead=lead, text=found.because, icon="fail" if found.is_in_force else "stale", css="unk"),)
    activation = found.activation
    until = None if activation is None else activation.valid_until
    then = "its sets do not end by themselves" if found.target == "lws" else "a script starts nothing after"
    end = "Nothing limits how long." if until is None else f"Until {when(until)} UTC, {ago(until, now)}; {then}."
    strips = [Strip(lead=f"{found.made.label.decision} is in force.", text=end, icon="pass", css="pass")]
    if activation is not None and activation.incident:
        text = f"Incident {activation.incident}: one candidate for a time, though gates of it fail."
        strips = [
            Strip(lead=f"{found.made.label.decision} is an emergency.", text=f"{text} {end}", icon="stale", css="unk")
        ]
    if not found.made.is_exact:
        text = f"{count(len(found.made.faults), 'reason')} below. What is started otherwise is not what was decided."
        strips.append(Strip(lead="Not every rank is started where it was decided.", text=text, icon="fail", css="fail"))
    return tuple(strips)


def launch_table(made: LaunchConfiguration, href: Callable[[str], str]) -> LaunchTable:
    """Return the rows of a configuration; ``href`` makes the address of a file from its name."""
    label = made.label
    seats = [
        SeatRow(
            instance=f"{engine.index} {engine.role}",
            node=start.node,
            ranks=ranks_text(start.ranks),
            devices=", ".join(start.devices),
        )
        for engine in made.engines
        for start in engine.starts
    ]
    return LaunchTable(
        title=TITLES[made.target],
        label=(
            ("Decision", label.decision or "none"),
            ("Expires", "never" if label.expires_at is None else f"{when_exactly(moment(label.expires_at))} UTC"),
            ("Slot", label.slot),
            ("Topology", f"{label.topology}, trial {label.trial}"),
            ("Engine", label.engine),
        ),
        digests=(
            ("subject", label.subject or ""),
            ("contract", label.contract),
            ("evidence", label.evidence),
            ("plan", label.plan),
            ("rank map", label.rank_map_digest),
        ),
        to_fill=tuple(made.to_fill.items()),
        faults=made.faults,
        unsaid=tuple(each for each in made.unsaid if each not in made.faults),
        seats=tuple(seats[:MOST_NODES]),
        more_nodes=max(0, len(seats) - MOST_NODES),
        files=tuple(_file_row(file, href) for file in made.files),
    )


def _file_row(file: File, href: Callable[[str], str]) -> FileRow:
    lines = file.text.splitlines(keepends=True)
    return FileRow(
        name=file.name,
        href=href(file.name),
        size=f"{count(len(lines), 'line')}, {len(file.text.encode()):,} bytes",
        sha256=file_sha256(file.text.encode()),
        text="".join(lines[:MOST_LINES]),
        hidden=max(0, len(lines) - MOST_LINES),
        whole=file.text if len(lines) <= MOST_LINES else "",
    )


def steps_after(found: LaunchView, posting: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """Return what is run after the launch: what it is for, and the command. Files are those of the revision.

    ``posting`` makes the command that sends a file.
    """
    made = found.made
    if made is None:
        return ()
    nodes = list(dict.fromkeys(start.node for engine in made.engines for start in engine.starts))
    node = nodes[0] if nodes else "NODE"
    names = " ".join(f"{name}.json" for name in nodes[:2]) + (" ..." if len(nodes) > 2 else "")
    return (
        (
            f"On every host, here {node}: say what runs there",
            f"topogate identity collect --contract contract.json --node {node} --model MODEL_FOLDER --log ENGINE_LOG "
            f"--given stated.json > {node}.json",
        ),
        (
            "On every host, each minute or so: send what it said",
            posting(f"{node}.json"),
        ),
        (
            "Compare without the server: every key, every rank",
            f"topogate identity check contract.json evidence.json plan.json {names}",
        ),
        (
            "Put the reports together, for topogate check",
            f"topogate identity merge {names} > live.json",
        ),
    )
