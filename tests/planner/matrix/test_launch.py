"""How engines are started: only arguments that they have, every node its own command, devices named where they must."""

import pytest

from planner.matrix import benchmark_matrix
from planner.records.matrix import Candidate, Matrix
from tests.planner.documents import contract
from tests.planner.matrix.arguments import MPIRUN, SGLANG_SERVER, TRTLLM_SERVE, VLLM_SERVE
from tests.planner.matrix.contracts import DENSE_70B, LATENT_MOE, a_matrix

KNOWN = {"vllm": VLLM_SERVE, "sglang": SGLANG_SERVER, "tensorrt-llm": TRTLLM_SERVE | MPIRUN}
FP8 = {"weights": "fp8", "activations": "fp8", "kv_cache": "fp8"}


def lines(candidate: Candidate) -> list[str]:
    return [command.shell for command in candidate.launch.commands]


def arguments(matrix: Matrix) -> set[str]:
    return {
        word
        for candidate in matrix.candidates.values()
        for command in candidate.launch.commands
        for word in command.argv
        if word.startswith("-") and word != "-m"
    }


@pytest.mark.parametrize("engine", KNOWN)
@pytest.mark.parametrize(("model", "nodes"), [(DENSE_70B, 1), (LATENT_MOE, 2)])
def test_only_arguments_that_the_engine_has(engine: str, model: dict[str, object], nodes: int) -> None:
    matrix = a_matrix(
        ("/identity/precision", FP8),
        ("/identity/stack/kv", {"block_tokens": 64}),
        ("/identity/model/tokenizer_revision", "t1"),
        model=model,
        engine=engine,
        nodes=nodes,
        memory_gib=141,
    )
    assert arguments(matrix) <= KNOWN[engine]
    assert all(candidate.launch.commands for candidate in matrix.candidates.values())


def test_one_node_of_vllm() -> None:
    matrix = a_matrix(model=DENSE_70B)
    assert lines(matrix.candidates["tp4-pp1-ep1-dp1"]) == [
        "vllm serve example/dense-70b --revision r1 --tensor-parallel-size 4 --max-model-len 8192 "
        "--no-enable-prefix-caching"
    ]


def test_one_engine_of_vllm_over_two_nodes_names_the_first() -> None:
    matrix = a_matrix(model=DENSE_70B, nodes=2, devices=4)
    first, second = lines(matrix.candidates["tp8-pp1-ep1-dp1"])
    rest = '--nnodes 2 --node-rank {} --master-addr "${{TOPOGATE_HEAD}}" --master-port 29501'
    assert first.endswith(rest.format(0))
    assert second.endswith(rest.format(1) + " --headless")


def test_replicas_of_vllm_over_two_nodes_are_counted_by_node() -> None:
    matrix = a_matrix(model=DENSE_70B, nodes=2, devices=4)
    first, second = lines(matrix.candidates["tp4-pp1-ep1-dp2"])
    rest = '--data-parallel-size-local 1 --data-parallel-address "${TOPOGATE_HEAD}" --data-parallel-rpc-port 13345'
    assert first.endswith(rest)
    assert second.endswith(rest + " --headless --data-parallel-start-rank 1")


def test_sglang_over_two_nodes() -> None:
    matrix = a_matrix(model=DENSE_70B, nodes=2, devices=4, engine="sglang")
    first, second = lines(matrix.candidates["tp8-pp1-ep1-dp1"])
    assert first == (
        "python3 -m sglang.launch_server --model-path example/dense-70b --revision r1 --tp-size 8 "
        '--context-length 8192 --disable-radix-cache --nnodes 2 --node-rank 0 --dist-init-addr "${TOPOGATE_HEAD}":20000'
    )
    assert "--node-rank 1" in second


def test_tensorrt_over_two_nodes_is_one_command_of_mpirun() -> None:
    matrix = a_matrix(model=DENSE_70B, nodes=2, devices=4, engine="tensorrt-llm")
    candidate = matrix.candidates["tp8-pp1-ep1-dp1"]
    (line,) = lines(candidate)
    assert line.startswith('mpirun -n 8 --host "${TOPOGATE_HOSTS}" trtllm-llmapi-launch trtllm-serve example/dense-70b')
    assert line.endswith("--gpus_per_node 4")
    assert (
        "Goes into the YAML file of --config: kv_cache_config: {enable_block_reuse: false}." in candidate.launch.unsaid
    )


def test_devices_are_named_where_they_are_not_the_first_of_their_node() -> None:
    islands = {
        "a": {"devices": ["n0-g4", "n0-g5", "n0-g6", "n0-g7"], "bytes_per_s_one_way": 1},
        "b": {"devices": ["n0-g0", "n0-g1", "n0-g2", "n0-g3"], "bytes_per_s_one_way": 1},
    }
    matrix = a_matrix(("/identity/hardware/islands", islands), ("/fleet/spare_devices", ["n0-g0"]), model=DENSE_70B)
    named = [line for candidate in matrix.candidates.values() for line in lines(candidate)]
    assert named
    assert all(line.startswith("env CUDA_VISIBLE_DEVICES=") for line in named)


def test_an_engine_without_a_known_command_says_so() -> None:
    matrix = a_matrix(engine="homegrown")
    (sentence,) = {text for candidate in matrix.candidates.values() for text in candidate.launch.unsaid}
    assert sentence == "No command is known that starts this engine."
    assert not any(candidate.launch.commands for candidate in matrix.candidates.values())


def test_a_format_of_the_cache_without_a_common_name_is_left_to_the_engine() -> None:
    matrix = a_matrix()
    candidate = next(iter(matrix.candidates.values()))
    assert "The KV cache's format, bf16, is left to the engine." in candidate.launch.unsaid


@pytest.mark.parametrize("name", ["worked", "gpt-oss-120b-h200", "deepseek-v4-flash-b200"])
def test_examples_have_only_arguments_of_their_engines(name: str) -> None:
    matrix = benchmark_matrix(contract(name=name))
    every = frozenset().union(*KNOWN.values())
    assert arguments(matrix) <= every
