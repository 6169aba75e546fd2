"""Number formats and engines in one spelling, whichever tool wrote them."""

import pytest

from planner.importers.spelling import spelled
from tests.planner.importers.exporter_samples import vllm
from tests.planner.importers.samples import only_run


@pytest.mark.parametrize(
    ("quantity", "text", "ours"),
    [
        ("precision_weights", "bfloat16", "bf16"),
        ("precision_activations", "torch.float16", "fp16"),
        ("precision_weights", "gpt_oss_mxfp4", "mxfp4"),
        ("precision_weights", "NVFP4", "nvfp4"),
        ("precision_kv_cache", "FP8", "fp8"),
        ("precision_kv_cache", "float8_e4m3fn", "fp8_e4m3"),
        ("precision_weights", "W4A16_AWQ", "W4A16_AWQ"),
        ("engine_name", "vLLM", "vllm"),
        ("engine_name", "trt", "tensorrt-llm"),
        ("engine_name", "Dynamo", "Dynamo"),
        ("label", "FP8", "FP8"),
    ],
)
def test_what_means_the_same_is_spelled_the_same(quantity: str, text: str, ours: str) -> None:
    assert spelled(quantity, text) == ours


def test_the_word_of_the_file_stays_beside_ours() -> None:
    run = only_run(vllm().replace('cache_dtype="auto"', 'cache_dtype="FP8"'))
    (value,) = [value for value in run.values if value.name == "precision_kv_cache"]
    assert (value.value, value.raw) == ("fp8", "FP8")
