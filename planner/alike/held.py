"""The consistency identities of many trials at once, for whoever asks the gates about each of them.

Rules kept: a window has the checks of another one where the same identities are evaluated in it and surely hold
(``planner.alike.identities``); every other window has them evaluated when they are asked for. Not handled: what gates
make of them.
"""

from collections.abc import Iterator, Mapping, Sequence

from planner import consistency
from planner.alike.form import AT_ONCE, UnlikeError, form_of
from planner.alike.identities import tests_of
from planner.alike.measures import Batch
from planner.records.base import UnsetType
from planner.records.evidence import Window
from planner.view import TrialView

__all__ = ["check_together"]

PATIENCE = 4
"""How many windows are tried as the one whose checks others have, among those that are likely of one form."""
WORTH_IT = 4
"""Windows of which one more is quicker checked by its numbers, with all that it takes to know how."""

Place = tuple[TrialView, str, Window]
"""A trial, and the id and the record of one of its windows."""


def check_together(views: Mapping[str, TrialView]) -> None:
    """Let the views of trials under one contract know the checks that those of others tell."""
    for places in _likely_alike(views):
        left, patience = places, PATIENCE
        while len(left) > WORTH_IT and patience > 0:
            left, patience = _check(left), patience - 1


def _likely_alike(views: Mapping[str, TrialView]) -> Iterator[Sequence[Place]]:
    """Yield counted windows at one load point, of as many ranks, with replicas of the same names."""
    found: dict[tuple[object, ...], list[Place]] = {}
    for view in views.values():
        for name, window in view.trial.windows.items():
            if window.purpose == "counted":
                replicas = () if isinstance(window.replicas, UnsetType) else tuple(window.replicas)
                found.setdefault((window.load_point, view.ranks, replicas), []).append((view, name, window))
    for places in found.values():
        yield from (places[start : start + AT_ONCE] for start in range(0, len(places), AT_ONCE))


def _check(places: Sequence[Place]) -> Sequence[Place]:
    """Evaluate the identities of the first window, test those of its form by numbers, and return what is left."""
    view, name, window = places[0]
    facts = view.facts(window)
    checks = consistency.checks(facts)
    view.checked[name] = window, checks
    try:
        form = form_of(name, window, view.ranks, reads_arrays=False)
        tests = tests_of(form, facts)
    except UnlikeError:
        return places[1:]
    if not all(check.holds for check in checks):
        return places[1:]
    table = form.table([own for _, _, own in places])
    batch = Batch(len(places), (table,), set(table.strangers))
    for test in tests:
        batch.only(test(table))
    if 0 in batch.odd:
        # Numbers of its own keep an identity from being evaluated in it; others may have more.
        return places[1:]
    for at, (view, name, window) in enumerate(places):
        if at not in batch.odd:
            view.checked[name] = window, checks
    return [place for at, place in enumerate(places) if at in table.strangers]
