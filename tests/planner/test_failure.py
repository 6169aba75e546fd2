"""Golden cases of failure-domain arithmetic: layout, loss, groups lost, what is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pytest

from planner.failure import Loss, capacity_left, losses, pools_left, pools_left_bounds


def blocks(count: int, size: int) -> list[list[int]]:
    """Return consecutive groups of ranks."""
    return [list(range(start, start + size)) for start in range(0, count * size, size)]


def nodes(ranks: int, per_node: int) -> dict[str, frozenset[str]]:
    """Return nodes n00, n01, ... that each hold consecutive devices, one for each rank."""
    return {
        f"n{node:02}": frozenset(f"d{rank}" for rank in range(node * per_node, (node + 1) * per_node))
        for node in range(ranks // per_node)
    }


def devices(ranks: int) -> list[str]:
    return [f"d{rank}" for rank in range(ranks)]


@dataclass(frozen=True, kw_only=True)
class Golden:
    groups: Sequence[Sequence[int]]
    per_domain: int
    total: int
    required: int
    lost: int
    left: int
    fraction: Fraction


MEGATRON = [[*range(4), *range(8, 12)], [*range(4, 8), *range(12, 16)]]
GOLDEN = {
    "FD-1 dense tp8 dp4, a node": Golden(
        groups=blocks(4, 8), per_domain=8, total=24_000, required=20_000, lost=1, left=18_000, fraction=Fraction(9, 10)
    ),
    "FD-1 dense tp8 dp4, a device": Golden(
        groups=blocks(4, 8), per_domain=1, total=24_000, required=20_000, lost=1, left=18_000, fraction=Fraction(9, 10)
    ),
    "FD-2a groups on one node each, a node": Golden(
        groups=blocks(2, 4), per_domain=4, total=6_000, required=4_000, lost=1, left=3_000, fraction=Fraction(3, 4)
    ),
    "FD-2b each group on both nodes, a node": Golden(
        groups=[[0, 1, 4, 5], [2, 3, 6, 7]],
        per_domain=4,
        total=6_000,
        required=4_000,
        lost=2,
        left=0,
        fraction=Fraction(0),
    ),
    "FD-2b each group on both nodes, a device": Golden(
        groups=[[0, 1, 4, 5], [2, 3, 6, 7]],
        per_domain=1,
        total=6_000,
        required=4_000,
        lost=1,
        left=3_000,
        fraction=Fraction(3, 4),
    ),
    "FD-3a tp4 pp2 dp2 in the vLLM map, a node": Golden(
        groups=blocks(2, 8), per_domain=8, total=16_000, required=10_000, lost=1, left=8_000, fraction=Fraction(4, 5)
    ),
    "FD-3b the same degrees in the Megatron map, a node": Golden(
        groups=MEGATRON, per_domain=8, total=16_000, required=10_000, lost=2, left=0, fraction=Fraction(0)
    ),
    "FD-3b the same degrees in the Megatron map, a device": Golden(
        groups=MEGATRON, per_domain=1, total=16_000, required=10_000, lost=1, left=8_000, fraction=Fraction(4, 5)
    ),
    "FD-4 dp32 ep32 with attention data parallelism, a device": Golden(
        groups=blocks(1, 32), per_domain=1, total=30_000, required=20_000, lost=1, left=0, fraction=Fraction(0)
    ),
    "FD-5 tp8 pp2 dp2 over four nodes, a node": Golden(
        groups=blocks(2, 16),
        per_domain=8,
        total=22_000,
        required=20_000,
        lost=1,
        left=11_000,
        fraction=Fraction(11, 20),
    ),
    "FD-7a ep64 over sixteen trays, a tray": Golden(
        groups=blocks(1, 64), per_domain=4, total=64_000, required=50_000, lost=1, left=0, fraction=Fraction(0)
    ),
    "FD-7b two ep32 engines, a tray": Golden(
        groups=blocks(2, 32),
        per_domain=4,
        total=61_200,
        required=50_000,
        lost=1,
        left=30_600,
        fraction=Fraction(153, 250),
    ),
}


@pytest.mark.parametrize("case", GOLDEN.values(), ids=GOLDEN.keys())
def test_losing_a_domain_leaves_what_the_golden_case_says(case: Golden) -> None:
    ranks = sum(map(len, case.groups))
    parts = (1,) * len(case.groups)
    found = losses(case.groups, devices(ranks), nodes(ranks, case.per_domain))
    left = [capacity_left(parts, loss, Fraction(case.total, len(parts))) for loss in found]
    assert {len(loss.groups) for loss in found} == {case.lost}
    assert (min(left), min(left) / case.required) == (Fraction(case.left), case.fraction)


def test_other_ranks_of_a_lost_group_are_lost_with_it() -> None:
    (first, _) = losses([[0, 1, 2]], devices(3), {"n0": frozenset({"d0"}), "n1": frozenset({"d1", "d2"})})
    assert first == Loss(domain="n0", groups=(0,), ranks=3)


def test_ranks_that_are_not_placed_stand_in_no_domain() -> None:
    found = losses([[0, 1, 2, 3]], devices(2), nodes(4, 1))
    assert found == (Loss(domain="n00", groups=(0,), ranks=4), Loss(domain="n01", groups=(0,), ranks=4))


def test_domains_without_a_rank_take_nothing_down() -> None:
    assert losses([[0]], devices(1), {"n0": frozenset({"d0"}), "idle": frozenset({"d9"})}) == (
        Loss(domain="n0", groups=(0,), ranks=1),
    )


BOUNDS = {
    "n0": ((Fraction(1, 3), Fraction(1)), Fraction(11, 3)),
    "n1": ((Fraction(2, 3), Fraction(1)), Fraction(22, 3)),
    "n2": ((Fraction(1), Fraction(1, 2)), Fraction(11, 2)),
}


@pytest.mark.parametrize(("shares", "low"), BOUNDS.values(), ids=BOUNDS.keys())
def test_fd_6_without_pool_rates_the_service_is_bounded(shares: tuple[Fraction, ...], low: Fraction) -> None:
    bounds = pools_left_bounds(Fraction(11), shares)
    assert (bounds.low, bounds.high) == (low, Fraction(11))


FD_6 = {
    "n0": ((Fraction(1, 3), Fraction(1)), Fraction(4)),
    "n1": ((Fraction(2, 3), Fraction(1)), Fraction(8)),
    "n2": ((Fraction(1), Fraction(1, 2)), Fraction(11, 2)),
}


@pytest.mark.parametrize(("shares", "left"), FD_6.values(), ids=FD_6.keys())
def test_fd_6_with_pool_rates_the_slower_pool_is_what_is_left(shares: tuple[Fraction, ...], left: Fraction) -> None:
    assert pools_left((Fraction(12), Fraction(11)), shares) == left


def test_an_empty_pool_leaves_nothing() -> None:
    bounds = pools_left_bounds(Fraction(11), (Fraction(0), Fraction(1)))
    assert (bounds.low, bounds.high) == (Fraction(0), Fraction(0))
