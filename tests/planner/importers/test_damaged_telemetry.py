"""Damaged telemetry files: every cut and every wrong piece gives an answer, never an exception."""

import json
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.importers import Source, import_file
from planner.problem_codes import PROBLEM_CODES
from tests.planner.importers.exporter_samples import dcgm, node, vllm
from tests.planner.importers.test_collective_csv import HEADER, row
from tests.planner.importers.test_collective_trace import trace
from tests.planner.importers.test_gpu_stats import summary
from tests.planner.importers.test_nccl_ras import COUNTS, LATE, answer, text
from tests.planner.importers.test_nccl_tests import ROW, output
from tests.planner.importers.test_predictions import FORMS
from tests.planner.importers.test_server_logs import SGLANG, VLLM

SAMPLES = {
    "vllm-log": VLLM,
    "sglang-log": SGLANG,
    "vllm-metrics": vllm() + vllm(50),
    "dcgm": dcgm() + dcgm(4096),
    "node-exporter": node() + node(5e14),
    "gpu-stats": json.dumps(summary()),
    "nccl-tests": output(ROW) + output(ROW),
    "collective-csv": HEADER + row() + row(1),
    "nccl-ras": text(LATE, more=COUNTS.format(1)) * 2,
    "nccl-ras, JSON": json.dumps(answer(5, 6, missing=1)),
    "collective-trace": trace(),
    "prediction": FORMS["CSV"],
}
PIECES = (
    b"-1",
    b"1e999",
    b"nan",
    b"9" * 5000,
    b"\xc2\xb2",
    b"\r",
    b"\n",
    b'"',
    b"{",
    b",",
    b"\xff",
    b"\x1b[1m",
    b"None",
)


@pytest.mark.parametrize("sample", SAMPLES)
@given(data=st.data())
def test_a_damaged_file_gives_an_answer(sample: str, data: st.DataObject) -> None:
    raw = SAMPLES[sample].encode()
    start = data.draw(st.integers(0, len(raw)), label="start")
    length = data.draw(st.integers(0, 40), label="length")
    piece = data.draw(st.sampled_from((*PIECES, b"")), label="piece")
    cut = data.draw(st.integers(0, len(raw)), label="cut")
    read = import_file(Source("any", BytesIO((raw[:start] + piece + raw[start + length :])[: cut or None])))
    assert read.runs or read.problems
    assert {remark.code for run in read.runs for remark in run.remarks} <= PROBLEM_CODES.keys()


@pytest.mark.parametrize("sample", SAMPLES)
def test_an_own_sample_is_recognised_without_a_name(sample: str) -> None:
    assert import_file(Source("", BytesIO(SAMPLES[sample].encode()))).format == sample.partition(",")[0]
