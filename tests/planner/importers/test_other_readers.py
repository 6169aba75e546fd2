"""Topologies and configurations of models, which have readers of their own, seen as files to import."""

import json

from planner.importers.model import Place
from tests.planner.hardware.samples import PAIR, TWO
from tests.planner.importers.samples import imported, place, refusals, values

CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "torch_dtype": "bfloat16",
}


def test_a_topology_gives_devices_and_islands() -> None:
    read = imported(TWO)
    (run,) = read.runs
    assert (read.format, read.version) == ("hardware-topology", "nvidia-smi topo -m")
    assert (values(run)["nodes"], values(run)["devices"]) == (1, 2)
    assert values(run, "node-0-island-0") == {"devices": 2, "device_interconnect": "nvlink-6"}
    assert "Which model of accelerator?" in [asked.question for asked in run.asked]
    assert imported(PAIR).format == "hardware-topology"


def test_a_device_that_a_list_names_has_the_line_of_the_list() -> None:
    listed = "index, name, memory.total [MiB]\n0, NVIDIA H200, 143771 MiB\n1, NVIDIA H200, 143771 MiB\n"
    (run,) = imported(listed + TWO).runs
    places = {value.of: value.place for value in run.values if value.name in ("device_type", "device_memory_bytes")}
    assert places == {"node-0-gpu0": Place(line=2), "node-0-gpu1": Place(line=3)}
    assert place(run, "nodes") == Place(pointer="")


def test_a_cut_topology_is_refused_with_its_reasons() -> None:
    read = imported("\n".join(TWO.split("\n")[:2]))
    assert (read.format, refusals(read)) == ("hardware-topology", [("hardware/missing_row", 2, None)])


def test_a_configuration_gives_the_shape_with_its_keys() -> None:
    read = imported(CONFIG)
    (run,) = read.runs
    assert (read.format, read.version) == ("hf-config", "config.json")
    found = values(run)
    expected = {
        "model_architecture": "dense",
        "model_layers": 32,
        "model_hidden_size": 4096,
        "model_attention_heads": 32,
        "model_kv_heads": 8,
        "model_attention": "gqa",
        "precision_weights": "bf16",
    }
    assert {name: found[name] for name in expected} == expected
    assert place(run, "model_layers") == Place(pointer="/num_hidden_layers")
    assert "/identity/model/name" in [asked.field for asked in run.asked]
    (revision,) = [asked for asked in run.asked if asked.name == "model_revision"]
    assert revision.question == "Which revision (commit) of the model?"


def test_a_value_of_another_type_in_a_configuration_is_refused() -> None:
    read = imported({**CONFIG, "num_hidden_layers": "many"})
    assert [problem.pointer for problem in read.problems] == ["/num_hidden_layers"]
    assert read.status == "refused"


def test_the_quantiser_of_a_model_has_a_file_of_its_own() -> None:
    text = json.dumps(
        {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}
    )
    read = imported(text)
    assert (read.format, read.version) == ("hf-config", "hf_quant_config.json")
    assert values(read.runs[0]) == {"precision_weights": "fp8", "precision_kv_cache": "fp8"}
