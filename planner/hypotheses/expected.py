"""A figure that is expected, or the names of what it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from planner.hypotheses.contract import pointer_of
from planner.hypotheses.facts import MissingFactsError, Shape, SplitRefusedError, all_missing

__all__ = ["Expected", "expected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """``bytes`` is None where fields under ``missing`` are not stated, or ``refused`` says why there is no figure."""

    bytes: int | None
    formula: str
    missing: tuple[str, ...] = ()
    refused: str = ""


def expected(formula: str, shape: Shape, counted: Callable[[Shape], Fraction | int]) -> Expected:
    """Return what ``counted`` gives of a shape, in whole bytes rounded up, or everything that it needs."""
    try:
        value = Fraction(counted(shape))
    except MissingFactsError:
        names = all_missing(shape, counted)
        return Expected(bytes=None, formula=formula, missing=tuple(map(pointer_of, names)))
    except SplitRefusedError as refused:
        return Expected(bytes=None, formula=formula, refused=refused.message)
    return Expected(bytes=-(-value.numerator // value.denominator), formula=formula)
