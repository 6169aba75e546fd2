"""Evidence that is older than the contract allows."""

from datetime import timedelta

import msgspec

from planner.records.base import UnsetType
from planner.records.evidence import Window
from planner.stress.base import Case, Fault, Injected, NotInjectable, injection
from planner.stress.changes import with_windows
from planner.times import parsed_time, time_text


@injection(
    "stale_evidence",
    title="Stale evidence",
    fault="every window is older by the maximum age and {stale_after_max_age_s} s",
    gates=("freshness",),
)
def stale_evidence(case: Case) -> Fault:
    """Every window starts and ends earlier, by the contract's maximum age and a little more; without a maximum, by
    that little."""
    validity = case.view.contract.validity
    most = 0 if isinstance(validity, UnsetType) else validity.max_evidence_age_s
    older = timedelta(seconds=case.sizes.stale_after_max_age_s + (0 if isinstance(most, UnsetType) else most))
    aged = {name: _older(window, older) for name, window in sorted(case.view.trial.windows.items())}
    changed = {name: window for name, window in aged.items() if window is not None}
    if not changed:
        return NotInjectable(sentence="No window has a time in UTC.")
    return Injected(
        trial=with_windows(case.view.trial, changed),
        changed=tuple(f"{case.view.at}/windows/{name}/end" for name in changed),
    )


def _older(window: Window, by: timedelta) -> Window | None:
    start, end = parsed_time(window.start), parsed_time(window.end)
    if start is None or end is None:
        return None
    return msgspec.structs.replace(window, start=time_text(start - by), end=time_text(end - by))
