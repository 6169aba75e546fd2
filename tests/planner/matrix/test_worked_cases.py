"""Candidate sets of real contracts, worked out by hand from the engines' rules, apart from the code that is tested."""

from collections.abc import Sequence
from itertools import product

import pytest

from planner.contract_view import ContractView
from planner.intake import read_evidence
from planner.matrix import benchmark_matrix
from planner.matrix.engines import engine_of
from planner.matrix.places import ground_of
from planner.matrix.search import search
from planner.records.matrix import Matrix
from tests.planner.documents import contract, example, raw
from tests.planner.matrix.contracts import BECAUSE, DENSE_70B, LATENT_MOE, a_matrix, a_view

POWERS = (1, 2, 4, 8)


def every_name(found: Sequence[tuple[int, ...]]) -> set[str]:
    """Write (tp, pp, ep, dp) or (tp, pp, ep, dp, cp) as names."""
    names = set()
    for tp, pp, ep, dp, *cp in found:
        names.add(f"tp{tp}-pp{pp}-ep{ep}-dp{dp}" + (f"-cp{cp[0]}" if cp and cp[0] > 1 else ""))
    return names


def found_in(name: str) -> set[str]:
    """Return every decomposition that an example's contract does not rule out, listed or not."""
    document = contract(name=name)
    view = ContractView(contract=document.record, limits=document.limits)
    layout = engine_of(document.record.identity.stack.engine).layout
    return {found.name for found in search(view, layout, ground_of(view.site)).found}


def test_the_worked_example() -> None:
    """40 heads and 8 KV heads leave tp 1, 2, 4, 8; 48 layers and 16 experts split evenly; 119.4 GiB of weights need two
    ranks of a copy on devices of 64 GiB after the reserve, and then one request of 16,384 tokens fits beside them."""
    expected = [
        (tp, pp, ep, dp)
        for tp, pp, ep, dp in product(POWERS, (1, 2, 3, 4, 6, 8, 12, 16), (1, 2, 4, 8, 16), range(1, 17))
        if tp * pp * ep * dp <= 16 and tp * pp * ep >= 2
    ]
    assert found_in("worked") == every_name(expected)


def test_the_blast_radius_example_has_the_same_candidates() -> None:
    assert found_in("blast-radius") == found_in("worked")


def test_gpt_oss_120b_on_eight_h200() -> None:
    """64 heads leave tp 1, 2, 4, 8; without expert parallelism the expert width of 2,880 splits over tp x dp x cp,
    which 7 does not divide; with it 128 experts may be uneven. Decode context needs more tensor ranks than KV heads."""
    expected = [
        (tp, pp, ep, dp, cp)
        for tp, pp, dp, cp in product(POWERS, range(1, 9), range(1, 9), range(1, 9))
        for ep in {1, tp * dp * cp}
        if tp * pp * dp * cp <= 8 and (ep > 1 or 2880 % (tp * dp * cp) == 0)
    ]
    assert found_in("gpt-oss-120b-h200") == every_name(expected)


def test_the_minimal_example_has_one_candidate() -> None:
    assert found_in("minimal") == {"tp1-pp1-ep1-dp1"}


def dense_70b() -> Matrix:
    return a_matrix(
        ("/needs", {"capacity": {"output_tokens_per_s": 1000, "because": BECAUSE}, "latency": {"because": BECAUSE}}),
        model=DENSE_70B,
    )


def test_seventy_billion_dense_on_one_node() -> None:
    """131.4 GiB need two ranks of a copy; 64 heads leave tp 1, 2, 4, 8; vLLM takes uneven stages."""
    expected = [
        (tp, pp, 1, dp, cp)
        for tp, pp, dp, cp in product(POWERS, range(1, 9), range(1, 9), range(1, 9))
        if tp * pp * dp * cp <= 8 and tp * pp >= 2
    ]
    view = a_view(model=DENSE_70B)
    assert {found.name for found in search(view, "vllm", ground_of(view.site)).found} == every_name(expected)


def test_what_needs_ask_for_is_marked() -> None:
    """Latency asks for tensor ranks, capacity for replicas, and the model needs more than one rank."""
    matrix = dense_70b()
    worth = {name: candidate.worth for name, candidate in matrix.candidates.items()}
    assert [name for name, each in worth.items() if each == "baseline"] == ["tp2-pp1-ep1-dp1"]
    assert [name for name, each in worth.items() if each == "needed"] == [
        "tp4-pp1-ep1-dp1",
        "tp2-pp1-ep1-dp2",
        "tp8-pp1-ep1-dp1",
        "tp4-pp1-ep1-dp2",
        "tp2-pp1-ep1-dp4",
    ]


def test_a_predecessor_is_named_for_every_axis() -> None:
    compared = dense_70b().candidates["tp4-pp1-ep1-dp2"].compared
    assert [(each.axis, each.candidate) for each in compared] == [
        ("tp", "tp2-pp1-ep1-dp2"),
        ("dp", "tp4-pp1-ep1-dp1"),
    ]


def two_nodes_of_h200() -> Matrix:
    """The shape of DeepSeek-V3 in FP8 on two nodes of eight devices of 141 GiB, tensor groups inside a node."""
    return a_matrix(
        ("/gates/tensor_locality", {"tensor": {"rule": "inside_node", "because": BECAUSE}}),
        ("/needs", {"residency": {"because": BECAUSE}, "capacity": {"output_tokens_per_s": 1000, "because": BECAUSE}}),
        (
            "/identity/precision",
            {"weights": "fp8", "activations": "bf16", "kv_cache": "fp8", "quantisation_block": 128},
        ),
        model=LATENT_MOE,
        nodes=2,
        memory_gib=141,
    )


def test_a_mixture_of_experts_over_two_nodes() -> None:
    """624.9 GiB in FP8 need at least five ranks. Of the known ways of serving it, tensor parallelism over both nodes
    leaves the node; stages over the nodes, and wide expert parallelism with data-parallel attention, stay."""
    matrix = two_nodes_of_h200()
    assert {candidate.ranks for candidate in matrix.candidates.values()} <= set(range(5, 17))
    assert {"tp8-pp1-ep8-dp1", "tp8-pp2-ep8-dp1", "tp1-pp1-ep16-dp16", "tp8-pp1-ep16-dp2"} <= matrix.candidates.keys()
    assert "tp16-pp1-ep16-dp1" not in matrix.candidates
    smallest = next(group for group in matrix.excluded if group.reason == "memory" and "624.9" in group.sentence)
    assert smallest.sentence == (
        "Hypothesis: weights (parameters over the ranks of a copy) of 624.9 GiB on the fullest rank exceed 141.0 GiB "
        "by 483.9 GiB."
    )


def test_quantisation_blocks_keep_out_slices_of_experts() -> None:
    """1,536 over 8 tensor ranks is one and a half blocks of 128."""
    narrow = a_matrix(
        ("/identity/precision/quantisation_block", 128),
        model={**LATENT_MOE, "expert_intermediate_size": 1536, "parameters": 10**9},
        memory_gib=4000,
    )
    sentences = [group.sentence for group in narrow.excluded if group.reason == "divide"]
    assert "Expert width 1536 over 8 ranks is 192, not a multiple of the block of 128." in sentences


def test_a_fixed_number_of_accelerators_makes_all_others_optional() -> None:
    matrix = benchmark_matrix(contract(name="blast-radius"))
    needed = {candidate.ranks for candidate in matrix.candidates.values() if candidate.worth == "needed"}
    assert needed == {16}
    smaller = matrix.candidates["tp4-pp1-ep1-dp1"]
    assert smaller.because[-1] == (
        "comparison.accelerator_count is 16, so equal_service fails with 4 ranks: it can justify an axis and cannot be "
        "selected."
    )


@pytest.mark.parametrize("name", ["worked", "blast-radius", "gpt-oss-120b-h200", "deepseek-v4-flash-b200", "late-rank"])
def test_what_an_example_measured_is_among_its_candidates(name: str) -> None:
    document = contract(name=name)
    matrix = benchmark_matrix(document, read_evidence(raw(example(name, "evidence")), document))
    assert matrix.coverage is not None
    assert matrix.coverage.unmatched == {}
