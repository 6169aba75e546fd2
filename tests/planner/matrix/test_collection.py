"""What tools bring: every metric that a gate may read is in a registry, every tool is an importer that reads it."""

import pytest

from planner.importers import IMPORTERS
from planner.matrix import benchmark_matrix, collection
from planner.matrix.clients import CLIENTS
from planner.matrix.collection import BY_HAND, CLIENT_FIELDS, COMMON_TOOLS, ENGINE_TOOLS, TOOLS
from planner.records.matrix import Matrix
from tests.planner.documents import contract
from tests.planner.matrix.contracts import BECAUSE, a_matrix

KNOWN = {metric for fields in (*CLIENT_FIELDS.values(), *TOOLS.values()) for metric in fields} | set(BY_HAND)


def verdicts(matrix: Matrix) -> dict[str, str]:
    return {f"{answer.gate}.{answer.limit_id}".rstrip("."): answer.verdict for answer in matrix.answers}


def test_every_tool_and_client_is_an_importer() -> None:
    tools = {*TOOLS, *COMMON_TOOLS, *(name for names in ENGINE_TOOLS.values() for name in names)}
    assert tools | set(CLIENTS) <= {importer.id for importer in IMPORTERS}
    assert set(CLIENT_FIELDS) == set(CLIENTS)


@pytest.mark.parametrize("name", ["worked", "blast-radius", "late-rank", "gpt-oss-120b-h200", "deepseek-v4-flash-b200"])
def test_everything_that_an_example_reads_is_known(name: str) -> None:
    matrix = benchmark_matrix(contract(name=name))
    assert {metric for answer in matrix.answers for metric in answer.fields} <= KNOWN
    assert {entry for answer in matrix.answers for entry in (answer.verdict,)} <= {"brought", "partly", "by_hand"}


def test_every_limit_that_reads_a_measurement_is_answered() -> None:
    """A rank map is known before the run; what reads only that needs no tool."""
    document = contract(name="worked")
    limits = {f"{gate}.{limit}" for gate, limits in document.limits.items() for limit in limits}
    found = set(verdicts(benchmark_matrix(document)))
    assert limits - found == {"tensor_locality.tensor"}
    assert {"selection", "evidence_required.tails", "evidence_required.collectives"} <= found


def test_the_worst_answers_come_first() -> None:
    order = ["nothing_known", "by_hand", "partly", "brought"]
    places = [order.index(answer.verdict) for answer in benchmark_matrix(contract(name="late-rank")).answers]
    assert places == sorted(places)


def test_a_tail_that_the_client_does_not_write_is_named_before_the_run() -> None:
    tail = {"tail": {"load_point": "saturated", "statistic": "p95", "max_ms": 500, "because": BECAUSE}}
    found = {answer.gate: answer for answer in a_matrix(("/gates/ttft", tail), engine="sglang").answers}
    assert found["ttft"].verdict == "partly"
    assert "of the tails only p99" in found["ttft"].sentence
    assert verdicts(a_matrix(("/gates/ttft", tail)))["ttft.tail"] == "brought"


def test_what_nobody_is_known_to_bring_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "CLIENT_FIELDS", {name: {} for name in CLIENTS})
    monkeypatch.setattr(collection, "BY_HAND", {})
    (first, *_) = a_matrix().answers
    assert first.verdict == "nothing_known"
    assert "load.output_tokens_total: no tool is known that brings it." in first.sentence
