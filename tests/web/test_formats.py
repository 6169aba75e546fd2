from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest

from planner.figures import DECIMALS
from planner.gates import GATES, wording
from planner.gates.wording import Shown
from planner.numbers import plain
from planner.records.plan import Ratio, Value
from reviews.clock import when, when_exactly
from reviews.web import formats


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        pytest.param(53687091200, "bytes", "50.0 GiB", id="bytes are GiB with one decimal"),
        pytest.param(53687091201, "bytes", "50.0 GiB", id="a byte more rounds away"),
        pytest.param(1, "bytes", "0.000000000931 GiB", id="a single byte is not zero"),
        pytest.param(0, "bytes", "0.0 GiB", id="zero keeps its decimal"),
        pytest.param(420, "ms", "420 ms", id="whole milliseconds"),
        pytest.param(415.225, "ms", "415.22 ms", id="half to even"),
        pytest.param(415.235, "ms", "415.24 ms", id="half to even, upwards"),
        pytest.param(1180, "tok/s", "1,180 tok/s", id="thousands have commas"),
        pytest.param(0.6, "share", "0.600", id="a share keeps three decimals"),
        pytest.param(0.675, "share", "0.675", id="a share shows three where it has them"),
        pytest.param(1, "groups", "1 group", id="one is singular"),
        pytest.param(2, "groups", "2 groups", id="two are plural"),
        pytest.param(1, "identities", "1 identity", id="one of an irregular plural"),
        pytest.param(50_000_000_000, "bytes/s", "50.0 GB/s", id="a rate of bytes is decimal, as links are sold"),
        pytest.param(1.25, "ratio", "1.250", id="a ratio has no unit"),
        pytest.param(10.189, "USD/M tokens", "10.19 USD/M tokens", id="money has two decimals"),
        pytest.param(Ratio(num=1, den=3), "ms", "0.33 ms", id="a ratio is rounded from its exact value"),
        pytest.param(-80, "ms", "−80 ms", id="the minus is the real one"),
        pytest.param("inside_island", None, "inside island", id="words lose their underscores"),
        pytest.param(None, "ms", "–", id="missing is a dash"),
        pytest.param(3, "furlongs_per_week", "3 furlongs/week", id="an unknown unit is shown as written"),
    ],
)
def test_quantity(value: Value, unit: str | None, text: str) -> None:
    assert formats.quantity(value, unit) == text


def test_every_unit_of_a_gate_is_known() -> None:
    assert {gate.unit for gate in GATES if gate.unit} - formats.UNITS.keys() == set()


@pytest.mark.parametrize(
    ("share", "text"),
    [
        pytest.param(Ratio(num=4, den=25), "+16 %", id="room"),
        pytest.param(Ratio(num=-209, den=675), "−31 %", id="shortfall"),
        pytest.param(0, "±0 %", id="exactly at the limit"),
        pytest.param(Ratio(num=1, den=100000), "+<0.1 %", id="less than shown is not zero"),
        pytest.param(Ratio(num=-1, den=100000), "−<0.1 %", id="a hair's breadth of failing is not zero"),
        pytest.param(12.5, "+1,250 %", id="thousands have commas"),
        pytest.param(None, "", id="no margin"),
    ],
)
def test_percent(share: Value, text: str) -> None:
    assert formats.percent(share) == text


@pytest.mark.parametrize(
    ("comparator", "text"),
    [("<=", "≤ 64.0 GiB"), (">=", "≥ 64.0 GiB"), ("==", "= 64.0 GiB"), (None, "64.0 GiB")],
)
def test_limit(comparator: Any, text: str) -> None:
    assert formats.limit_text(comparator, 68719476736, "bytes") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(30, "just now", id="half a minute"),
        pytest.param(240, "4 min ago", id="minutes"),
        pytest.param(68_400, "19 h ago", id="hours"),
        pytest.param(172_800, "2 d ago", id="days"),
        pytest.param(-172_800, "in 2 d", id="to come"),
    ],
)
def test_distance_to_now(seconds: int, text: str) -> None:
    now = datetime(2026, 11, 28, 16, tzinfo=UTC)
    assert formats.ago(datetime.fromtimestamp(now.timestamp() - seconds, UTC), now) == text


def test_a_time_is_written_with_its_month() -> None:
    at = formats.moment("2026-11-28T16:00:07Z")
    assert (when(at), when_exactly(at)) == ("28 Nov 2026 16:00", "28 Nov 2026 16:00:07")


def test_a_digest_is_shortened_at_both_ends() -> None:
    assert formats.short_digest("sha256:c4d0" + "0" * 56 + "040f") == "c4d0…040f"


@pytest.mark.parametrize(
    ("numbers", "text"),
    [((0, 1, 2, 3, 8, 9), "0–3, 8–9"), ((5,), "5"), ((), ""), ((3, 1), "1, 3")],
)
def test_spans(numbers: tuple[int, ...], text: str) -> None:
    assert formats.spans(numbers) == text


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        pytest.param((4,), "rank 4", id="one"),
        pytest.param((0, 1, 2, 8), "ranks 0–2, 8", id="spans"),
        pytest.param(tuple(range(0, 12, 2)), "ranks 0, 2, 4, 6, 8, 10", id="as many spans as a sentence names"),
        pytest.param(tuple(range(0, 4000, 2)), "ranks 0, 2, 4, 6, 8, 10 … (2,000 in all)", id="more spans"),
    ],
)
def test_ranks_are_named_inside_a_sentence(ranks: tuple[int, ...], text: str) -> None:
    assert formats.ranks_text(ranks) == text


@pytest.mark.parametrize(("words", "text"), [((), ""), (("a",), "a"), (("a", "b", "c"), "a, b and c")])
def test_a_list_reads_as_a_sentence(words: tuple[str, ...], text: str) -> None:
    assert formats.listed(words) == text


@pytest.mark.parametrize(
    ("unit", "sentence"),
    [
        pytest.param("ms", wording.ms, id="ms"),
        pytest.param("tok/s", wording.rate, id="tok/s"),
        pytest.param("bytes", wording.gib, id="bytes"),
        pytest.param("USD", wording.usd, id="USD"),
        pytest.param("share", wording.share, id="share"),
        pytest.param("ratio", wording.share, id="ratio"),
    ],
)
@pytest.mark.parametrize("value", [Fraction(3, 5), Fraction(2), Fraction(1, 3), Fraction(10**13, 7)])
def test_a_table_writes_a_number_as_a_sentence_does(unit: str, sentence: Shown, value: Fraction) -> None:
    if unit == "bytes" and value < 2**30:
        value *= 2**30
    assert formats.quantity(plain(value), unit) == sentence(value, DECIMALS[unit][1])
