"""Several collectors of one thing: none hides what another one saw, and all together are judged as well."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from planner.observations import Compared, Entry, compared, rolled_up
from planner.observations.rollup import MOST_SOURCES, Key, Rolled, bounded, crowded
from tests.planner.observations.batches import SUBJECT, a_batch, level, times

P95 = Entry(metric="ttft_ms", statistic="p95", limit=Fraction(500), limit_at="/gates/ttft/x/max_ms")
SHARE = Entry(metric="requests_failed", statistic="share", limit=Fraction(1, 20), limit_at="/gates/errors/x")
CALM, SLOW = times([100, 600], [100_000, 0, 0], 90), times([100, 600, 900], [0, 0, 1000, 0], 900)


def judged(entry: Entry, **said: dict[str, Any]) -> list[Compared]:
    """Hold what collectors say of one group against a bound."""
    batches = [a_batch({"group": 0, "metrics": metrics}, source=name) for name, metrics in said.items()]
    return list(compared([entry], rolled_up(batches), Fraction(600)))


def test_many_calm_values_of_one_hide_no_breach_of_another() -> None:
    (found,) = judged(P95, calm={"ttft_ms": CALM}, slow={"ttft_ms": SLOW})
    assert (found.state, found.source, found.key) == ("BREACH", "slow", Key(SUBJECT, "ttft_ms", group=0))


def test_a_mean_of_one_is_no_mean_of_all() -> None:
    entry = Entry(metric="ttft_ms", statistic="mean", qualified=Fraction(100))
    (found,) = judged(entry, calm={"ttft_ms": CALM}, slow={"ttft_ms": SLOW})
    assert (found.drifted, found.source, found.low) == (True, "slow", Fraction(900))


def test_what_two_have_too_few_values_for_they_say_together() -> None:
    few = times([100, 600, 900], [0, 0, 150, 0], 900)
    (found,) = judged(P95, one={"ttft_ms": few}, other={"ttft_ms": few})
    assert (found.state, found.source) == ("BREACH", "")


def test_a_share_whose_parts_come_from_two_is_that_of_both() -> None:
    failed = {"requests_failed": {"count": 1, "sum": 10}}
    (found,) = judged(SHARE, gateway=failed, engine={"requests_completed": {"count": 1, "sum": 90}})
    assert (found.state, found.low, found.source) == ("BREACH", Fraction(1, 10), "")


def test_completed_requests_of_another_thin_no_share() -> None:
    bad = {"requests_failed": {"count": 1, "sum": 10}, "requests_completed": {"count": 1, "sum": 90}}
    (found,) = judged(SHARE, bad=bad, good={"requests_completed": {"count": 1, "sum": 9900}})
    assert (found.state, found.low, found.source) == ("BREACH", Fraction(1, 10), "bad")


def test_one_with_too_few_values_makes_nothing_unknown() -> None:
    (found,) = judged(P95, calm={"ttft_ms": CALM}, other={"ttft_ms": times([100, 600], [3, 0, 0], 90)})
    assert (found.state, found.source) == ("WITHIN", "calm")


def test_the_most_is_that_of_whoever_saw_it_and_of_nobody_where_several_did() -> None:
    entry = Entry(metric="kv_used_share", statistic="max", limit=Fraction(9, 10))
    low, high = ({"kv_used_share": level(value)} for value in (0.5, 0.95))
    sources = [judged(entry, a=high, b=low)[0].source, judged(entry, a=high, b=high)[0].source]
    assert sources == ["a", ""]


def test_rates_of_all_are_one_rate() -> None:
    entry = Entry(metric="output_tokens", statistic="rate", qualified=Fraction(10))
    counted = {"output_tokens": {"count": 1, "sum": 3000}}
    (found,) = judged(entry, one=counted, other=counted)
    assert (found.low, found.source) == (Fraction(10), "")


def told_by(sources: int) -> dict[Key, Rolled]:
    """Return what so many collectors say of one rank, each more than the one before."""
    segments = ({"rank": 0, "metrics": {"step_ms": level(at + 1)}} for at in range(sources))
    return rolled_up([a_batch(segment, source=f"s{at:02}") for at, segment in enumerate(segments)])


@pytest.mark.parametrize(("sources", "is_crowded"), [(MOST_SOURCES, False), (MOST_SOURCES + 1, True)])
def test_so_many_collectors_of_one_thing_stay_apart(sources: int, is_crowded: bool) -> None:
    found = told_by(sources)
    kept = bounded(found)
    assert ((crowded(found) is not None), (kept != found)) == (is_crowded, is_crowded)
    assert len(kept) == MOST_SOURCES
    assert sum(one.count for one in kept.values()) == 10 * sources


def test_of_too_many_the_calmest_are_put_together() -> None:
    kept = bounded(told_by(MOST_SOURCES + 2))
    assert kept[Key(SUBJECT, "step_ms", rank=0)] == Rolled(30, 60.0, 1.0, 3.0)
    assert bounded(kept) == kept


def test_many_collectors_of_one_reporter_put_nobody_else_together() -> None:
    """Whoever speaks of a thing under very many names, each a little worse, hides no one among the calm."""
    segments = ({"rank": 0, "metrics": {"step_ms": level(at + 2)}} for at in range(MOST_SOURCES + 2))
    many = rolled_up([a_batch(segment, source=f"7/s{at:02}") for at, segment in enumerate(segments)])
    slow = rolled_up([a_batch({"rank": 0, "metrics": {"step_ms": level(1)}}, source="8/engine")])
    kept = bounded(many | slow)
    assert {key: one for key, one in kept.items() if key.reporter == "8/"} == slow
    assert (len(kept), Key(SUBJECT, "step_ms", rank=0, source="7/") in kept) == (MOST_SOURCES + 1, True)
    assert bounded(kept) == kept


IDLE, BUSY = (
    Entry(metric="ttft_ms", statistic="p95", limit=Fraction(limit), limit_at=f"/gates/ttft/{load}/max_ms", load=load)
    for load, limit in ((4, 250), (64, 900))
)
TOLD = "Collectors contradict each other on what ran; the stricter load point counts."


def held_at(*running: dict[str, Any], entries: Sequence[Entry] = (IDLE, BUSY)) -> list[tuple[str, int | None, str]]:
    """Hold values of about 500 ms against both load points, where collectors say so of what ran."""
    slow = times([100, 400, 600], [0, 0, 1000, 0], 599)
    says = [{"running_requests": ran, "ttft_ms": slow} for ran in running]
    batches = [a_batch({"group": 0, "metrics": metrics}, source=f"c{at}") for at, metrics in enumerate(says)]
    found = compared(entries, rolled_up(batches), Fraction(600))
    return [(one.state, one.entry.load, one.because) for one in found]


@pytest.mark.parametrize("most", [40, 4000])
def test_nobody_moves_the_values_of_another_to_a_looser_load_point(most: int) -> None:
    assert held_at(level(3)) == [("BREACH", 4, "")]
    assert held_at(level(3), level(most)) == [("BREACH", 4, TOLD)]
    assert held_at(level(most), level(most)) == [("WITHIN", 64, "")]


def test_who_does_not_say_the_most_that_ran_loosens_nothing() -> None:
    assert held_at(level(3), {"count": 2, "sum": 80.0}) == [("BREACH", 4, TOLD)]
    assert held_at({"count": 2, "sum": 6.0}) == [("WITHIN", 64, "")]


def test_collectors_that_mean_the_same_load_point_contradict_nothing() -> None:
    assert held_at(level(3), level(4)) == [("BREACH", 4, "")]


def test_several_limits_of_one_load_point_contradict_nothing() -> None:
    looser = replace(IDLE, limit=Fraction(800), limit_at="/gates/ttft/looser/max_ms")
    entries = (IDLE, looser, BUSY)
    assert held_at(level(3), entries=entries) == [("BREACH", 4, ""), ("WITHIN", 4, "")]
    assert held_at(level(3), level(40), entries=entries) == [("BREACH", 4, TOLD)]


def test_what_is_unknown_at_both_load_points_says_why_too() -> None:
    few = (replace(IDLE, statistic="p99_9"), replace(BUSY, statistic="p99_9"))
    ((state, _, because),) = held_at(level(3), level(40), entries=few)
    assert (state, because) == ("UNKNOWN", f"n = 2000, p99_9 needs 10,000. {TOLD}")


def test_groups_of_several_collectors_run_together() -> None:
    slow = times([100, 400, 600], [0, 0, 1000, 0], 599)
    parts = [{"running_requests": level(3), "ttft_ms": slow} for _ in range(2)]
    batches = [a_batch({"group": at, "metrics": part}, source=f"c{at}") for at, part in enumerate(parts)]
    found = compared([IDLE, BUSY], rolled_up(batches), Fraction(600))
    assert [(one.key.group, one.state, one.entry.load) for one in found] == [(0, "WITHIN", 64), (1, "WITHIN", 64)]
