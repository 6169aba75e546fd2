"""Commands of vLLM and SGLang for decided rank maps, typed by hand from the engines' own guides."""

import subprocess
from typing import Any

import pytest

from planner.launch import LaunchConfiguration, LaunchRefusedError, Unsaid
from planner.matrix.words import command
from tests.planner.launch.launched import SLICES, devices, instance, launched, started
from tests.planner.matrix.arguments import (
    SGLANG_ENVIRONMENT,
    SGLANG_SERVER,
    TRTLLM_SERVE,
    VLLM_ENVIRONMENT,
    VLLM_SERVE,
)
from tests.planner.matrix.contracts import DENSE_70B, LATENT_MOE, a_matrix

VLLM_70B = "exec vllm serve example/dense-70b --revision r1 --tensor-parallel-size {} "
VLLM_MOE = "exec vllm serve example/latent-moe-671b --revision r1 --tensor-parallel-size {} "
CONTEXT = "--max-model-len 8192 --no-enable-prefix-caching"
ORDER = "export CUDA_DEVICE_ORDER=PCI_BUS_ID\nexport CUDA_VISIBLE_DEVICES="
EIGHT = "0,1,2,3,4,5,6,7"


def lacking(made: LaunchConfiguration, at: str) -> list[str]:
    return [each.sentence for each in made.unsaid if each.at == at]


def test_tensor_ranks_take_the_devices_in_the_order_of_the_map() -> None:
    made = launched("vllm", model=DENSE_70B, instances=[instance(4, tp=4)], devices="n0-g4 n0-g6 n0-g5 n0-g7")
    assert made.is_exact
    assert started(made) == {"0/n0": f"{ORDER}4,6,5,7\n{VLLM_70B.format(4)}{CONTEXT}"}
    assert made.to_fill == {}


def test_stages_over_two_nodes_begin_on_the_node_of_rank_0() -> None:
    made = launched("vllm", model=DENSE_70B, instances=[instance(8, tp=4, pp=2)], devices=devices("n1 n0", 4), nodes=2)
    line = f"{ORDER}0,1,2,3\n{VLLM_70B.format(4)}--pipeline-parallel-size 2 {CONTEXT} --nnodes 2 --node-rank {{}} "
    line += '--master-addr "${{TOPOGATE_HEAD}}" --master-port 29501'
    assert started(made) == {"0/n1": line.format(0), "0/n0": f"{line.format(1)} --headless"}
    assert made.to_fill == {"TOPOGATE_HEAD": "address of the first node, for engines that span nodes"}


def test_data_and_expert_ranks_over_two_nodes_with_redundant_experts() -> None:
    balanced = {"enable_eplb": True, "redundant_experts": 32}
    one = instance(16, dp=16, ep=16, engine_degrees=balanced)
    made = launched("vllm", model=LATENT_MOE, instances=[one], devices=devices("n0 n1", 8), nodes=2)
    line = f"{ORDER}{EIGHT}\n{VLLM_MOE.format(1)}--data-parallel-size 16 --enable-expert-parallel {CONTEXT} "
    line += '--data-parallel-size-local 8 --data-parallel-address "${TOPOGATE_HEAD}" --data-parallel-rpc-port 13345'
    experts = """ --enable-eplb --eplb-config '{"num_redundant_experts": 32}'"""
    assert started(made) == {
        "0/n0": f"{line}{experts}",
        "0/n1": f"{line} --headless --data-parallel-start-rank 8{experts}",
    }
    assert lacking(made, "experts") == ["Which expert sits on which rank is the engine's rule, not an argument."]


def test_decode_context_and_a_partition_of_layers() -> None:
    one = instance(16, tp=8, pp=2, dcp=8, engine_degrees={"layer_partition": "31,30"})
    made = launched("vllm", model=LATENT_MOE, instances=[one], devices=devices("n0 n1", 8), nodes=2)
    first = started(made)["0/n0"]
    assert first.startswith(f"{ORDER}{EIGHT}\nexport VLLM_PP_LAYER_PARTITION=31,30\n{VLLM_MOE.format(8)}")
    assert "--pipeline-parallel-size 2 --decode-context-parallel-size 8 " in first


def test_pools_of_vllm_name_the_hand_off_as_what_is_to_be_filled_in() -> None:
    pools = [instance(4, "prefill", tp=4), instance(4, "decode", tp=4)]
    made = launched("vllm", model=DENSE_70B, instances=pools, devices=devices("n0", 8))
    transfer = """--kv-transfer-config '{{"kv_connector": "'"${{TOPOGATE_KV_CONNECTOR}}"'", "kv_role": "{}"}}' """
    first, second = started(made).values()
    ending = f'{VLLM_70B.format(4)}{CONTEXT} {transfer}--port "${{{{TOPOGATE_PORT_{{}}}}}}"'
    assert first == f"{ORDER}0,1,2,3\n{ending.format('kv_producer', 0)}"
    assert second == f"{ORDER}4,5,6,7\n{ending.format('kv_consumer', 1)}"
    assert list(made.to_fill) == ["TOPOGATE_KV_CONNECTOR", "TOPOGATE_PORT_0", "TOPOGATE_PORT_1"]
    assert lacking(made, "pools") == ["The router that sends requests to the pools is not started here."]


def test_engines_beside_one_another_have_ports_of_their_own() -> None:
    one = instance(8, tp=8)
    order = "n0-g0 n0-g1 n0-g2 n0-g3 n1-g0 n1-g1 n1-g2 n1-g3 n0-g4 n0-g5 n0-g6 n0-g7 n1-g4 n1-g5 n1-g6 n1-g7"
    made = launched("vllm", model=DENSE_70B, instances=[one, one], devices=order, nodes=2)
    assert '"${TOPOGATE_HEAD_0}" --master-port 29501 --headless --port' in started(made)["0/n1"]
    assert '"${TOPOGATE_HEAD_1}" --master-port 29502 --headless --port' in started(made)["1/n1"]


def test_a_slice_is_named_by_what_cuda_calls_it() -> None:
    hardware = ("/identity/hardware/devices", SLICES)
    one = instance(1)
    made = launched("vllm", hardware, instances=[one, one], devices="n0-g3 n0-g4")
    assert started(made)["0/n0"].startswith('export CUDA_VISIBLE_DEVICES="${TOPOGATE_DEVICE_N0_G3}"\nexec vllm serve')
    assert made.to_fill["TOPOGATE_DEVICE_N0_G4"] == "what CUDA calls n0-g4: its UUID, as nvidia-smi -L prints it"


def test_an_engine_over_slices_is_not_started() -> None:
    made = launched(
        "vllm", ("/identity/hardware/devices", SLICES), instances=[instance(2, tp=2)], devices="n0-g0 n0-g2"
    )
    assert not made.is_exact
    assert started(made) == {}
    assert lacking(made, "instance 0") == ["Ranks on slices of n0: a process sees one slice at most."]


def test_a_map_that_the_launcher_cannot_make_is_named_rank_by_rank_and_not_started() -> None:
    order = "n0-g0 n1-g0 n0-g1 n1-g1"
    made = launched("vllm", model=DENSE_70B, instances=[instance(4, tp=4)], devices=order, nodes=2)
    assert (made.is_exact, started(made)) == (False, {})
    assert made.unsaid[:2] == (
        Unsaid(at="rank 1", sentence="Decided on n1, device n1-g0; the launcher starts it on n0 beside rank 0."),
        Unsaid(at="rank 2", sentence="Decided on n0 beside rank 0; the launcher parts them."),
    )


def test_attention_data_ranks_of_sglang_over_two_nodes() -> None:
    one = instance(16, tp=16, ep=16, engine_degrees={"attn_dp": 16, "redundant_experts": 32})
    made = launched("sglang", model=LATENT_MOE, instances=[one], devices=devices("n0 n1", 8), nodes=2)
    assert started(made)["0/n1"] == (
        f"{ORDER}{EIGHT}\nexec python3 -m sglang.launch_server --model-path example/latent-moe-671b --revision r1 "
        "--tp-size 16 --ep-size 16 --attn-dp-size 16 --context-length 8192 --disable-radix-cache --nnodes 2 "
        '--node-rank 1 --dist-init-addr "${TOPOGATE_HEAD}":20000 --ep-num-redundant-experts 32 '
        '--host "${TOPOGATE_LISTEN}"'
    )


def test_the_old_spelling_of_sglang_and_its_decode_pool() -> None:
    pools = [
        instance(4, "prefill", tp=4),
        instance(4, "decode", tp=4, dp=4, engine_degrees={"enable_dp_attention": True}),
    ]
    made = launched("sglang", model=DENSE_70B, instances=pools, devices=devices("n0", 8))
    second = started(made)["1/n0"]
    assert second.startswith(f"{ORDER}4,5,6,7\nexec python3 -m sglang.launch_server")
    assert '--dp-size 4 --context-length 8192 --disable-radix-cache --enable-dp-attention --host "' in second
    assert '--disaggregation-mode decode --disaggregation-transfer-backend "${TOPOGATE_KV_CONNECTOR}"' in second


def test_devices_with_a_step_are_said_by_their_order() -> None:
    one = instance(2, tp=2, engine_degrees={"base_gpu_id": 1, "gpu_id_step": 2})
    made = launched("sglang", instances=[one], devices="n0-g1 n0-g3")
    (line,) = started(made).values()
    assert line.startswith(f"{ORDER}1,3\n")
    assert "gpu-id" not in line


@pytest.mark.parametrize(
    ("target", "known", "environment"),
    [("vllm", VLLM_SERVE, VLLM_ENVIRONMENT), ("sglang", SGLANG_SERVER, SGLANG_ENVIRONMENT)],
)
def test_only_names_that_the_engines_have(target: str, known: frozenset[str], environment: frozenset[str]) -> None:
    own = {"vllm": {"enable_eplb": True, "redundant_experts": 8}, "sglang": {"attn_dp": 4, "redundant_experts": 8}}
    degrees = {"vllm": {"dp": 4, "ep": 4}, "sglang": {"tp": 4, "ep": 4}}[target]
    pools = [instance(4, role, engine_degrees=own[target], **degrees) for role in ("prefill", "decode")]
    made = launched(target, model=LATENT_MOE, instances=pools, devices=devices("n0", 8))  # type: ignore[arg-type]
    starts = [start for engine in made.engines for start in engine.starts]
    words = {word for start in starts for word in command(start.words).argv if word.startswith("--")}
    assert len(starts) == 2
    assert words <= known
    assert {name for start in starts for name in start.environment} <= environment


def test_another_engine_would_be_another_topology() -> None:
    with pytest.raises(
        LaunchRefusedError, match="t was measured with vLLM: expected a launch for it, found one for SGL"
    ):
        launched("sglang", layout="vllm", instances=[instance(1)], devices="n0-g0")
    with pytest.raises(LaunchRefusedError, match="No command is known that starts Closed"):
        launched("lws", layout="closed", instances=[instance(1)], devices="n0-g0")


@pytest.mark.parametrize("field", ["name", "revision", "tokenizer_revision"])
def test_a_name_that_an_engine_would_read_as_an_option_starts_nothing(field: str) -> None:
    change = (f"/identity/model/{field}", "--trust-remote-code")
    with pytest.raises(LaunchRefusedError, match=rf"model\.{field} begins with a hyphen"):
        launched("vllm", change, instances=[instance(1)], devices="n0-g0")


def test_the_script_is_one_that_a_shell_runs() -> None:
    name = "x'; touch /tmp/no $(id) `id` \\"
    made = launched("vllm", ("/identity/model/name", name), instances=[instance(1)], devices="n0-g0")
    text = made.files[0].text.replace("exec vllm", "printf '%s\\n' vllm")
    ran = subprocess.run(["/bin/bash", "-s", "0", "n0"], input=text, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[:3] == ["vllm", "serve", name]
    wrong = subprocess.run(["/bin/bash", "-s", "1", "n0"], input=text, capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stderr.splitlines()) == (
        2,
        ["usage: bash launch.sh INSTANCE NODE [-- ARGUMENT...], one of:", "  0 n0"],
    )


def test_a_script_starts_nothing_after_the_decision_expired() -> None:
    made = launched("vllm", instances=[instance(1)], devices="n0-g0", expires_at="2001-01-01T00:00:00Z")
    text = made.files[0].text.replace("exec vllm", "echo vllm")
    ran = subprocess.run(["/bin/bash", "-s", "0", "n0"], input=text, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, "", "the decision expired at 2001-01-01T00:00:00Z\n")


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_every_topology_that_is_worth_measuring_can_be_started_where_its_ranks_sit(engine: str) -> None:
    layout: Any = {"tensorrt-llm": "trtllm"}.get(engine, engine)
    known = {"vllm": VLLM_SERVE, "sglang": SGLANG_SERVER, "trtllm": TRTLLM_SERVE}[layout]
    matrix = a_matrix(model=LATENT_MOE, engine=engine, nodes=2, memory_gib=141)
    for candidate in list(matrix.candidates.values())[::6]:
        seats = sorted(pair for seat in candidate.seats for pair in zip(seat.ranks, seat.devices, strict=True))
        degrees: Any = candidate.degrees
        one = instance(candidate.ranks, engine_degrees=candidate.engine_degrees, **degrees)
        order = " ".join(device for _, device in seats)
        made = launched(layout, model=LATENT_MOE, instances=[one], devices=order, nodes=2, engine=engine)
        assert made.is_exact, candidate.topology
        starts = [start for made_engine in made.engines for start in made_engine.starts]
        assert {word for start in starts for word in command(start.words).argv if word.startswith("--")} <= known
