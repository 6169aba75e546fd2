"""Answers to questions that the engine accepts: dangers, spellings, the mesh of Ray, partitions by hand."""

from typing import Any

import pytest

from planner.layouts.asks import answer


@pytest.mark.parametrize(
    ("engine", "degrees", "danger"),
    [
        pytest.param(
            "vllm",
            {"tp": 8, "pp": 3, "nnodes": 2, "gpus_per_node": 8},
            "12 ranks are started on each node of 8 devices; the engine does not check",
            id="twelve ranks on a node",
        ),
        pytest.param(
            "vllm",
            {"dp": 8, "enable_expert_parallel": True, "num_experts": 60},
            "60 experts over 8 expert ranks are uneven; the engine accepts that; 4 ranks hold 8 experts, 4 hold 7",
            id="uneven experts",
        ),
        pytest.param(
            "trtllm",
            {"tp_size": 8, "moe_ep_size": 8, "num_experts": 60},
            "60 experts over 8 expert ranks: the engine floors the share and drops 4 experts; it raises no error",
            id="dropped experts",
        ),
        pytest.param(
            "trtllm",
            {"tp_size": 16, "nnodes": 1, "gpus_per_node": 8},
            "16 ranks need 2 nodes of 8 devices; 1 given",
            id="too few nodes",
        ),
    ],
)
def test_what_the_engine_accepts_and_should_not_is_a_danger(engine: str, degrees: dict[str, Any], danger: str) -> None:
    found = answer({"engine": engine, "degrees": degrees})

    assert (found["valid"], found["dangers"]) == (True, [danger])


@pytest.mark.parametrize(
    ("engine", "spelled", "short"),
    [
        pytest.param(
            "sglang",
            {"tp_size": 8, "ep_size": 4, "dp_size": 2, "enable_dp_attention": True},
            {"tp": 8, "moe_ep": 4, "attn_dp": 2},
            id="the old spelling of attention data ranks",
        ),
        pytest.param(
            "megatron",
            {"tensor_model_parallel_size": 2, "pipeline_model_parallel_size": 2, "expert_tensor_parallel_size": 1},
            {"tp": 2, "pp": 2, "etp": 1},
            id="long names",
        ),
        pytest.param("trtllm", {"tp": 2, "cp": 2}, {"tp_size": 2, "cp_size": 2}, id="short names"),
    ],
)
def test_every_spelling_gives_the_same_groups(engine: str, spelled: dict[str, Any], short: dict[str, Any]) -> None:
    assert answer({"engine": engine, "degrees": spelled}) == answer({"engine": engine, "degrees": short})


def test_the_mesh_of_ray_is_shown_wherever_ray_can_build_it() -> None:
    helix = {"tp_size": 2, "cp_size": 2, "pp_size": 2, "cp_type": "HELIX"}

    assert answer({"engine": "trtllm", "degrees": helix})["groups_ray_device_mesh"]["pp"] == (
        (0, 2),
        (1, 3),
        (4, 6),
        (5, 7),
    )
    assert "groups_ray_device_mesh" not in answer({"engine": "trtllm", "degrees": {**helix, "moe_ep_size": 4}})


def test_a_partition_is_taken_only_from_engines_that_take_one_and_not_for_a_single_stage() -> None:
    ask = {"num_layers": 32, "pp": 1, "env_partition": "10,22"}

    assert answer({"engine": "sglang", **ask})["ranges"] == ((0, 32),)
    assert answer({"engine": "vllm", **ask})["error"] == "len(partitions)=2 does not match pp_size=1."
    assert answer({"engine": "trtllm", **ask})["error"] == 'trtllm takes no partition by hand; found "10,22"'


def test_a_world_of_megatron_follows_from_its_data_ranks_where_it_is_not_given() -> None:
    found = answer({"engine": "megatron", "degrees": {"tp": 2, "dp": 3}})

    assert (found["world_size"], found["groups"]["dp"]) == (6, ((0, 2, 4), (1, 3, 5)))
