"""Readings: the worst of the windows, what each window says, and how a sampled peak stands to the true one."""

from fractions import Fraction
from typing import Any

import msgspec
import pytest

from planner.readings import WindowView, peak_bound
from planner.records.base import UNSET
from planner.records.evidence import PerRank, Window
from tests.planner.documents import ABSENT, Change
from tests.planner.factories import Changes, a_view, a_window

TOKENS = "/windows/w1/load/output_tokens_total"


def throughput(*trial: Change) -> Any:
    return a_view(None, Changes(trial=trial)).throughput("saturated")


def test_the_slowest_window_is_the_reading_never_the_pooled_rate() -> None:
    assert throughput().value == Fraction(200)


def test_every_window_keeps_its_own_value() -> None:
    assert throughput().windows == {"w1": Fraction(200), "w2": Fraction(210)}


def test_the_reading_says_what_was_read() -> None:
    assert throughput().read == tuple(
        f"/trials/t/windows/{window}/load/{field}"
        for window in ("w1", "w2")
        for field in ("output_tokens_total", "duration_s")
    )


def test_a_missing_window_leaves_no_reading_and_is_named() -> None:
    found = throughput((TOKENS, ABSENT))
    assert (found.value, found.windows, found.all_missing) == (
        None,
        {"w1": None, "w2": Fraction(210)},
        (f"/trials/t{TOKENS}",),
    )


def test_a_window_in_doubt_leaves_no_reading() -> None:
    found = throughput(("/windows/w1/load/output_tokens_per_s", {"value": 1, "scope": "deployment"}))
    assert (found.value, found.windows["w1"]) == (None, None)


@pytest.mark.parametrize("purpose", ["warmup", "instrumented", "soak", "injection"])
def test_only_counted_windows_count(purpose: str) -> None:
    assert throughput(("/windows/w1/purpose", purpose)).windows == {"w2": Fraction(210)}


def test_other_load_points_do_not_count() -> None:
    assert throughput(("/windows/w1/load_point", "open")).windows == {"w2": Fraction(210)}


def test_a_decreasing_change_swaps_the_sides() -> None:
    found = throughput().map(lambda rate: 1 / rate, worst_is="highest")
    assert (found.value, found.bound) == (Fraction(1, 200), "exact")


@pytest.mark.parametrize(
    ("statistic", "bound"), [pytest.param("p95", "exact", id="p95"), pytest.param("max", "lower", id="max")]
)
def test_a_statistic_says_how_it_stands_to_the_true_one(statistic: str, bound: str) -> None:
    assert a_view().statistic("ttft_ms", statistic, "saturated").bound == bound


WINDOW = WindowView(id="w", at="", record=msgspec.convert(a_window(0, {}, peaks_gib=[], sent_bytes=1), Window))
"""A window of 100 seconds."""

PEAKS: dict[str, tuple[dict[str, Any], float | None, str]] = {
    "no interval, nothing said": ({}, None, "exact"),
    "no interval, said to be lower": ({"bound": "lower"}, 1, "lower"),
    "interval without a permitted one": ({"sample_interval_s": 1}, None, "lower"),
    "interval as permitted": ({"sample_interval_s": 1}, 1, "exact"),
    "interval longer than permitted": ({"sample_interval_s": 1.5}, 1, "lower"),
    "said to be exact, sampled too rarely": ({"sample_interval_s": 2, "bound": "exact"}, 1, "lower"),
    "upper bound, sampled as permitted": ({"sample_interval_s": 1, "bound": "upper"}, 1, "upper"),
    "upper bound, sampled too rarely": ({"sample_interval_s": 2, "bound": "upper"}, 1, "none"),
    "samples cover the window": ({"sample_interval_s": 1, "samples": 99}, 1, "exact"),
    "samples miss an interval": ({"sample_interval_s": 1, "samples": 98}, 1, "lower"),
}


@pytest.mark.parametrize(("recorded", "most", "bound"), PEAKS.values(), ids=PEAKS.keys())
def test_a_sampled_peak_is_exact_only_as_the_limit_permits(
    recorded: dict[str, Any], most: float | None, bound: str
) -> None:
    metric = msgspec.convert({"values": [1], **recorded}, PerRank)
    assert peak_bound(WINDOW, metric, UNSET if most is None else most) == bound
