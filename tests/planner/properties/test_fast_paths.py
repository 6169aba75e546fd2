"""Every quick way of computing gives what the plain way gives, written out here as simply as it can be."""

from fractions import Fraction
from itertools import product
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.canonical import content_id
from planner.consistency.base import Exact, at_most, equal
from planner.evaluate import judge
from planner.failure import Loss, capacity_left
from planner.figures import beside, number
from planner.frontier import frontier
from planner.gates.failure_capacity import Capacity, heaviest
from planner.gates.memory import _deciding
from planner.gates.memory_parts import added, all_explained
from planner.intake.evidence import evidence_content_id, trial_bodies
from planner.numbers import all_parts, exact, fraction_of, gap, parts, plain, plain_ratio, rounded, times
from planner.order import order_expand
from planner.ranking import sort_keys
from planner.records.evidence import PerRank
from planner.records.plan import FrontierPoint, OrderKey, Value
from planner.selection import _comparable
from planner.view import TrialView, views
from tests.planner.documents import changed
from tests.planner.factories import AS_OF
from tests.planner.fleet import a_contract, a_trial, documents

FRACTIONS = st.fractions(max_denominator=10**6)
SHARES = st.fractions(0, 1, max_denominator=1000)
PARTS = st.one_of(st.none(), st.integers(0, 60), st.floats(0, 60).map(lambda value: round(value, 3)))


@given(FRACTIONS, st.integers(0, 6), st.sampled_from([1, 2, 2**30]))
def test_rounding_is_half_to_even_from_the_exact_value(value: Fraction, places: int, per: int) -> None:
    scaled = round(value / per * 10**places)
    assert Fraction(rounded(value, places, per=per)) == Fraction(scaled, 10**places)


@given(st.one_of(FRACTIONS, st.floats(0, 1e300).map(lambda value: exact(value)), st.integers().map(Fraction)))
def test_a_plan_writes_a_decimal_only_where_it_is_exact(value: Fraction) -> None:
    written = plain(value)
    assert exact(written) == value
    if isinstance(written, float):
        assert Fraction(repr(written)) == value


@given(st.one_of(st.floats(0, allow_infinity=False), st.integers(0, 10**16).map(lambda value: value / 1000)))
def test_a_double_is_its_shortest_decimal(value: float) -> None:
    assert Fraction(*parts(value)) == Fraction(repr(value))


@given(st.lists(st.one_of(PARTS.filter(lambda value: value is not None), st.floats(0, 1e300)), min_size=1, max_size=6))
def test_many_numbers_have_the_parts_of_each(values: list[Any]) -> None:
    numerators, denominators = all_parts(values)
    assert list(map(Fraction, numerators, denominators)) == [exact(value) for value in values]


@given(FRACTIONS, st.integers(1, 10**6))
def test_a_ratio_is_written_as_its_fraction_is(value: Fraction, times: int) -> None:
    assert plain_ratio(value.numerator * times, value.denominator * times) == plain(value)


EXACT = st.one_of(FRACTIONS, st.integers(0, 2**53))


@given(EXACT, EXACT, SHARES)
def test_tolerances_are_relative_and_inclusive(left: Exact, right: Exact, tolerance: Fraction) -> None:
    one, other = Fraction(left), Fraction(right)
    assert equal(left, right, tolerance) == (abs(one - other) <= tolerance * max(abs(one), abs(other)))
    assert at_most(left, right, tolerance) == (one <= other * (1 + tolerance))


@given(st.lists(st.one_of(FRACTIONS, st.integers(-(10**400), 10**400).map(Fraction)), max_size=12))
def test_keys_sort_as_their_exact_values(values: list[Fraction]) -> None:
    key = OrderKey(key="output_tokens_per_s", direction="desc")
    written: list[Value] = [plain(value) for value in values]
    assert [exact(value) for value in sorted(written, key=lambda value: _comparable(key, value))] == sorted(values)  # type: ignore[arg-type]


@given(
    st.lists(
        st.one_of(
            st.integers(0, 3),
            st.sampled_from([0.5, 1.5]),
            FRACTIONS.map(plain),
            st.tuples(st.integers(-6, 6), st.integers(1, 6)),
        ),
        max_size=12,
    ),
)
def test_keys_of_numbers_compare_as_their_exact_values(values: list[Any]) -> None:
    keys = sort_keys(values)
    for (key, value), (other, against) in product(zip(keys, map(exact, values), strict=True), repeat=2):
        assert (key < other, key == other) == (value < against, value == against)


def test_numbers_that_share_a_double_are_told_apart() -> None:
    third = [plain(Fraction(1, 3) + Fraction(step, 10**30)) for step in (2, 0, 1)]
    keys = sort_keys([*third, (1, 3), (2, 6), 1])
    assert sorted(range(6), key=keys.__getitem__) == [1, 3, 4, 2, 0, 5]
    assert keys[1] == keys[3] == keys[4]


@given(st.integers(1, 6).flatmap(lambda ranks: st.lists(st.tuples(*[PARTS] * 4), min_size=ranks, max_size=ranks)))
def test_memory_that_is_explained_at_a_glance_is_explained_rank_by_rank(rows: list[tuple[Any, ...]]) -> None:
    peaks, *components = [list(column) for column in zip(*rows, strict=True)]
    if all_explained(peaks, components):
        sums = [added(components, rank, partial=False) for rank in range(len(peaks))]
        assert all(added is not None and added >= peak for added, peak in zip(sums, peaks, strict=True))


@given(st.lists(PARTS, min_size=1, max_size=8), st.booleans())
def test_the_rank_that_decides_is_the_first_of_the_fullest(values: list[Any], alike: bool) -> None:
    ceilings = tuple(Fraction(100 if alike else 100 + rank % 2) for rank in range(len(values)))
    fullest = {
        max((rank for rank in ranks), key=lambda rank: (values[rank], -rank))
        for ceiling in set(ceilings)
        if (ranks := [r for r, own in enumerate(ceilings) if own == ceiling and values[r] is not None])
    }
    expected = sorted(fullest | {rank for rank, value in enumerate(values) if value is None})
    assert _deciding(PerRank(values=tuple(values)), ceilings, {}) == expected


@given(
    st.lists(st.integers(0, 5), min_size=4, max_size=4), st.lists(st.sets(st.integers(0, 3), min_size=1), min_size=1)
)
def test_the_heaviest_loss_is_the_first_that_leaves_least(parts: list[int], lost: list[set[int]]) -> None:
    found = [Loss(domain=f"n{at}", groups=tuple(sorted(groups)), ranks=0) for at, groups in enumerate(lost)]
    known = Capacity(parts=tuple(parts), part=Fraction(1, 3))
    first = min(found, key=lambda loss: capacity_left(parts, loss, known.part))
    assert min(heaviest(found, known), key=lambda loss: capacity_left(parts, loss, known.part)) == first


KEYS = st.text(max_size=3)
LEAVES = st.one_of(st.none(), st.integers(0, 9), KEYS)


@given(
    st.dictionaries(st.sampled_from(["schema", "scope", "\U0001f600", "\ufb33"]), LEAVES),
    st.dictionaries(KEYS, st.dictionaries(KEYS, LEAVES), max_size=4),
)
def test_evidence_digested_in_parts_has_the_content_id_of_the_whole(rest: Any, trials: Any) -> None:
    tree = {**rest, "trials": trials}
    assert evidence_content_id(tree, trial_bodies(tree)) == content_id(tree)


FIGURES = st.one_of(st.none(), st.integers(0, 4), st.sampled_from([0.5, 1.5]))


@given(st.lists(st.tuples(FIGURES.filter(lambda value: value is not None), FIGURES, FIGURES, FIGURES), max_size=12))
@settings(max_examples=200)
def test_the_frontier_is_what_no_other_trial_beats(rows: list[tuple[Any, ...]]) -> None:
    points = [
        FrontierPoint(
            trial=f"t-{index:02d}",
            state="ELIGIBLE",
            output_tokens_per_s_per_charged_device=rate,
            output_tokens_per_s_per_request=own,
            ttft_ms=ttft,
            usd_per_million_output_tokens=price,
            non_dominated=False,
        )
        for index, (rate, own, ttft, price) in enumerate(rows)
    ]
    best = {point.trial for point in points if not any(beats(other, point) for other in points)}
    assert {point.trial for point in frontier(points) if point.non_dominated} == best


def beats(one: FrontierPoint, other: FrontierPoint) -> bool:
    """Say whether a point is nowhere worse and somewhere better; what was not measured is worse than anything."""
    signs = {
        "output_tokens_per_s_per_charged_device": 1,
        "output_tokens_per_s_per_request": 1,
        "ttft_ms": -1,
        "usd_per_million_output_tokens": -1,
    }
    pairs = [
        tuple(
            Fraction(-(10**9)) if (found := number(getattr(point, name))) is None else sign * found
            for point in (one, other)
        )
        for name, sign in signs.items()
    ]
    return all(mine >= theirs for mine, theirs in pairs) and any(mine > theirs for mine, theirs in pairs)


def judged_alone(trials: dict[str, Any], trial: str) -> Any:
    contract, evidence = documents(a_contract(), {trial: trials[trial]})
    view: TrialView = views(contract, evidence, AS_OF)[trial]
    return judge(view, order_expand(contract.record).keys)


def test_a_trial_placed_like_another_is_judged_as_it_is_alone() -> None:
    one = a_trial(6400, tp=8)
    misplaced = changed(one, ("/rank_map/1/device", one["rank_map"][0]["device"]))
    trials = {"a": one, "b": a_trial(100, tp=8), "c": misplaced, "d": changed(misplaced, ("/source", "Again."))}
    contract, evidence = documents(a_contract(), trials)
    order = order_expand(contract.record).keys
    together = {name: judge(view, order) for name, view in views(contract, evidence, AS_OF).items()}
    assert together == {name: judged_alone(trials, name) for name in trials}
    assert together["d"].gates["placement"].limits["always"].measured_at[0].startswith("/trials/d/")


def test_what_a_view_forgot_it_computes_again() -> None:
    contract, evidence = documents(a_contract(), {"a": a_trial(6400, tp=8)})
    view = views(contract, evidence, AS_OF)["a"]
    order = order_expand(contract.record).keys
    before = judge(view, order)
    view.forget()
    assert "checks" not in vars(view)
    assert msgspec.json.encode(judge(view, order)) == msgspec.json.encode(before)


@given(FRACTIONS, FRACTIONS)
def test_fractions_are_calculated_as_their_operators_do(first: Fraction, second: Fraction) -> None:
    assert gap(first, second) == first - second
    assert second == 0 or fraction_of(first, second) == first / second
    assert second == 0 or fraction_of(first, second.numerator) == first / second.numerator


@given(st.integers(-9, 9), FRACTIONS)
def test_so_many_parts_are_the_product(count: int, part: Fraction) -> None:
    assert times(count, part) == count * part


@given(FRACTIONS, st.integers(0, 12), st.booleans(), st.booleans())
def test_the_decimal_beside_a_number_is_the_nearest_on_its_side(
    value: Fraction, places: int, up: bool, strict: bool
) -> None:
    found, step = beside(value, places, up=up, strict=strict), Fraction(1, 10**places)
    away = found - value if up else value - found
    assert found % step == 0
    assert (0 < away <= step) if strict else (0 <= away < step)
