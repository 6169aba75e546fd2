"""Prefill and decode pools of the four-device trial: ranks, paths, and the need against the measured route."""

from fractions import Fraction
from typing import Any

from planner.pools import HandoffPath, HandoffUse, pools
from planner.view import TrialView
from tests.planner.factories import NO_CHANGE, Changes, a_view

SINGLE = {"tp": 1, "pp": 1, "ep": 1, "dp": 1, "world_size": 1}
PAIR = {**SINGLE, "tp": 2, "world_size": 2}
AT = "/trials/t/windows/w1"
HANDOFF = {"bytes_total": 8 * 10**9, "tokens_sent_total": 10**6, "peak_requests_per_s": 5, "route_bytes_per_s": 10**9}


def a_pooled(*instances: dict[str, Any], limit: dict[str, Any] | None = None, **handoff: Any) -> TrialView:
    trial: list[Any] = [("/topology/instances", list(instances))]
    if handoff:
        trial.append(("/windows/w1/handoff", handoff))
    gates = None if limit is None else {"kv_handoff": {"route": {"because": "A reason.", **limit}}}
    return a_view(gates, Changes(trial=tuple(trial)))


def two_pools(**handoff: Any) -> TrialView:
    return a_pooled({"role": "prefill", **PAIR}, {"role": "decode", **PAIR}, **handoff)


def test_a_deployment_without_pools_has_none() -> None:
    assert pools(a_view(None, NO_CHANGE)) is None


def test_a_single_pool_hands_nothing_over() -> None:
    assert pools(a_pooled({"role": "prefill", **PAIR}, {"role": "prefill", **PAIR})) is None


def test_each_pool_has_its_own_map() -> None:
    found = pools(two_pools())

    assert found is not None
    assert (found.prefill.groups, found.prefill.ranks, found.prefill.nodes) == ((0,), (0, 1), ("node-a",))
    assert (found.decode.groups, found.decode.ranks, found.decode.nodes) == ((1,), (2, 3), ("node-b",))
    assert [place.device for place in found.decode.places] == ["b0", "b1"]


def test_a_path_over_nodes_is_as_wide_as_its_narrower_side() -> None:
    """Two ranks of a node share one NIC of 10 GB/s, so it counts once on each side."""
    found = pools(two_pools())

    assert found is not None
    assert found.paths == (
        HandoffPath(
            sender=0,
            receiver=1,
            widest="node",
            undeclared=(),
            link="a-up",
            link_class="inter_node",
            bytes_per_s_one_way=10**10,
            declared_bytes_per_s=10**10,
            contending=0,
        ),
    )


def test_every_prefill_group_has_a_path_to_every_decode_group_and_they_contend() -> None:
    found = pools(
        a_pooled(
            {"role": "prefill", **SINGLE},
            {"role": "prefill", **SINGLE},
            {"role": "decode", **SINGLE},
            {"role": "decode", **SINGLE},
        )
    )

    assert found is not None
    assert [(path.sender, path.receiver) for path in found.paths] == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert [path.contending for path in found.paths] == [3, 3, 3, 3]


def test_a_path_inside_an_island_has_its_peer_links() -> None:
    changes = Changes(
        contract=(("/identity/hardware/islands/island-a/bytes_per_s_one_way", 4 * 10**11),),
        trial=(
            (
                "/topology/instances",
                [{"role": "prefill", **SINGLE}, {"role": "decode", **SINGLE}, {"role": "decode", **PAIR}],
            ),
        ),
    )
    found = pools(a_view(None, changes))

    assert found is not None
    assert [(path.widest, path.link_class, path.declared_bytes_per_s) for path in found.paths] == [
        ("device", "island", 4 * 10**11),
        ("node", "inter_node", 10**10),
    ]


def test_the_need_is_held_against_the_measured_route_after_the_reserve() -> None:
    """8 GB over 200 completed requests at 5 requests/s need 200 MB/s; 10 % of 1 GB/s is reserved."""
    found = pools(two_pools(**HANDOFF))

    assert found is not None
    assert found.uses[0] == HandoffUse(
        window="w1",
        load_point="saturated",
        needed=Fraction(2 * 10**8),
        route=Fraction(10**9),
        usable=Fraction(9 * 10**8),
        share=Fraction(2, 9),
        missing=(),
        unfit=(),
    )


def test_the_contracts_bytes_per_token_are_counted_with() -> None:
    """10^6 tokens over 200 requests are 5,000 a request; 100,000 B each, 2 copies, 5 requests/s: 5 GB/s."""
    limit = {"load_point": "saturated", "max_route_utilization": 1, "kv_bytes_per_token": 100_000}
    view = a_pooled({"role": "prefill", **PAIR}, {"role": "decode", **PAIR}, limit=limit, **{**HANDOFF, "copies": 2})
    found = pools(view)

    assert found is not None
    assert found.uses[0].needed == 5 * 10**9


def test_a_route_that_carries_nothing_gives_no_share() -> None:
    found = pools(two_pools(**{**HANDOFF, "route_bytes_per_s": 0}))

    assert found is not None
    use = found.uses[0]
    assert (use.share, use.missing, use.unfit) == (
        None,
        (),
        ("route_bytes_per_s is 0: no utilisation follows from it.",),
    )


def test_what_is_not_recorded_is_named() -> None:
    found = pools(two_pools(peak_requests_per_s=5))

    assert found is not None
    assert (found.uses[0].needed, found.uses[0].share) == (None, None)
    assert found.uses[0].missing == (f"{AT}/handoff/bytes_total", f"{AT}/handoff/route_bytes_per_s")
