"""Whatever stands in a file, its import returns: with runs, or with documented problems that are safe to show."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from planner.importers import Imported
from planner.problem_codes import PROBLEM_CODES
from tests.planner.importers import (
    test_aiperf,
    test_genai_perf,
    test_guidellm,
    test_inference_perf,
    test_inferencex,
    test_llmd_report,
    test_mlperf,
    test_nccl_tests,
    test_other_readers,
    test_serving_console,
    test_sglang_bench,
    test_sglang_one_batch,
    test_smi,
    test_trtllm_bench,
    test_vllm_others,
)
from tests.planner.importers.perf_samples import aiperf_export, aiperf_record, genai_export, gpu
from tests.planner.importers.samples import imported, old_vllm_run, vllm_run

WRONG: tuple[Any, ...] = (
    *(None, True, "", "x", -1, 0, 1e308, float("nan"), float("inf"), 10**30, [], {}),
    *([None], [[]], {"": None}, "Infinity", "0" * 5000, "\ud800", "\x00\x1b[31m"),
)
_SECTION = {"gpus": {"gpu_0": gpu(0, "GPU-a", 49.0)}}

TREES: dict[str, Any] = {
    "vllm": vllm_run(run_number=1, tensor_parallel_size=2),
    "old vllm": old_vllm_run(benchmark_start_time_unix=1781124007.9),
    "wrapper": test_vllm_others.wrapped(test_vllm_others.wrapped_run()),
    "sglang": test_sglang_bench.sglang_run(),
    "sglang router": test_sglang_bench.sglang_run(
        server_info={"prefill": [test_sglang_bench.server()], "decode": [test_sglang_bench.server()]}
    ),
    "one batch": test_sglang_one_batch.server_run(),
    "guidellm old": test_guidellm.old_report(),
    "guidellm": test_guidellm.new_report({"type_": "concurrent", "streams": 8}),
    "genai-perf": genai_export(),
    "aiperf": aiperf_export(telemetry_data={"endpoints": {"a:9400": _SECTION}}),
    "aiperf 1.3": test_aiperf.export_of_schema(),
    "aiperf record": aiperf_record(1),
    "trtllm": test_trtllm_bench.report(),
    "mlperf system": test_mlperf.SYSTEM,
    "inferencex": [test_inferencex.row()],
    "inferencex experiment": test_inferencex.experiment(),
    "llm-d": test_llmd_report.report(),
    "llm-d old": test_llmd_report.old_report(),
    "inference-perf": test_inference_perf.summary(),
    "config": test_other_readers.CONFIG,
    "amd-smi": [test_smi.amd_device(0, 1000, asic={"market_name": "MI300X"}, driver={"version": "6.8"})],
    "nccl-tests JSON": test_nccl_tests.json_output(),
}
TEXTS = {
    "genai-perf CSV": test_genai_perf.CSV,
    "genai-perf console": test_genai_perf.CONSOLE,
    "aiperf CSV": test_aiperf.CSV,
    "trtllm console": test_trtllm_bench.console(*test_trtllm_bench.RESULTS, *test_trtllm_bench.STREAMED),
    "mlperf": test_mlperf.SERVER,
    "nvidia-smi query": test_smi.QUERY,
    "nvidia-smi table": test_smi.TABLE + test_smi.INSTANCES,
    "nvidia-smi list": test_smi.LIST + test_smi.GROUPS,
    "nccl-tests": test_nccl_tests.output(test_nccl_tests.ROW),
    "vllm console": f"{test_serving_console.ARGUMENTS}\n{test_serving_console.vllm_block()}",
    "SGLang console": test_serving_console.SGLANG,
    "inferencex CSV": f"{test_inferencex.LICENCE}{test_inferencex.HEADER}\n{test_inferencex.ROW}\n",
    "llm-d YAML": yaml.safe_dump(test_llmd_report.report()),
}


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a tree with every key of it."""
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from places(tree[key])


def hold_to_promises(read: Imported) -> None:
    assert read.runs or read.problems
    for problem in read.problems:
        assert problem.code in PROBLEM_CODES
        assert problem.found.isprintable()
    for run in read.runs:
        for remark in run.remarks:
            assert remark.code in PROBLEM_CODES
            assert remark.sentence.isprintable()
        for value in run.values:
            assert not isinstance(value.value, str) or value.value.isprintable()
    json.dumps([[value.value for value in run.values] for run in read.runs], allow_nan=False)


@pytest.mark.parametrize("kind", TREES)
def test_every_value_may_be_another(kind: str) -> None:
    chance = random.Random(kind)  # noqa: S311  # reproducible, not secret
    count = sum(1 for _ in places(TREES[kind]))
    for index in range(count):
        changed = copy.deepcopy(TREES[kind])
        container, key = next(place for number, place in enumerate(places(changed)) if number == index)
        container[key] = chance.choice(WRONG)
        hold_to_promises(imported(changed))
        del container[key]
        hold_to_promises(imported(changed))


@pytest.mark.parametrize("kind", TREES)
def test_several_values_may_be_others(kind: str) -> None:
    chance = random.Random(f"several of {kind}")  # noqa: S311  # reproducible, not secret
    for _ in range(20):
        changed = copy.deepcopy(TREES[kind])
        for _ in range(chance.randint(2, 5)):
            container, key = chance.choice(list(places(changed)) or [([None], 0)])
            container[key] = copy.deepcopy(chance.choice(WRONG))
        hold_to_promises(imported(changed))


@pytest.mark.parametrize("kind", TEXTS)
def test_every_text_may_be_damaged(kind: str) -> None:
    chance = random.Random(kind)  # noqa: S311  # reproducible, not secret
    for _ in range(60):
        text = TEXTS[kind]
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(text) + 1)
            piece = chance.choice(
                ["", ",", ":", "\n", "\t", '"', "NaN", "-1", "9" * 400, "\u0660", "\x1b[4m", "{", "\r", "é"]
            )
            text = text[:at] + piece + text[at + chance.randrange(12) :]
        hold_to_promises(imported(text))


ARRAYS = ("vllm", "sglang", "one batch", "trtllm", "aiperf", "genai-perf", "inferencex experiment", "nccl-tests JSON")


@pytest.mark.parametrize("kind", ARRAYS)
def test_several_results_may_stand_in_an_array(kind: str) -> None:
    alone, read = imported(TREES[kind]), imported([TREES[kind], TREES[kind]])
    assert (read.format, len(read.runs), read.problems) == (alone.format, 2, ())
    assert [len(run.values) for run in read.runs] == [len(alone.runs[0].values)] * 2
    assert read.runs[1].place.pointer == "/1"
