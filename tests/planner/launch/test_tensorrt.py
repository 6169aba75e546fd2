"""TensorRT-LLM: one server a node, or one world under mpirun, whose contexts fix the order of ranks."""

import yaml

from planner.launch import LaunchConfiguration
from tests.planner.launch.launched import devices, instance, launched, started
from tests.planner.matrix.arguments import MPIRUN, TRTLLM_SERVE, TRTLLM_SETTINGS
from tests.planner.matrix.contracts import DENSE_70B, LATENT_MOE

FP8 = ("/identity/precision", {"weights": "fp8", "activations": "fp8", "kv_cache": "fp8"})
ORDER = "export CUDA_DEVICE_ORDER=PCI_BUS_ID\nexport CUDA_VISIBLE_DEVICES="


def settings(made: LaunchConfiguration) -> dict[str, object]:
    return {file.name: yaml.safe_load(file.text) for file in made.files[1:]}


def test_one_node_with_its_settings_in_a_file() -> None:
    one = instance(8, tp=8, ep=2, engine_degrees={"enable_attention_dp": True, "moe_tp": 4})
    made = launched("trtllm", FP8, model=LATENT_MOE, instances=[one], devices=devices("n0", 8))
    assert started(made) == {
        "0/n0": f"{ORDER}0,1,2,3,4,5,6,7\nexec trtllm-serve example/latent-moe-671b --revision r1 --tp_size 8 "
        '--ep_size 2 --max_seq_len 8192 --config engine-0.yaml --host "${TOPOGATE_LISTEN}"'
    }
    assert settings(made) == {
        "engine-0.yaml": {
            "enable_attention_dp": True,
            "moe_tensor_parallel_size": 4,
            "kv_cache_config": {"enable_block_reuse": False, "dtype": "fp8"},
        }
    }


def test_two_nodes_are_contexts_of_mpirun_each_with_its_own_order_of_devices() -> None:
    order = f"{devices('n1', 4)} n0-g1 n0-g0 n0-g2 n0-g3"
    made = launched("trtllm", model=DENSE_70B, instances=[instance(8, tp=8)], devices=order, nodes=2)
    server = "trtllm-llmapi-launch trtllm-serve example/dense-70b --revision r1 --tp_size 8 --max_seq_len 8192 "
    server += '--config engine-0.yaml --gpus_per_node 4 --host "${TOPOGATE_LISTEN}"'
    assert started(made) == {
        "0/n1": 'exec mpirun -n 4 --host "${TOPOGATE_HOST_N1}":4 -x CUDA_DEVICE_ORDER=PCI_BUS_ID '
        f"-x CUDA_VISIBLE_DEVICES=0,1,2,3 {server} "
        ': -n 4 --host "${TOPOGATE_HOST_N0}":4 -x CUDA_DEVICE_ORDER=PCI_BUS_ID '
        f"-x CUDA_VISIBLE_DEVICES=1,0,2,3 {server}"
    }
    assert made.to_fill["TOPOGATE_HOST_N1"] == "host name of n1"


def test_stages_over_two_nodes() -> None:
    made = launched(
        "trtllm", model=DENSE_70B, instances=[instance(8, tp=4, pp=2)], devices=devices("n0 n1", 4), nodes=2
    )
    (line,) = started(made).values()
    assert line.count("--tp_size 4 --pp_size 2 --max_seq_len 8192 ") == 2
    assert line.count(" : ") == 1


def test_context_ranks_name_their_kind() -> None:
    one = instance(8, tp=4, cp=2, engine_degrees={"cp_type": "HELIX"})
    made = launched("trtllm", model=DENSE_70B, instances=[one], devices=devices("n0", 8))
    assert "--tp_size 4 --cp_size 2 " in started(made)["0/n0"]
    assert settings(made)["engine-0.yaml"] == {
        "cp_config": {"cp_type": "HELIX"},
        "kv_cache_config": {"enable_block_reuse": False},
    }


def test_pools_have_a_file_for_the_router() -> None:
    pools = [instance(2, "prefill", tp=2), instance(2, "prefill", tp=2), instance(4, "decode", tp=4)]
    made = launched("trtllm", model=DENSE_70B, instances=pools, devices=devices("n0", 8))
    files = settings(made)
    assert files["engine-2.yaml"] == {
        "kv_cache_config": {"enable_block_reuse": False},
        "cache_transceiver_config": {"backend": "${TOPOGATE_KV_CONNECTOR}"},
    }
    assert files["disaggregated.yaml"] == {
        "hostname": "${TOPOGATE_LISTEN}",
        "port": "${TOPOGATE_ROUTER_PORT}",
        "context_servers": {
            "num_instances": 2,
            "urls": ["${TOPOGATE_HEAD_0}:${TOPOGATE_PORT_0}", "${TOPOGATE_HEAD_1}:${TOPOGATE_PORT_1}"],
        },
        "generation_servers": {"num_instances": 1, "urls": ["${TOPOGATE_HEAD_2}:${TOPOGATE_PORT_2}"]},
    }


def test_only_names_that_the_tools_have() -> None:
    extra = {"enable_attention_dp": True, "moe_tp": 2, "enable_lm_head_tp_in_adp": True}
    one = instance(16, "decode", tp=16, ep=8, engine_degrees=extra)
    made = launched("trtllm", model=LATENT_MOE, instances=[one], devices=devices("n0 n1", 8), nodes=2)
    (line,) = started(made).values()
    words = {word for word in line.split() if word.startswith("-")}
    assert words <= TRTLLM_SERVE | MPIRUN
    assert settings(made)["engine-0.yaml"].keys() <= TRTLLM_SETTINGS  # type: ignore[attr-defined]


def test_ray_orders_ranks_itself() -> None:
    one = instance(2, tp=2, engine_degrees={"orchestrator": "ray"})
    made = launched("trtllm", instances=[one], devices="n0-g0 n0-g1")
    assert "Ray places the ranks itself: their order over nodes is not said here." in [
        each.sentence for each in made.unsaid
    ]
