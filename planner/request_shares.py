"""Shares of the requests of a window: completed, good, failed, refused, retried.

Rules kept: the whole is what was sent, refusals and timeouts included, without what the end of a time-boxed run cut
off; cut-off requests count only as far as they can have been in flight, and only where the tool says so; a share
whose whole is not known, or of nothing, is no share.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from planner.readings import Reading, Sample, Unfit, WindowView, number, unusable, zero
from planner.records.base import UNSET, UnsetType
from planner.records.evidence import GoodIf, Requests
from planner.shown import shown

__all__ = ["CEILINGS", "good_share", "request_share"]

CEILINGS = ("ttft_ms", "tpot_ms", "itl_ms", "e2e_ms")
"""What may make a request good."""

Worst = Literal["highest", "lowest"]


def request_share(windows: Iterable[WindowView], part: str, *, worst_is: Worst) -> Reading:
    """A part of the requests (``completed``, ``failed``, ...) over those sent, in each window."""
    return Reading(samples=tuple(_share(window, part) for window in windows), worst_is=worst_is)


def good_share(windows: Iterable[WindowView], wanted: Mapping[str, Fraction]) -> Reading:
    """Requests that met every ceiling of ``wanted`` (in ms by name), over those sent; the lowest decides."""
    samples = tuple(_by_ceilings(_share(window, "good"), window, wanted) for window in windows)
    return Reading(samples=samples, worst_is="lowest")


def _by_ceilings(sample: Sample, window: WindowView, wanted: Mapping[str, Fraction]) -> Sample:
    """Keep a count of good requests only where it was made with the wanted ceilings."""
    load = window.record.load
    found = UNSET if isinstance(load, UnsetType) else load.good_if
    used = (
        {}
        if not isinstance(found, GoodIf)
        else {name: value for name in CEILINGS if (value := number(getattr(found, name))) is not None}
    )
    if isinstance(found, GoodIf) and used == wanted:
        return sample
    at = f"{window.at}/load/good_if"
    if not isinstance(found, GoodIf):
        return unusable(sample, missing=at, note="What made a request good is not recorded.")
    odd = next(name for name in CEILINGS if used.get(name) != wanted.get(name))
    said = f"{shown(getattr(found, odd))}" if odd in used else "not used"
    return unusable(sample, missing=f"{at}/{odd}", note=f"Good was counted with {odd} {said}.")


def _share(window: WindowView, part: str) -> Sample:
    load = window.record.load
    requests = Requests() if isinstance(load, UnsetType) or isinstance(load.requests, UnsetType) else load.requests
    sent, some, cut_off = number(requests.sent), number(getattr(requests, part)), number(requests.cut_off)
    fields = ("/load/requests/sent", f"/load/requests/{part}", "/load/requests/cut_off")
    whole = None if sent is None else sent - _cut_off(window, cut_off)
    share = None if some is None or whole is None or whole <= 0 else some / whole
    absent = [at for at, value in zip(fields, (sent, some), strict=False) if value is None]
    sample = Sample(
        value=share,
        low=share,
        high=share,
        where=(("window", window.id),),
        read=tuple(window.at + at for at in fields[: 2 if cut_off is None else 3]),
        missing=tuple(window.at + at for at in absent),
        doubts=window.doubts(fields),
        unfit=() if sent is None or whole is None or whole > 0 else _nothing(window, sent, cut_off or Fraction(0)),
    )
    return (
        replace(sample, notes=(f"{int(cut_off):,} cut off at the end of window {window.id}.",)) if cut_off else sample
    )


def _nothing(window: WindowView, sent: Fraction, cut_off: Fraction) -> tuple[Unfit, ...]:
    """Say that nothing is left to have a share of."""
    if sent == 0:
        return zero(window.at, "/load/requests/sent", no="share")
    sentence = f"sent is {int(sent):,} and cut_off is {int(cut_off):,}: no share follows from what is left."
    return (Unfit(at=(f"{window.at}/load/requests/sent", f"{window.at}/load/requests/cut_off"), sentence=sentence),)


def _cut_off(window: WindowView, cut_off: Fraction | None) -> Fraction:
    """Return the cut-off requests that can have been in flight: in closed loop no more than the load point allows."""
    allowed = None if window.load_point is None else number(window.load_point.concurrent_requests)
    found = cut_off or Fraction(0)
    return found if allowed is None else min(found, allowed)
