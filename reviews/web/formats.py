"""Numbers, times and digests as text for people: exact in, rounded only here, half to even.

Rules kept: a unit follows its number after a space, bytes are GiB (2**30), rates of links GB/s (10**9) as data sheets
state them, minus is the real sign, thousands have commas, a margin that is not zero is never printed as zero. Nothing
here knows a page, a row or a request.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from planner.figures import DECIMALS, SIGNS
from planner.numbers import GIB, exact, rounded
from planner.records.plan import Ratio, Value

MINUS = "−"
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """How a planner unit is shown: divided by ``scale``, followed by ``text``, or by ``one`` after the number 1.

    It has at most ``places`` decimals and at least ``least``, zeros if need be, so that columns compare.
    """

    text: str
    one: str = ""
    scale: int = 1
    places: int = 2
    least: int = 0


def counting(many: str, one: str = "") -> Unit:
    """Make the unit of a number of things."""
    return Unit(text=many, one=one or many.removesuffix("s"), places=1)


def measured(text: str, of: str, *, scale: int = 1) -> Unit:
    """Make the unit of a measured quantity, with the decimals that sentences give it."""
    least, most = DECIMALS[of]
    return Unit(text=text, scale=scale, places=most, least=least)


UNITS: dict[str, Unit] = {
    "bytes": measured("GiB", "bytes", scale=GIB),
    "bytes/s": measured("GB/s", "bytes/s", scale=10**9),
    **{name: measured(name, name) for name in ("ms", "s", "tok/s", "USD", "USD/h", "USD/M tokens", "W", "J/token")},
    "tok/s per device": measured("tok/s per device", "tok/s"),
    **{name: measured("", name) for name in ("share", "ratio", "score")},
    "devices": counting("devices"),
    "groups": counting("groups"),
    "identities": counting("identities", "identity"),
    "incidents": counting("incidents"),
    "leaves": counting("leaves", "leaf"),
    "paths": counting("paths"),
    "ranks": counting("ranks"),
    "readings": counting("readings"),
    "requests": counting("requests"),
    "tokens": counting("tokens"),
}
"""Every unit of the planner; one that is not listed is shown as written, with its number to three decimals."""


KEY_UNITS = {
    "output_tokens_per_s_per_charged_device": "tok/s per device",
    "output_tokens_per_s": "tok/s",
    "usd_per_million_output_tokens": "USD",
    "ttft": "ms",
}
"""Units of the keys of a selection order; the others are counts that their own name explains."""


KEY_TITLES = {
    "output_tokens_per_s_per_charged_device": "output tok/s per charged device",
    "output_tokens_per_s": "output tok/s",
    "usd_per_million_output_tokens": "USD per million output tokens",
    "serving_group_ranks": "ranks of the largest serving group",
    "charged_devices": "charged devices",
    "ttft": "TTFT",
}


def key_title(key: str) -> str:
    """Name a key of a selection order."""
    return KEY_TITLES.get(key, key.replace("_", " "))


def unit_of(name: str | None) -> Unit:
    """Return how a unit is shown."""
    if name is None:
        return Unit(text="", places=3)
    return UNITS.get(name) or Unit(text=name.replace("_per_", "/").replace("_", " "), places=3)


def grouped(text: str) -> str:
    """Put commas between thousands and use the real minus sign."""
    sign, digits = (MINUS, text[1:]) if text.startswith("-") else ("", text)
    whole, point, decimals = digits.partition(".")
    return f"{sign}{int(whole):,}{point}{decimals}"


def trimmed(text: str, least: int = 0) -> str:
    """Drop zeros at the end of the decimals, but keep ``least`` of them."""
    whole, _, decimals = text.partition(".")
    kept = decimals.rstrip("0").ljust(least, "0")
    return f"{whole}.{kept}" if kept else whole


def number(value: int | float | Ratio | Fraction, unit: str | None = None) -> str:
    """Write a number without its unit; a value too small for its decimals keeps three significant digits."""
    shown = unit_of(unit)
    scaled = exact(value) / shown.scale
    places = shown.places
    if scaled and abs(scaled) < Fraction(1, 2 * 10**places):
        return grouped(trimmed(rounded(scaled, significant_places(scaled))))
    return grouped(trimmed(rounded(scaled, places), shown.least))


def significant_places(value: Fraction) -> int:
    """Decimals that show three significant digits of a small number."""
    places = 3
    while abs(value) * 10 ** (places - 2) < 1 and places < 12:
        places += 1
    return places


def quantity(value: Value, unit: str | None = None) -> str:
    """Write a value with its unit; text passes through, a missing value is an en dash."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value.replace("_", " ")
    text, shown = number(value, unit), unit_of(unit)
    suffix = shown.one if text == "1" and shown.one else shown.text
    return f"{text} {suffix}".rstrip()


def limit_text(comparator: str | None, value: Value, unit: str | None) -> str:
    """Write a limit with its sign, for example ``≤ 64.0 GiB``; empty when there is none."""
    if value is None:
        return ""
    sign = SIGNS.get(comparator or "", "")
    return f"{sign} {quantity(value, unit)}".lstrip()


def percent(share: Value | Fraction, *, signed: bool = True) -> str:
    """Write a share as per cent; the sign is printed, and zero is ``±0 %``."""
    if share is None or isinstance(share, str):
        return ""
    value = exact(share) * 100
    if not value:
        return "±0 %" if signed else "0 %"
    sign = MINUS if value < 0 else ("+" if signed else "")
    text = trimmed(rounded(abs(value), 1))
    if text == "0":
        return f"{sign}<0.1 %"
    return f"{sign}{grouped(text)} %"


def moment(text: str) -> datetime:
    """Read a document's time (UTC, whole seconds)."""
    return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)


def ago(at: datetime, now: datetime) -> str:
    """Write the distance to now in one unit: ``just now``, ``4 min``, ``19 h``, ``2 d``, with ``in`` or ``ago``."""
    seconds = int((now - at).total_seconds())
    size = abs(seconds)
    if size < 60:
        return "just now"
    text = next(
        f"{size // span} {name}"
        for limit, span, name in ((3600, 60, "min"), (86_400, 3600, "h"), (10**12, 86_400, "d"))
        if size < limit
    )
    return f"{text} ago" if seconds > 0 else f"in {text}"


def short_digest(digest: str) -> str:
    """Shorten a digest to ``c4d0…040f``."""
    hexes = digest.removeprefix("sha256:")
    return f"{hexes[:4]}…{hexes[-4:]}"


def digests_shortened(text: str) -> str:
    """Shorten every digest in a text."""
    return DIGEST.sub(lambda found: short_digest(found.group()), text)


def count(number_of: int, one: str, many: str | None = None) -> str:
    """Write ``1 gate`` or ``3 gates``."""
    return f"{number_of:,} {one if number_of == 1 else many or one + 's'}"


def listed(words: tuple[str, ...] | list[str], last: str = "and") -> str:
    """Join words as a sentence does."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def spans(numbers: tuple[int, ...]) -> str:
    """Write sorted whole numbers as spans: ``0–3, 8–11``."""
    parts: list[list[int]] = []
    for value in sorted(numbers):
        if parts and value == parts[-1][-1] + 1:
            parts[-1].append(value)
        else:
            parts.append([value])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}–{p[-1]}" for p in parts)


MOST_SPANS = 6
"""Spans that a sentence names."""


def ranks_text(ranks: tuple[int, ...]) -> str:
    """Name ranks inside a sentence: ``rank 4``, ``ranks 0–3, 8``; of many spans the first few."""
    pieces = spans(ranks).split(", ")
    rest = f" … ({len(ranks):,} in all)" if len(pieces) > MOST_SPANS else ""
    return f"rank{'' if len(ranks) == 1 else 's'} {', '.join(pieces[:MOST_SPANS])}{rest}"
