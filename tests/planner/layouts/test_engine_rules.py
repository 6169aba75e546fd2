"""Every layout against the engine's rule, written once more the long way: a loop over ranks and their coordinates."""

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner.layouts.asks import answer
from tests.planner.layouts.samples import sets

Axes = Mapping[str, int]
Named = dict[str, set[tuple[int, ...]]]

small = st.sampled_from([1, 1, 2, 2, 3, 4])


def along(axes: Axes, names: tuple[str, ...]) -> set[tuple[int, ...]]:
    """Group the ranks of a grid, last axis fastest, that differ only along ``names``; the last name runs fastest."""
    found: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
    order = list(axes)
    for rank, at in enumerate(product(*(range(size) for size in axes.values()))):
        outside = tuple(at[order.index(name)] for name in order if name not in names)
        found.setdefault(outside, []).append((tuple(at[order.index(name)] for name in names), rank))
    return {tuple(rank for _, rank in sorted(members)) for members in found.values()}


def groups_of(engine: str, degrees: dict[str, Any], **beside: Any) -> tuple[int, Named] | None:
    """Return world size and groups, or None where the answer is a refusal."""
    found = answer({"engine": engine, "degrees": degrees, **beside})
    return (found["world_size"], sets(found["groups"])) if found["valid"] else None


@given(tp=small, pp=small, dp=small, pcp=small, external=small)
def test_vllm_mixture(tp: int, pp: int, dp: int, pcp: int, external: int) -> None:
    axes = {"external": external, "dp": dp, "pp": pp, "pcp": pcp, "tp": tp}

    assert groups_of("vllm", {"tp": tp, "pp": pp, "dp": dp, "pcp": pcp, "dcp": tp * pcp, "external_dp": external}) == (
        prod(axes.values()),
        {
            **{kind: along(axes, (kind,)) for kind in ("tp", "pcp", "pp", "dp")},
            "dcp": along(axes, ("tp", "pcp")),
            "ep": along(axes, ("dp", "pcp", "tp")),
        },
    )


@given(attn_dp=small, attn_cp=small, attn_tp=small, pp=small, moe_ep=small)
def test_sglang(attn_dp: int, attn_cp: int, attn_tp: int, pp: int, moe_ep: int) -> None:
    tp = attn_dp * attn_cp * attn_tp
    degrees = {"tp": tp, "pp": pp, "attn_dp": attn_dp, "attn_cp": attn_cp, "moe_ep": moe_ep}
    if tp % moe_ep:
        assert groups_of("sglang", degrees) is None
        return
    stage = {"pp": pp, "tp": tp}
    attention = {"pp": pp, "attn_dp": attn_dp, "attn_cp": attn_cp, "attn_tp": attn_tp}
    experts = {"pp": pp, "moe_ep": moe_ep, "moe_tp": tp // moe_ep}

    assert groups_of("sglang", degrees) == (
        tp * pp,
        {
            **{kind: along(stage, (kind,)) for kind in ("tp", "pp")},
            **{kind: along(attention, (kind,)) for kind in ("attn_tp", "attn_cp")},
            **{kind: along(experts, (kind,)) for kind in ("moe_ep", "moe_tp")},
            "moe_dp": along(attention, ("attn_cp",)),
        },
    )


@given(tp=small, cp=small, pp=small, etp=small, ep=small, blocks=small, order=st.permutations(["tp", "cp", "ep", "dp"]))
def test_megatron_with_pipelines_last(
    tp: int, cp: int, pp: int, etp: int, ep: int, blocks: int, order: list[str]
) -> None:
    stage = tp * cp * etp * ep * blocks
    sizes = {"tp": tp, "cp": cp, "dp": stage // (tp * cp), "ep": 1}
    expert_sizes = {"tp": etp, "cp": 1, "dp": stage // (etp * ep), "ep": ep}
    slowest_first = list(reversed(order))
    dense = {"pp": pp, **{name: sizes[name] for name in slowest_first}}
    expert = {"pp": pp, **{name: expert_sizes[name] for name in slowest_first}}

    found = groups_of(
        "megatron",
        {"tp": tp, "cp": cp, "pp": pp, "etp": etp, "ep": ep, "order": "-".join([*order, "pp"])},
        world_size=stage * pp,
    )

    assert found is not None
    assert found[0] == stage * pp
    assert {kind: found[1][kind] for kind in ("tp", "cp", "dp", "pp", "ep", "etp", "edp")} == {
        **{kind: along(dense, (kind,)) for kind in ("tp", "cp", "dp", "pp")},
        "ep": along(expert, ("ep",)),
        "etp": along(expert, ("tp",)),
        "edp": along(expert, ("dp",)),
    }


@given(pp=small, cp=small, moe_tp=small, moe_ep=small, helix=st.booleans())
def test_trtllm(pp: int, cp: int, moe_tp: int, moe_ep: int, helix: bool) -> None:
    block = moe_tp * moe_ep
    if helix and block % cp:
        return
    tp = block // cp if helix else block
    degrees = {"tp_size": tp, "pp_size": pp, "cp_size": cp, "moe_tp_size": moe_tp, "moe_ep_size": moe_ep}
    if moe_ep > 1 and cp > 1 and not helix:
        assert groups_of("trtllm", degrees) is None
        return
    mpi, experts = {"pp": pp, "cp": cp, "tp": tp}, {"pp": pp, "moe_tp": moe_tp, "moe_ep": moe_ep}

    assert groups_of("trtllm", {**degrees, "cp_type": "HELIX" if helix else "ULYSSES"}) == (
        tp * pp * cp,
        {
            **{kind: along(mpi, (kind,)) for kind in ("tp", "pp", "cp")},
            **{kind: along(experts, (kind,)) for kind in ("moe_tp", "moe_ep")},
            "moe_cluster": along(experts, ("moe_ep",)),
        },
    )


@given(pp=small, cp=small, tp=small)
def test_trtllm_under_ray(pp: int, cp: int, tp: int) -> None:
    mesh = {"cp": cp, "pp": pp, "tp": tp}

    found = groups_of("trtllm", {"tp_size": tp, "pp_size": pp, "cp_size": cp}, orchestrator="ray")

    assert found == (tp * pp * cp, {kind: along(mesh, (kind,)) for kind in mesh})


@given(
    st.sampled_from(["vllm", "sglang", "megatron", "trtllm", "closed"]),
    small,
    small,
    st.sampled_from([1, 2, 3, 4]),
    st.sampled_from([2, 4, 8]),
)
def test_two_ranks_have_one_seat_only_where_that_is_pointed_out(
    engine: str, tp: int, pp: int, nodes: int, devices: int
) -> None:
    spelled = {"tp_size": tp, "pp_size": pp} if engine == "trtllm" else {"tp": tp, "pp": pp}
    found = answer({"engine": engine, "degrees": spelled, "nnodes": nodes, "gpus_per_node": devices})
    if not found["valid"]:
        assert found["constraint"] in {"nnodes", "devices", "launch"}
        return
    placed = [(seat["node"], seat["device"]) for seat in found["placement"]]
    fits = all(node < nodes and device < devices for node, device in placed)

    assert len(set(placed)) == len(placed) == tp * pp
    assert fits or found["dangers"]
