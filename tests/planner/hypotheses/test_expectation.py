"""What a topology lets one expect: bytes of every part on every rank, bytes at every boundary."""

from typing import Any

import pytest

from planner.hypotheses.expectation import PARTS, expectation
from planner.hypotheses.facts import Cache, Shape
from tests.planner.factories import SATURATED
from tests.planner.hypotheses.samples import DENSE, MOE, expected_of, identity, part_bytes, topology

H, HEADS, KV, DIM, WIDTH = 64, 8, 2, 16, 256
TABLE = 128 * H * 2
"""The vocabulary of 100 is padded to 128; two bytes an element."""


def layer_bytes(tp: int) -> int:
    """Bytes of one dense layer on a tensor rank, written out by hand."""
    kv = max(1, KV // tp) * DIM
    return 2 * (2 * H * (HEADS * DIM // tp) + 2 * H * kv + 3 * H * WIDTH // tp + 2 * H)


def test_one_rank_holds_everything() -> None:
    found = expected_of(DENSE, "vllm", {})

    assert [share.ranks for share in found.shares] == [(0,)]
    assert part_bytes(found, "weights") == [6 * layer_bytes(1) + 2 * H]
    assert part_bytes(found, "embedding") == part_bytes(found, "head") == [TABLE]
    assert part_bytes(found, "experts") == [0]
    # 6 layers x keys and values of 2 heads of 16 x 2 bytes x 10 sequences of 4096
    assert part_bytes(found, "kv") == [6 * 2 * 2 * 16 * 2 * 10 * 4096]
    # 1000 tokens of the prompt; the feed-forward part is wider than attention
    assert part_bytes(found, "activations") == [1000 * 2 * (2 * H + 3 * WIDTH)]
    assert found.boundaries == ()


def test_key_value_heads_are_copied_when_ranks_outnumber_them() -> None:
    found = [expected_of(DENSE, "vllm", {"tp": tp, "world_size": tp}) for tp in (1, 2, 4, 8)]
    whole = 6 * 2 * 2 * 16 * 2 * 10 * 4096

    assert [part_bytes(one, "kv") for one in found] == [[whole], [whole // 2], [whole // 2], [whole // 2]]
    assert [part_bytes(one, "weights") for one in found] == [[6 * layer_bytes(tp) + 2 * H] for tp in (1, 2, 4, 8)]


def test_tables_are_on_the_first_and_last_stage_and_layers_follow_the_engine() -> None:
    found = expected_of(DENSE, "vllm", {"pp": 4, "world_size": 4})

    # vLLM gives the two layers that are left to the stages before the last
    assert [share.stage for share in found.shares] == [0, 1, 2, 3]
    assert part_bytes(found, "weights") == [*(layer_bytes(1) * layers for layers in (1, 2, 2)), layer_bytes(1) + 2 * H]
    assert part_bytes(found, "embedding") == [TABLE, 0, 0, 0]
    assert part_bytes(found, "head") == [0, 0, 0, TABLE]


@pytest.mark.parametrize(("pp", "head"), [(1, [0]), (2, [0, TABLE])], ids=["one stage", "two stages"])
def test_a_tied_head_is_the_embedding_unless_stages_part_them(pp: int, head: list[int]) -> None:
    found = expected_of({**DENSE, "tied_embeddings": True}, "sglang", {"pp": pp, "world_size": pp})

    assert part_bytes(found, "head") == head


def test_experts_that_do_not_split_leave_ranks_with_unequal_shares() -> None:
    found = expected_of(MOE, "vllm", {"tp": 4, "ep": 4, "world_size": 4})
    one = 6 * 3 * H * 48 * 2

    assert [(share.experts, share.ranks) for share in found.shares] == [(2, (0, 1)), (1, (2, 3))]
    assert part_bytes(found, "experts") == [2 * one, one]


def test_experts_are_cut_where_expert_parallelism_is_off() -> None:
    found = expected_of(MOE, "vllm", {"tp": 2, "dp": 2, "world_size": 4})

    assert [(share.experts, share.ranks) for share in found.shares] == [(6, (0, 1, 2, 3))]
    assert part_bytes(found, "experts") == [6 * 6 * 3 * H * (48 // 4) * 2]


@pytest.mark.parametrize(
    ("layout", "instance", "rest"),
    [
        pytest.param("vllm", {"tp": 2, "dp": 2, "ep": 4, "world_size": 4}, 48, id="vLLM, experts over data ranks"),
        pytest.param("vllm", {"tp": 2, "ep": 2, "world_size": 2}, 24, id="vLLM, experts over tensor ranks"),
        pytest.param("closed", {"tp": 2, "ep": 2, "world_size": 4}, 24, id="closed"),
    ],
)
def test_the_shared_expert_is_whole_only_where_experts_run_sequence_parallel(
    layout: str, instance: dict[str, Any], rest: int
) -> None:
    found = expected_of(MOE, layout, instance)
    attention = 2 * H * 64 + 2 * H * 16 + 2 * H
    router = 6 * H

    assert part_bytes(found, "weights")[0] == 2 * (6 * (attention + router + 3 * H * rest) + H)


def test_a_latent_is_held_whole_by_every_tensor_rank() -> None:
    widths = {"q_lora_rank": 0, "kv_lora_rank": 30, "rope_head_dim": 2, "nope_head_dim": 8, "value_head_dim": 8}
    model = {**DENSE, "attention": "mla", "attention_widths": widths}
    found = [part_bytes(expected_of(model, "vllm", {"tp": tp, "world_size": tp}), "kv") for tp in (1, 4)]

    assert found == [[6 * 32 * 2 * 10 * 4096]] * 2


def test_decode_context_ranks_share_the_tokens_of_a_sequence() -> None:
    found = expected_of(DENSE, "vllm", {"tp": 4, "dcp": 2, "world_size": 4})

    assert part_bytes(found, "kv") == [6 * 2 * 16 * 2 * 10 * 2048]

    widths = {"sliding_window_tokens": 128, "sliding_layers": 6}
    short = expected_of({**DENSE, "attention_widths": widths}, "vllm", {"tp": 4, "dcp": 2, "world_size": 4})
    assert part_bytes(short, "kv") == [6 * 2 * 16 * 2 * 10 * 64]


def test_sliding_layers_keep_their_window() -> None:
    widths = {"sliding_window_tokens": 128, "sliding_layers": 4}
    one = expected_of({**DENSE, "attention_widths": widths}, "vllm", {})
    two = expected_of({**DENSE, "attention_widths": widths}, "vllm", {"pp": 2, "world_size": 2})

    assert part_bytes(one, "kv") == [2 * 2 * 16 * 2 * 10 * (2 * 4096 + 4 * 128)]
    assert [share.parts["kv"].missing for share in two.shares] == [("places of the sliding layers",)] * 2


def test_requests_spread_over_schedulers_rounded_up() -> None:
    replicas = expected_of(DENSE, "vllm", {"dp": 2, "world_size": 2}, {})
    attention_data = expected_of(MOE, "sglang", {"tp": 2, "ep": 2, "world_size": 2, "engine_degrees": {"attn_dp": 2}})

    # 10 requests over 3 schedulers, over 2
    assert part_bytes(replicas, "kv") == [6 * 2 * 2 * 16 * 2 * 4 * 4096] * 2
    assert part_bytes(attention_data, "kv") == [6 * 2 * 2 * 16 * 2 * 5 * 4096]
    assert attention_data.shares[0].parts["head"].missing == (
        "placement of embedding and head under attention data parallelism",
    )


def test_the_old_spelling_of_attention_data_parallelism_counts_its_schedulers_once() -> None:
    spellings: list[dict[str, Any]] = [
        {"engine_degrees": {"attn_dp": 2}},
        {"dp": 2, "engine_degrees": {"enable_dp_attention": True}},
    ]
    found = [expected_of(DENSE, "sglang", {"tp": 2, "world_size": 2, **spelling}) for spelling in spellings]

    # 10 requests over 2 schedulers
    assert [part_bytes(one, "kv") for one in found] == [[6 * 2 * 2 * 16 * 2 * 5 * 4096]] * 2


def test_every_boundary_of_a_step_has_its_payload() -> None:
    found = expected_of(MOE, "vllm", {"tp": 2, "pp": 2, "ep": 2, "world_size": 4})
    payloads = {(one.kind, one.phase): (one.times, one.payload.bytes) for one in found.boundaries}

    assert payloads == {
        ("tensor", "prefill"): (13, 1000 * H * 2),
        ("pipeline", "prefill"): (1, 2 * 1000 * H * 2),
        ("expert_dispatch", "prefill"): (6, 2 * 1000 * H * 2),
        ("expert_combine", "prefill"): (6, 2 * 1000 * H * 2),
        ("tensor", "decode"): (13, 10 * H * 2),
        ("pipeline", "decode"): (1, 2 * 10 * H * 2),
        ("expert_dispatch", "decode"): (6, 2 * 10 * H * 2),
        ("expert_combine", "decode"): (6, 2 * 10 * H * 2),
    }


def test_pools_hand_the_cache_of_a_prompt_over() -> None:
    pools: list[dict[str, Any]] = [{"role": "prefill", "tp": 2, "world_size": 2}, {"role": "decode"}]
    found = expected_of(DENSE, "sglang", *pools)
    handoff = [one for one in found.boundaries if one.kind == "handoff"]
    prefill, decode = found.shares

    assert [(one.instance, one.payload.bytes) for one in handoff] == [(0, 6 * 2 * 2 * 16 * 2 * 1000)]
    assert {one.phase for one in found.boundaries} == {"prefill"}
    assert prefill.parts["kv"].missing == ("requests that are in prefill at once",)
    assert decode.parts["kv"].bytes == 6 * 2 * 2 * 16 * 2 * 10 * 4096
    assert decode.parts["activations"].bytes == 10 * 2 * (2 * H + 3 * WIDTH)


def test_attention_is_whole_on_the_data_ranks_of_tensorrt_llm() -> None:
    instance = {"tp": 2, "ep": 2, "world_size": 2, "engine_degrees": {"moe_tp": 1, "enable_attention_dp": True}}
    found = expected_of(MOE, "trtllm", instance)

    assert part_bytes(found, "kv") == [6 * 2 * 2 * 16 * 2 * 5 * 4096]


def test_facts_of_a_configuration_take_the_place_of_the_contracts() -> None:
    stated = Shape(layers=3, caches=(Cache(elements=4, kv_heads=None), None, Cache(elements=4, kv_heads=None)))
    found = expectation(identity(DENSE), topology("vllm", {}), SATURATED, shape=stated)

    assert found.shares[0].parts["kv"].bytes == 2 * 4 * 2 * 10 * 4096


@pytest.mark.parametrize(
    ("layout", "instance"),
    [
        pytest.param("closed", {"tp": 2, "pp": 2, "ep": 2, "world_size": 8}, id="closed"),
        pytest.param("vllm", {"tp": 2, "pp": 2, "ep": 2, "world_size": 4}, id="vLLM"),
        pytest.param("sglang", {"tp": 2, "pp": 2, "ep": 2, "world_size": 4}, id="SGLang"),
        pytest.param("megatron", {"tp": 2, "pp": 2, "dp": 2, "ep": 2, "world_size": 8}, id="Megatron-LM"),
        pytest.param(
            "trtllm",
            {"tp": 2, "pp": 2, "ep": 2, "world_size": 4, "engine_degrees": {"moe_tp": 1}},
            id="TensorRT-LLM",
        ),
    ],
)
def test_every_layout_has_figures_for_every_rank(layout: str, instance: dict[str, Any]) -> None:
    found = expected_of(MOE, layout, instance)

    assert sorted(rank for share in found.shares for rank in share.ranks) == list(range(instance["world_size"]))
    assert all(share.parts[part].bytes is not None for share in found.shares for part in PARTS)
    assert {share.experts for share in found.shares} == {3}
