"""Compare a reading with a limit: three outcomes, decided by exact arithmetic at the worst place.

Rules kept: comparators are inclusive; a FAIL at one place is a FAIL whatever is missing elsewhere; otherwise
anything missing or in doubt anywhere is UNKNOWN; a lower bound never passes a ceiling and an upper bound never
passes a floor, though each may fail it. Not handled: sentences (the gates write those).
"""

from fractions import Fraction
from typing import Literal

from msgspec import Struct

from planner.numbers import gap
from planner.readings import Reading, Sample

Outcome = Literal["PASS", "FAIL", "UNKNOWN"]
Comparator = Literal["<=", ">="]


class Comparison(Struct, frozen=True, kw_only=True, gc=False):
    """What comparing gave. ``decides`` is the place that the outcome is about, None where nothing was recorded.

    ``would`` is what the recorded values say, given only where the one reason for UNKNOWN is doubt about them.
    ``unfit`` are pointers of what is recorded and gives no value, where the outcome is UNKNOWN.
    """

    outcome: Outcome
    would: Literal["PASS", "FAIL", None]
    decides: Sample | None
    limit: Fraction | None
    margin: Fraction | None
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    unfit: tuple[str, ...] = ()


Judged = tuple[Sample, Outcome, Fraction | None]


def compare(reading: Reading, comparator: Comparator, limit: Fraction | None = None) -> Comparison:
    """Compare every sample with ``limit``, or with its own limit where ``limit`` is None."""
    judged: list[Judged] = []
    failed: list[Judged] = []
    unknown: list[Judged] = []
    for sample in reading.samples:
        entry = _judged(sample, comparator, sample.limit if limit is None else limit)
        judged.append(entry)
        if entry[1] == "UNKNOWN" or sample.doubts:
            unknown.append(entry)
        elif entry[1] == "FAIL":
            failed.append(entry)
    if failed:
        return _comparison("FAIL", None, failed, limit, reading)
    if unknown or reading.missing or not judged:
        would = None if reading.missing or not judged else _would([verdict for _, verdict, _ in judged])
        return _comparison("UNKNOWN", would, unknown or judged, limit, reading)
    return _comparison("PASS", None, judged, limit, reading)


def _judged(sample: Sample, comparator: Comparator, limit: Fraction | None) -> Judged:
    margin = _margin(sample, comparator, limit)
    if margin is not None and sample.low is sample.value is sample.high:
        # Exact evidence: one number settles both.
        return sample, "PASS" if margin.numerator >= 0 else "FAIL", margin
    return sample, _verdict(sample, comparator, limit), margin


def _verdict(sample: Sample, comparator: Comparator, limit: Fraction | None) -> Outcome:
    if limit is None:
        return "UNKNOWN"
    good, bad = (sample.high, sample.low) if comparator == "<=" else (sample.low, sample.high)
    if bad is not None and not _within(bad, comparator, limit):
        return "FAIL"
    return "PASS" if good is not None and _within(good, comparator, limit) else "UNKNOWN"


def _within(value: Fraction, comparator: Comparator, limit: Fraction) -> bool:
    # In integers over the common denominator: as exact as fractions, and several times faster.
    found, allowed = value.numerator * limit.denominator, limit.numerator * value.denominator
    return found <= allowed if comparator == "<=" else found >= allowed


def _margin(sample: Sample, comparator: Comparator, limit: Fraction | None) -> Fraction | None:
    """Return the signed distance to the limit, positive on the passing side."""
    if sample.value is None or limit is None:
        return None
    return gap(limit, sample.value) if comparator == "<=" else gap(sample.value, limit)


def _would(verdicts: list[Outcome]) -> Literal["PASS", "FAIL", None]:
    if "FAIL" in verdicts:
        return "FAIL"
    return None if "UNKNOWN" in verdicts else "PASS"


def _comparison(
    outcome: Outcome,
    would: Literal["PASS", "FAIL", None],
    candidates: list[Judged],
    limit: Fraction | None,
    reading: Reading,
) -> Comparison:
    decides: Judged | None
    if len(candidates) == 1:
        (decides,) = candidates
    else:
        valued = [entry for entry in candidates if entry[2] is not None]
        decides = min(valued, key=lambda entry: entry[2] or Fraction(0)) if valued else next(iter(candidates), None)
    sample = None if decides is None else decides[0]
    notes = reading.notes if sample is None else (*sample.doubts, *sample.notes, *reading.notes)
    own = limit if limit is not None or sample is None else sample.limit
    return Comparison(
        outcome=outcome,
        would=would,
        decides=sample,
        limit=own,
        margin=None if decides is None else decides[2],
        missing=() if outcome == "PASS" else reading.all_missing,
        notes=notes,
        unfit=reading.all_unfit if outcome == "UNKNOWN" else (),
    )
