"""The matrix as a whole: the same bytes every time, bounded, checked documents only, labelled, readable."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
from msgspec.structs import replace

from planner.documents import ContractDocument
from planner.errors import DocumentRefusedError, TamperedRecordError
from planner.intake import read_evidence
from planner.matrix import benchmark_matrix, matrix_bytes
from planner.matrix.markdown import matrix_markdown
from planner.matrix.worth import MOST_LISTED
from planner.records.matrix import MATRIX_CLAIM
from planner.schema import document_schema
from tests.planner.documents import contract, example, raw
from tests.planner.matrix.contracts import DENSE_70B, LATENT_MOE, a_matrix, a_tree
from tests.shared import ROOT

PROGRAM = """
import hashlib, sys
from planner.intake import read_contract, read_evidence
from planner.matrix import benchmark_matrix, matrix_bytes
folder = sys.argv[1]
contract = read_contract(open(f"{folder}/contract.json", "rb").read())
evidence = read_evidence(open(f"{folder}/evidence.json", "rb").read(), contract)
print(hashlib.sha256(matrix_bytes(benchmark_matrix(contract, evidence))).hexdigest())
"""
LARGEST = """
import os, resource, sys, time
from planner.intake import read_contract
from planner.matrix import benchmark_matrix
contract = read_contract(open(sys.argv[1], "rb").read())
started = time.process_time()
matrix = benchmark_matrix(contract)
seconds = time.process_time() - started
# Where it can be read, the peak of this program alone: on Linux rusage begins with that of whatever started it.
if os.path.exists("/proc/self/status"):
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(seconds, peak, len(matrix.candidates), sum(len(group.examples) for group in matrix.excluded))
"""


def test_the_same_bytes_whatever_the_order_of_sets() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(ROOT / "examples/blast-radius")],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("engine", "model"),
    [pytest.param("vllm", LATENT_MOE, id="moe"), pytest.param("homegrown", DENSE_70B, id="dense, closed")],
)
def test_4096_devices_take_bounded_time_and_memory(engine: str, model: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "contract.json"
    path.write_bytes(raw(a_tree(model=model, engine=engine, nodes=512)))
    printed = subprocess.run(
        [sys.executable, "-c", LARGEST, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    seconds, kilobytes, candidates, examples = map(float, printed.split())
    assert seconds < 60
    assert kilobytes < 512 * 2**10
    assert candidates <= MOST_LISTED
    assert examples < 200


def test_the_most_divisible_model_is_bounded() -> None:
    wide = {**LATENT_MOE, "attention_heads": 5040, "kv_heads": 5040, "layers": 5040, "experts": 5040}
    started = time.process_time()
    matrix = a_matrix(model=wide, engine="homegrown", nodes=63, memory_gib=10**6)
    assert time.process_time() - started < 60
    assert len(matrix.candidates) <= MOST_LISTED


def test_a_fleet_that_nothing_fits_on_says_so() -> None:
    matrix = a_matrix(model=DENSE_70B, devices=1, memory_gib=1)
    assert (matrix.candidates, matrix.cells) == ({}, ())
    assert any(group.reason == "memory" for group in matrix.excluded)
    assert "No decomposition may fit on these devices; what is excluded says why." in matrix.notes


def test_documents_are_checked() -> None:
    document = contract(name="worked")
    record = replace(document.record, slot="other/slot")
    changed = ContractDocument(record, document.limits, document.content_id, document.file_sha256)
    with pytest.raises(TamperedRecordError):
        benchmark_matrix(changed)


def test_evidence_of_another_contract_is_refused() -> None:
    other = contract(name="blast-radius")
    evidence = read_evidence(raw(example("blast-radius", "evidence")), other)
    with pytest.raises(DocumentRefusedError):
        benchmark_matrix(contract(name="worked"), evidence)


def test_it_says_what_it_is() -> None:
    tree = json.loads(matrix_bytes(a_matrix()))
    assert (tree["schema"], tree["claim"]) == ("topogate.matrix/v1", MATRIX_CLAIM)


def test_markdown_has_every_part_and_no_cell_breaks_a_table() -> None:
    text = matrix_markdown(a_matrix(("/identity/model/name", "a|b`c"), ("/slot", "demo/matrix")))
    for title in ("What the planned collection answers", "Candidates", "Runs", "Not listed"):
        assert f"## {title}" in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    head = next(at for at, line in enumerate(rows) if line.startswith("| candidate"))
    width = rows[head].count(" | ")
    assert rows[head + 1].replace("\\|", "").count(" | ") == width


def test_it_fits_its_schema() -> None:
    document = contract(name="blast-radius")
    evidence = read_evidence(raw(example("blast-radius", "evidence")), document)
    tree = json.loads(matrix_bytes(benchmark_matrix(document, evidence)))
    validator = jsonschema.Draft202012Validator(document_schema("matrix"))
    assert [error.message for error in validator.iter_errors(tree)] == []
