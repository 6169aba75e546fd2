"""What one failure would leave of the four-device trial, at once and after recovery."""

from fractions import Fraction
from typing import Any

from planner.failure import Range
from planner.failure_report import CapacityLeft, DomainLoss, Horizon, domain_loss, failure_kinds, worst_of
from tests.planner.factories import NO_CHANGE, Changes, a_view

PAIR = {"tp": 2, "pp": 1, "ep": 1, "dp": 1, "world_size": 2}
TWO_ENGINES: tuple[Any, ...] = (("/topology/instances", [PAIR, PAIR]),)
NODE_LOSS = {
    "kind": "node_loss",
    "load_point": "saturated",
    "output_tokens_per_s": 90,
    "recovered_s": 120,
    "recovered_output_tokens_per_s": 150,
}
HIT: tuple[Any, ...] = (*TWO_ENGINES, ("/failures", {"loss": NODE_LOSS}))


def exactly(rate: int) -> Range:
    return Range(low=Fraction(rate), high=Fraction(rate))


def left(found: DomainLoss | None, horizon: Horizon = "immediate") -> CapacityLeft:
    assert found is not None
    what = found.at_full_load(horizon)
    assert what is not None
    return what


def test_a_topology_in_one_piece_leaves_nothing() -> None:
    found = domain_loss(a_view(), "node", "node-a")

    assert found is not None
    assert (found.loss.groups, found.loss.ranks, found.gone) == ((0,), 4, (0, 1))
    assert left(found).rate == exactly(0)


def test_of_two_engines_one_stays_with_its_share_of_the_rate() -> None:
    what = left(domain_loss(a_view(None, Changes(trial=TWO_ENGINES)), "node", "node-a"))

    assert what.whole is not None
    half = what.whole / 2
    assert what.rate == Range(low=half, high=half)
    assert what.share_of_required == Range(low=half / 100, high=half / 100)


def test_what_has_no_device_left_does_not_come_back() -> None:
    what = left(domain_loss(a_view(None, Changes(trial=TWO_ENGINES)), "device", "a0"), "after_recovery")

    assert what.notes[0] == "No lost group can be restarted: 1 device left for 2 ranks."


def test_an_injection_measures_both_horizons() -> None:
    found = domain_loss(a_view(None, Changes(trial=HIT)), "node", "node-b")

    assert found is not None
    assert {row.horizon: (row.rate, row.injection) for row in found.left} == {
        "immediate": (exactly(90), "loss"),
        "after_recovery": (exactly(150), "loss"),
    }


def test_a_recovery_beyond_the_longest_that_is_allowed_does_not_count() -> None:
    limit = {
        "domain": "node",
        "horizon": "after_recovery",
        "max_recovery_s": 60,
        "min_capacity_left_of_required": 0.5,
        "because": "A reason.",
    }
    view = a_view({"failure_domain": {"node": limit}}, Changes(trial=HIT))

    assert left(domain_loss(view, "node", "node-b"), "after_recovery").rate == exactly(90)


def test_the_worst_of_a_kind_leaves_least() -> None:
    view = a_view(None, Changes(trial=TWO_ENGINES))
    rack, node = worst_of(view, "rack"), worst_of(view, "node")

    assert rack is not None
    assert node is not None
    assert (rack.loss.domain, rack.loss.ranks) == ("rack-1", 4)
    assert (node.loss.domain, node.loss.ranks) == ("node-a", 2)


def test_what_the_contract_does_not_have_cannot_be_lost() -> None:
    view = a_view(None, NO_CHANGE)

    assert domain_loss(view, "node", "node-z") is None
    assert worst_of(view, "power_feed") is None
    assert failure_kinds(view) == ("device", "island", "node", "rack")


def test_the_load_point_that_served_most_speaks_for_the_capacity() -> None:
    quiet = {
        "purpose": "counted",
        "load_point": "open",
        "start": "2026-10-01T13:00:00Z",
        "end": "2026-10-01T13:01:40Z",
        "load": {"duration_s": 100, "requests": {"completed": 1}, "output_tokens_total": 100},
    }
    found = domain_loss(a_view(None, Changes(trial=(*TWO_ENGINES, ("/windows/quiet", quiet)))), "node", "node-a")

    assert found is not None
    assert left(found).load_point == "saturated"
    assert {row.load_point for row in found.left} == {"open", "saturated"}
