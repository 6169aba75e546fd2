"""Numbers with their units, as sentences show them.

Rules kept: rounding is half to even from the exact value; two different numbers in one sentence are never rounded
to the same text, because "500 ms, at most 500 ms" cannot explain a FAIL.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

from planner.compare import Comparison
from planner.figures import DECIMALS, grouped, with_commas
from planner.numbers import GIB, in_units
from planner.readings import Sample

MOST_PLACES = 330
"""More than the smallest double has, so that any two of them can be told apart."""
NAMED = 3
"""How many of several problems a sentence names; the pointers name all."""

Shown = Callable[[Fraction, int], str]


def ms(value: Fraction, places: int = DECIMALS["ms"][1]) -> str:
    """Milliseconds: ``420 ms``."""
    return f"{grouped(value, places)} ms"


def rate(value: Fraction, places: int = DECIMALS["tok/s"][1]) -> str:
    """Output tokens per second: ``960 tok/s``."""
    return f"{grouped(value, places)} tok/s"


def gib(value: int | Fraction, places: int = DECIMALS["bytes"][1]) -> str:
    """Bytes as GiB, always with a decimal: ``50.0 GiB``."""
    return f"{_fixed(value, places, per=GIB)} GiB"


def usd(value: Fraction, places: int = DECIMALS["USD"][1]) -> str:
    """Money: ``10.19 USD``."""
    return f"{_fixed(value, places)} USD"


def share(value: Fraction, places: int = DECIMALS["share"][1]) -> str:
    """A share of one, always with three decimals: ``0.600``."""
    return _fixed(value, places)


def count(value: Fraction, places: int = 0) -> str:
    """A whole number: ``1,024``."""
    return grouped(value, places)


def apart(show: Shown, first: Fraction, second: Fraction, places: int) -> tuple[str, str]:
    """Write two numbers with as many decimals as it takes to tell them apart, at least ``places``; the second one is
    mostly a limit, which many trials have in common."""
    for enough in range(places, MOST_PLACES):
        left, right = show(first, enough), _shown_before(show, second.numerator, second.denominator, enough)
        if left != right or first == second:
            return left, right
    return str(first), str(second)


@lru_cache(maxsize=1024)
def _shown_before(show: Shown, numerator: int, denominator: int, places: int) -> str:
    # Fractions are slow to hash, so their parts are the key.
    return show(Fraction(numerator, denominator), places)


def _fixed(value: int | Fraction, places: int, *, per: int = 1) -> str:
    units = in_units(value, places, per=per)
    whole, rest = divmod(abs(units), 10**places)
    return f"{'−' if units < 0 else ''}{with_commas(whole)}.{str(rest).zfill(places)}"


def counted(number: int, noun: str, several: str | None = None) -> str:
    """Write a count with its noun: ``1 rank``, ``2 ranks``."""
    return f"{with_commas(number)} {noun if number == 1 else several or f'{noun}s'}"


def capital(sentence: str) -> str:
    """Start a sentence with a capital letter."""
    return sentence[:1].upper() + sentence[1:]


def why(result: Comparison) -> str:
    """Say, after a sentence with a recorded figure, why it decides nothing; empty where it does."""
    if result.outcome != "UNKNOWN" or result.decides is None:
        return ""
    return "".join(f" {note}" for note in result.notes[:1])


def unjudged(sample: Sample, what: str, where: str, verb: str = "is") -> str:
    """Say of a place without a value that ``what`` is not recorded there, or what is recorded and why it gives none."""
    if sample.unfit:
        return f"{what} cannot be judged {where}. {sample.unfit[0].sentence}"
    return f"{what} {verb} not recorded {where}."


def no_window(load_point: str) -> str:
    """Say that a load point was not measured."""
    return f"No counted window at {load_point}."


def named(sentences: Sequence[str]) -> str:
    """Join sentences, the first few in full."""
    more = len(sentences) - NAMED
    return " ".join(sentences[:NAMED]) + (f" And {more:,} more." if more > 0 else "")
