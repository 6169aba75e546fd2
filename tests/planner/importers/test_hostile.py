"""Files that are made to hurt: refused or read in bounded time and memory."""

import gzip
import io
import json
import subprocess
import sys
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.importers import IMPORTERS
from tests.planner.importers import (
    exporter_samples,
    test_aiperf,
    test_genai_perf,
    test_inferencex,
    test_mlperf,
    test_nccl_tests,
    test_predictions,
    test_serving_console,
    test_smi,
    test_trtllm_bench,
)
from tests.planner.importers.perf_samples import aiperf_record
from tests.planner.importers.samples import imported, refusals, vllm_run
from tests.planner.importers.test_other_readers import CONFIG

SECONDS = 10
"""Reading takes a tenth of it; what grows with the square of its length takes minutes."""


def in_time(raw: str | bytes, *, only: str | None = None) -> list[str]:
    """Import within the time allowed; return the codes of problems."""
    start = time.process_time()
    read = imported(raw, only=only)
    assert time.process_time() - start < SECONDS
    assert read.runs or read.problems
    return [problem.code for problem in read.problems]


def test_a_packed_result_is_read_and_its_bomb_is_not() -> None:
    run = json.dumps(vllm_run()).encode()
    assert imported(gzip.compress(run)).status == "usable"
    assert in_time(gzip.compress(run + b" " * 2**26)) == ["import/size"]


def test_a_bomb_of_lines_that_are_results_is_refused_too() -> None:
    line = json.dumps(aiperf_record(1)).encode() + b"\n"
    assert in_time(gzip.compress(line * 100_000)) == ["import/size"]


def test_a_packed_file_that_is_cut_is_refused_as_a_whole() -> None:
    raw = gzip.compress(json.dumps(vllm_run()).encode())
    assert in_time(raw[:-20]) == ["import/encoding"]
    assert in_time(raw[:-8] + bytes(8)) == ["import/encoding"]


def test_other_packings_are_named() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("result.json", json.dumps(vllm_run()))
    (problem,) = imported(packed.getvalue()).problems
    assert (problem.code, problem.found) == ("import/encoding", "a zip archive")
    assert in_time(b"BZh91AY&SY") == ["import/encoding"]
    assert in_time(b"\xfd7zXZ\x00\x00") == ["import/encoding"]


FORMS: dict[str, Callable[[str], bytes]] = {
    "UTF-16": lambda text: text.encode("utf-16"),
    "byte-order mark": lambda text: text.encode("utf-8-sig"),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "blank lines around": lambda text: f"\n\n  \n{text}\n\n".encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_content_is_read_in_every_form(form: str) -> None:
    samples = [*TEXTS.values(), json.dumps(vllm_run(), indent=1), json.dumps(CONFIG, indent=1)]
    for text in samples:
        plain, read = imported(text), imported(FORMS[form](text))
        assert (read.format, read.status) == (plain.format, plain.status)
        assert [len(run.values) for run in read.runs] == [len(run.values) for run in plain.runs]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        pytest.param("[" * 2**20 + "]" * 2**20, "import/format", id="deep list"),
        pytest.param('{"a":' * 2**18, "import/format", id="deep object"),
        pytest.param("a: " + "{b: " * 2**16, "import/format", id="deep YAML"),
        pytest.param("successes:\n" + "- " * 2**18, "import/format", id="deep YAML that looks like a report"),
        pytest.param("successes: &a [1]\nload_summary: [*a, *a]\n", "import/format", id="YAML that multiplies"),
        pytest.param("x" * 2**22, "import/format", id="one long line"),
        pytest.param(json.dumps(dict.fromkeys(map(str, range(2 * 10**5)))), "import/format", id="very many keys"),
        pytest.param('{"a": "' + "\\u0000" * 2**20 + '"}', "import/format", id="long text"),
        pytest.param("\n" * 2**21, "import/format", id="lines of nothing"),
        pytest.param('[{"a": 1},' * 2**17, "import/format", id="cut list"),
    ],
)
def test_what_is_made_to_hurt_is_refused_in_time(raw: str, code: str) -> None:
    assert in_time(raw) == [code]


def test_a_value_of_too_many_values_is_refused() -> None:
    text = json.dumps(vllm_run(ttfts=[0])).replace("[0]", "[" + "0," * 8_000_001 + "0]")
    assert in_time(text, only="vllm-bench-serve") == ["import/size"]


def test_a_value_that_would_fill_the_memory_is_refused_before_it_is_read() -> None:
    text = json.dumps(vllm_run(errors=["records"])).replace('"records"', ",".join(['{"a":{"b":1},"c":2.5}'] * 600_000))
    tracemalloc.start()
    (problem,) = imported(text).problems
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (problem.code, problem.expected) == (
        "import/size",
        "a value of at most 224 MiB of memory once it is read",
    )
    assert peak < 128 * 2**20


def test_entities_of_xml_are_never_expanded() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    text = f'<!DOCTYPE system [<!ENTITY e0 "ha">{entities}]><system version="1">&e11;</system>'
    assert in_time(text)


TEXTS = {
    "genai-perf": test_genai_perf.CSV,
    "genai-perf console": test_genai_perf.CONSOLE,
    "aiperf": test_aiperf.CSV,
    "trtllm-bench": test_trtllm_bench.console(*test_trtllm_bench.RESULTS),
    "mlperf": test_mlperf.SERVER,
    "inferencex": f"{test_inferencex.HEADER}\n{test_inferencex.ROW}\n",
    "vllm-metrics": exporter_samples.vllm(),
    "node-exporter": exporter_samples.network("eth2", 1),
    "serving-console": test_serving_console.vllm_block(),
    "nccl-tests": test_nccl_tests.output(test_nccl_tests.ROW),
    "nvidia-smi query": test_smi.QUERY,
    "nvidia-smi table": test_smi.TABLE,
    "nvidia-smi list": test_smi.LIST,
    "predictions": test_predictions.csv(test_predictions.ROW),
    "vllm-log": "INFO 06-10 20:36:36 [core.py:1] Initializing a V1 LLM engine (v0.22.1) with config: model='m'\n",
    "sglang-log": "[2026-03-01 10:00:00] server_args=ServerArgs(model_path='m', tp_size=2)\n",
    "nccl-ras": "Job summary\n===========\n",
}
PIECES = (
    *(" ", "\t", "0", "a", "A", "_", "0.", "a.", "a:", "(1", "((", "| ", "1,", "'a"),
    *('model="', "rank ", "# ", "[0", " 0"),
)
HEADS = (
    *("", "vllm:x{a=", "(v1.1", "Model loading took ", "Initializing a V1 LLM engine (v1.", "GPU 0: "),
    "#  Rank 0 ",
)


@pytest.mark.parametrize("kind", TEXTS)
def test_lines_that_repeat_a_piece_take_no_longer_than_others(kind: str) -> None:
    """Every pattern that has to try again and again shows it on one of these lines."""
    lines = [head + piece * (2**15 // len(piece)) + "\x01" for head in HEADS for piece in PIECES]
    in_time(TEXTS[kind] + "\n".join(lines) + "\n" + TEXTS[kind])


def test_every_format_is_asked_for_a_long_line() -> None:
    for importer in IMPORTERS:
        in_time("a" * 2**18 + "\n" + " " * 2**18, only=importer.id)


MEASURE = """
import re, sys
from planner.importers import Source, import_file
with open(sys.argv[1], "rb") as handle:
    read = import_file(Source(sys.argv[1], handle))
with open("/proc/self/status") as status:
    peak = re.search(r"VmHWM:\\s+([0-9]+) kB", status.read())
print(read.format, read.status, int(peak[1]) // 1024)
"""


def test_records_are_read_in_a_stream(tmp_path: Path) -> None:
    """10 MB in a process of its own; 100 MB and more take no more memory than that."""
    line = json.dumps(aiperf_record(1)) + "\n"
    path = tmp_path / "records.jsonl"
    path.write_text(line * (10**7 // len(line)))
    command = [sys.executable, "-c", MEASURE, str(path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert shown[:2] == ["aiperf-records", "usable"]
    assert int(shown[2]) < 150


def test_text_around_a_value_is_left_out_and_named() -> None:
    text = f"INFO starting\nwarming up {{not JSON\n{json.dumps(vllm_run(), indent=1)}\ndone in 10 s\n"
    read = imported(text)
    (run,) = read.runs
    assert (read.format, read.status, run.place.line) == ("vllm-bench-serve", "usable", 3)
    assert [remark.code for remark in run.remarks] == ["import/line_skipped"]


def test_text_around_a_configuration_is_left_out() -> None:
    read = imported(f"$ cat config.json\n{json.dumps(CONFIG)}\n$\n")
    assert (read.format, read.status) == ("hf-config", "usable")


def test_a_value_that_is_damaged_below_text_is_refused() -> None:
    assert refusals(imported("log\n" + json.dumps(vllm_run()) + '\n{"model_id": }')) == [("import/syntax", 3, 14)]
