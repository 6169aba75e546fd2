"""Telemetry with a gap: one required metric at a time is null in one place."""

from typing import Any

import msgspec

from planner.docket import owed_evidence
from planner.gates.owed import required
from planner.presence import TRACED, Want, owing_links
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import Trial, Window
from planner.records.plan import OrderKey
from planner.stress.base import Case, Fault, Injected, NotInjectable, injection
from planner.stress.changes import with_windows
from planner.view import TrialView

Emptied = tuple[Window, str]
"""A window with the gap, and the gap's pointer below the window."""


def required_metrics(view: TrialView, order: tuple[OrderKey, ...]) -> tuple[str, ...]:
    """Return the metrics that limits, selection keys and ``evidence_required`` owe, once each, in order."""
    return tuple(dict.fromkeys(want.metric for want in required(view.contract, owed_evidence(view, order))))


@injection(
    "incomplete_telemetry",
    title="Incomplete telemetry",
    fault="{target} is null in one place of one window",
    gates=("telemetry",),
    targets=required_metrics,
)
def incomplete_telemetry(case: Case) -> Fault:
    """One required metric is null for the highest rank, link, replica or entry, in the first window that records it;
    all else stays. A reading that leaves the place out would be better than the truth."""
    for want in required(case.view.contract, owed_evidence(case.view, case.order)):
        if want.metric != case.target:
            continue
        traced = want.section in TRACED
        of_load_point = case.view.windows(want.load_point)
        for window in case.view.traced(want.load_point, want.section) if traced else of_load_point:
            emptied = _emptied(case.view, window.record, want)
            if emptied is not None:
                changed, gap = emptied
                trial: Trial = with_windows(case.view.trial, {window.id: changed})
                return Injected(trial=trial, changed=(f"{window.at}{gap}",))
    return NotInjectable(sentence=f"{case.target} is not recorded where it is owed.")


def _emptied(view: TrialView, window: Window, want: Want) -> Emptied | None:
    """Make the gap; None where the window has nothing to leave out."""
    found = getattr(window, want.section, UNSET)
    if isinstance(found, UnsetType):
        return None
    if want.section == "load":
        inside = _without_member(found, want)
    elif want.section == "per_rank":
        inside = _without_last_value(found, want.field)
    elif want.section == "links":
        inside = _without_counter(found, owing_links(view, want), want)
    else:
        inside = _without_entry(found, want.field)
    if inside is None:
        return None
    section, gap = inside
    return msgspec.structs.replace(window, **{want.section: section}), f"/{want.section}{gap}"


Inside = tuple[Any, str]


def _without_member(load: Any, want: Want) -> Inside | None:
    """Leave a figure out, or one member of it where the limit needs members: the last one named."""
    value = getattr(load, want.field, None)
    if _is_nothing(value):
        return None
    if not want.fields or not isinstance(value, msgspec.Struct):
        gap = UNSET if isinstance(value, msgspec.Struct) else None
        return msgspec.structs.replace(load, **{want.field: gap}), f"/{want.field}"
    member = want.fields[-1]
    if _is_nothing(getattr(value, member, None)):
        return None
    changed = msgspec.structs.replace(value, **{member: UNSET if member == "definition" else None})
    return msgspec.structs.replace(load, **{want.field: changed}), f"/{want.field}/{member}"


def _without_last_value(metrics: Any, name: str) -> Inside | None:
    if name not in metrics or not metrics[name].values or metrics[name].values[-1] is None:
        return None
    values = metrics[name].values
    changed = msgspec.structs.replace(metrics[name], values=(*values[:-1], None))
    return {**metrics, name: changed}, f"/{name}/values/{len(values) - 1}"


def _without_counter(links: Any, owing: tuple[str, ...], want: Want) -> Inside | None:
    link = next((link for link in reversed(owing) if links.get(link)), None)
    if link is None:
        return None
    phase = want.phase or min(links[link])
    counters = links[link].get(phase)
    if _is_nothing(getattr(counters, want.field, None)):
        return None
    gap = UNSET if want.field == "sample_interval_s" else None
    changed = msgspec.structs.replace(counters, **{want.field: gap})
    return {**links, link: {**links[link], phase: changed}}, f"/{link}/{phase}/{want.field}"


def _without_entry(section: Any, name: str) -> Inside | None:
    """Leave a field of the highest entry out; a section may be one record, or entries by id."""
    if not isinstance(section, dict):
        if _is_nothing(getattr(section, name, None)):
            return None
        return msgspec.structs.replace(section, **{name: None}), f"/{name}"
    highest = max(section, default=None)
    if highest is None or _is_nothing(getattr(section[highest], name, None)):
        return None
    value = getattr(section[highest], name)
    gap = (*value[:-1], None) if isinstance(value, tuple) else None if isinstance(value, int | float) else UNSET
    changed = msgspec.structs.replace(section[highest], **{name: gap})
    return {**section, highest: changed}, f"/{highest}/{name}"


def _is_nothing(value: object) -> bool:
    return value is None or isinstance(value, UnsetType)
