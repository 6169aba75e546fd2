"""Published configurations: what is read of each, and what each is asked for."""

from typing import Any

import msgspec
import pytest

from planner.hypotheses.config import ConfigModel, File, read_config
from planner.hypotheses.config.figures import config_figures
from planner.hypotheses.contract import shape_of_model
from planner.hypotheses.kv_cache import caches_of
from planner.hypotheses.residency import parameters
from planner.records.contract import Model, Precision
from planner.strict_json import read
from tests.planner.hypotheses.configs import PLAIN_ASKED, asked
from tests.shared import shared_cases, shared_path

FOLDER = "cases/files/hf_config"

# parameters, elements a token leaves in the cache; None: asked for
FIGURES: dict[str, tuple[int | None, int | None]] = {
    "Qwen--Qwen3-235B-A22B-FP8": (235_093_634_560, 2 * 94 * 4 * 128),
    "Qwen--Qwen3-32B": (32_762_123_264, 2 * 64 * 8 * 128),
    "Qwen--Qwen3-VL-235B-A22B-Instruct": (235_093_634_560, 2 * 94 * 4 * 128),
    "Qwen--Qwen3.5-397B-A17B": (None, 2 * 15 * 2 * 256),
    "deepseek-ai--DeepSeek-V3": (671_026_419_200, 61 * 576),
    "deepseek-ai--DeepSeek-V4-Flash": (None, None),
    "google--gemma-4-26B-A4B": (None, None),
    "meta-llama--Llama-4-Maverick-17B-128E-Instruct": (None, None),
    "meta-llama--Meta-Llama-3.1-405B": (405_853_388_800, 2 * 126 * 8 * 128),
    "mistralai--Mixtral-8x7B-v0.1": (46_702_792_704, 2 * 32 * 8 * 128),
    "nvidia--Llama-3_3-Nemotron-Super-49B-v1": (None, 2 * 49 * 8 * 128),
    "nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8": (None, 2 * 8 * 2 * 128),
    "openai--gpt-oss-120b": (116_829_156_672, 2 * 36 * 8 * 64),
    "zai-org--GLM-5": (None, 78 * 576),
}


def model(name: str, *more: str, **stated: Any) -> ConfigModel:
    names = [f"{name}_config.json", *more]
    files = [File(name=one, reading=read(shared_path(f"{FOLDER}/{one}").read_bytes())) for one in names]
    return read_config(files, **stated)


def figures(found: ConfigModel) -> dict[str, int | None]:
    return {figure.name: figure.value for figure in config_figures(found)}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_of_every_published_model(name: str) -> None:
    found = figures(model(name))

    assert (found["parameters"], found["kv_elements_per_token"]) == FIGURES[name]


@pytest.mark.parametrize("path", shared_cases(FOLDER, "*.json"))
def test_every_published_file_is_read_and_what_is_missing_is_named(path: Any) -> None:
    found = read_config([File(name=path.name, reading=read(path.read_bytes()))])

    assert "/identity/model/name" in {part.field for part in found.missing}
    assert all(figure.missing or figure.value for figure in config_figures(found))
    assert all(source.pointers for source in found.sources)


def test_weights_of_deepseek_come_out_where_the_missing_facts_are_stated() -> None:
    left_alone = ("lm_head", "mlp.gate")
    found = model("deepseek-ai--DeepSeek-V3", scale_bytes=4, left_alone=left_alone)

    assert figures(model("deepseek-ai--DeepSeek-V3"))["weight_bytes"] is None
    # its README counts FP8 and scales; the files without their headers and next-token layer
    assert figures(found)["weight_bytes"] == 673_150_611_808


def test_gpt_oss_asks_for_the_type_that_it_does_not_state() -> None:
    found = model("openai--gpt-oss-120b")

    assert asked(found) == [PLAIN_ASKED, "/identity/precision/activations"]
    # The block of 32 is the format's own and stands in no file: engines pad shards that cut one.
    assert found.precision == {"weights": "mxfp4"}
    assert found.model["attention_widths"] == {"sliding_window_tokens": 128, "sliding_layers": 18}


def test_a_separate_file_states_the_quantiser() -> None:
    found = model("deepseek-ai--DeepSeek-V3", "nvidia--DeepSeek-V3.1-NVFP4_hf_quant_config.json")

    assert found.precision == {
        "weights": "nvfp4",
        "activations": "bf16",
        "kv_cache": "fp8",
        "quantisation_block": 16,
    }
    assert {source.file for source in found.sources if source.field == "/identity/precision/weights"} == {
        "nvidia--DeepSeek-V3.1-NVFP4_hf_quant_config.json"
    }


def test_infinity_in_a_key_that_nothing_reads_is_said() -> None:
    notices = model("nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8").notices

    assert any(notice.startswith("/time_step_limit/1 is not read") for notice in notices)


@pytest.mark.parametrize("name", FIGURES)
def test_the_section_of_every_published_model_is_one_of_a_contract(name: str) -> None:
    found = model(name)
    wanted = {"name": "x", "revision": "x"}
    if found.model["architecture"] == "moe":
        wanted |= {field: found.model.get(field, 1) for field in ("shared_experts",)}
    section = msgspec.convert({**found.model, **wanted}, Model)
    precision = {"weights": "x", "activations": "x", "kv_cache": "x", **found.precision}

    assert section.layers == found.shape.layers
    assert msgspec.convert(precision, Precision).weights == found.precision["weights"]
    # what the section says is what is read back from it
    again = shape_of_model(section)
    assert (again.latent, again.moe, again.kv_heads) == (found.shape.latent, found.shape.moe, found.shape.kv_heads)


@pytest.mark.parametrize("name", ["deepseek-ai--DeepSeek-V3", "mistralai--Mixtral-8x7B-v0.1", "Qwen--Qwen3-32B"])
def test_a_contract_with_the_section_gives_the_figures_of_the_file(name: str) -> None:
    found = model(name)
    again = shape_of_model(msgspec.convert({**found.model, "name": "x", "revision": "x"}, Model))
    norms = 64 * 2 * 128 if name.startswith("Qwen") else 0
    biases = 58 * 256 if name.startswith("deepseek") else 0

    # a contract does not state the small tensors of a family
    assert parameters(again)[0] == parameters(found.shape)[0] - norms - biases
    assert caches_of(again) == found.shape.caches
