"""Geometry of stacked values, in whole units: one bar for a rank, one skyline for all of them. Pure, no text.

Rules kept: lengths are attributes of the SVG, because the policy refuses style attributes; a value that is missing is
left out and never drawn as zero; a skyline has one path for each layer, so that a thousand ranks stay small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

LENGTH = 1000
"""Units of a whole bar and of a skyline's height."""

Amount = int | float | Fraction


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar; ``css`` says what it stands for."""

    css: str
    x: int
    width: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Skyline:
    """All ranks side by side in a box of ``width`` x ``LENGTH``: ``layers`` are (class, path), the highest first.

    ``line`` is the path of a ceiling over the ranks, ``missing`` the columns of ranks without a value.
    """

    width: int
    layers: tuple[tuple[str, str], ...]
    line: str
    missing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """All ranks of a trial as one picture; ``worst_x`` is where the worst one stands, in the skyline's units."""

    picture: Skyline
    worst_x: float | None
    label: str


def scaled(value: Amount, whole: Amount) -> int:
    """Return a value as units of ``whole``, cut at both ends."""
    return max(0, min(LENGTH, round(LENGTH * Fraction(value) / Fraction(whole)))) if whole else 0


def segments(parts: Sequence[tuple[str, Amount]], whole: Amount, start: Amount = 0) -> tuple[Segment, ...]:
    """Lay parts end to end from ``start`` on; what is too short to be seen is left out."""
    found, at = [], Fraction(start)
    for css, value in parts:
        x, end = scaled(at, whole), scaled(at + Fraction(value), whole)
        if end > x:
            found.append(Segment(css, x, end - x))
        at += Fraction(value)
    return tuple(found)


def skyline(
    classes: Sequence[str],
    columns: Sequence[Sequence[Amount] | None],
    whole: Amount,
    ceilings: Sequence[Amount | None] = (),
) -> Skyline:
    """Stack each rank's values, one of every class; None is a rank without values."""
    totals: list[Fraction | None] = [None if column is None else Fraction(0) for column in columns]
    layers = []
    for at, css in enumerate(classes):
        totals = [
            None if total is None or column is None else total + Fraction(column[at])
            for total, column in zip(totals, columns, strict=True)
        ]
        layers.append((css, area([0 if total is None else scaled(total, whole) for total in totals])))
    return Skyline(
        width=len(columns),
        layers=tuple(reversed(layers)),
        line=stairs([None if most is None else scaled(most, whole) for most in ceilings]),
        missing=area([LENGTH if column is None else 0 for column in columns]),
    )


def area(heights: Sequence[int]) -> str:
    """Return the path that fills columns of these heights from the ground up; empty where all are zero."""
    if not any(heights):
        return ""
    return f"M0 {LENGTH}{_steps(heights)}V{LENGTH}Z"


def stairs(heights: Sequence[int | None]) -> str:
    """Return the line along the top of columns; it breaks where there is none."""
    path, drawn = "", None
    for at, height in enumerate(heights):
        if height is None:
            drawn = None
        elif height != drawn:
            path += f"V{LENGTH - height}" if drawn is not None else f"M{at} {LENGTH - height}"
            drawn = height
        if height is not None and (at + 1 == len(heights) or heights[at + 1] != height):
            path += f"H{at + 1}"
    return path


def _steps(heights: Sequence[int]) -> str:
    ends = [at + 1 for at in range(len(heights)) if at + 1 == len(heights) or heights[at + 1] != heights[at]]
    return "".join(f"V{LENGTH - heights[end - 1]}H{end}" for end in ends)
