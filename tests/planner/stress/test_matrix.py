"""The whole matrix: pinned for two examples, the same for the same input, and blind to other trials."""

import copy
import subprocess
import sys
from collections.abc import Callable

import msgspec
import pytest

from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import DocumentRefusedError, TamperedRecordError
from planner.gates import GATES
from planner.intake import read_evidence, read_plan
from planner.plan import plan_bytes, plan_parallelism
from planner.records.stress import FaultSizes, StressMatrix
from planner.stress import INJECTIONS, stress_bytes, stress_matrix
from tests.planner import documents
from tests.planner.corpus import AS_OF, CORPUS, Documents, shipped
from tests.shared import ROOT

RESULTS = {"c": "CAUGHT", "w": "WITHIN_LIMIT", "n": "NOT_DECLARED", "m": "MASKED", "-": "NOT_INJECTABLE"}
PINNED = {
    "worked": {
        # t-base-16, t-one-node, t-wide-16
        "cross_node_tensor": "c-c tensor_locality",
        "incomplete_telemetry links.peak_tx_bytes": "c-c telemetry",
        "incomplete_telemetry links.peak_rx_bytes": "c-c telemetry",
        "incomplete_telemetry links.sample_interval_s": "c-c telemetry",
        "incomplete_telemetry per_rank.device_used_peak_bytes": "ccc telemetry",
        "incomplete_telemetry load.longest_sequence_tokens": "ccc telemetry",
        "incomplete_telemetry load.ttft_ms": "ccc telemetry",
        "incomplete_telemetry load.output_tokens_total": "ccc telemetry",
        "incomplete_telemetry load.duration_s": "ccc telemetry",
        "incomplete_telemetry load.requests": "ccc telemetry",
        "memory_pressure": "wmw memory_headroom",
        "tail_latency": "ccc ttft",
        "low_throughput": "cmc throughput",
        "saturated_link": "c-m link_utilization",
        "slow_link": "---",
        "hot_expert": "---",
        "stage_bubble": "---",
        "slow_rank": "---",
        "rank_loss device": "nnn",
        "rank_loss node": "nnn",
        "stale_evidence": "nnn",
    },
    "blast-radius": {
        # t-node-replicas, t-stages-apart, t-wide-replicas
        "cross_node_tensor": "ccc tensor_locality",
        "incomplete_telemetry links.peak_tx_bytes": "-c- telemetry",
        "incomplete_telemetry links.peak_rx_bytes": "-c- telemetry",
        "incomplete_telemetry links.sample_interval_s": "-c- telemetry",
        "incomplete_telemetry per_rank.device_used_peak_bytes": "ccc telemetry",
        "incomplete_telemetry load.longest_sequence_tokens": "ccc telemetry",
        "incomplete_telemetry load.ttft_ms": "ccc telemetry",
        "incomplete_telemetry load.output_tokens_total": "ccc telemetry",
        "incomplete_telemetry load.duration_s": "ccc telemetry",
        "incomplete_telemetry load.requests": "ccc telemetry",
        "memory_pressure": "www memory_headroom",
        "tail_latency": "ccc ttft",
        "low_throughput": "ccc throughput",
        "saturated_link": "ccc link_utilization",
        "slow_link": "---",
        "hot_expert": "---",
        "stage_bubble": "---",
        "slow_rank": "---",
        "rank_loss device": "nnn",
        "rank_loss node": "wcw failure_domain",
        "stale_evidence": "nnn",
    },
}
"""Results of the trials in order of id, and the gate that every cell with one names."""


def drawn(matrix: StressMatrix) -> dict[str, str]:
    letters = {result: letter for letter, result in RESULTS.items()}
    return {
        f"{row.injection} {row.target}".strip(): " ".join(
            [
                "".join(letters[row.cells[name].result] for name in sorted(row.cells)),
                *sorted({cell.gate for cell in row.cells.values() if cell.gate}),
            ]
        )
        for row in matrix.rows
    }


@pytest.mark.parametrize("name", sorted(PINNED))
def test_matrix_of_an_example_is_pinned(name: str) -> None:
    assert drawn(stress_matrix(*shipped(name), AS_OF)) == PINNED[name]


def test_holes_of_the_worked_example_are_said() -> None:
    holes = stress_matrix(*shipped("worked"), AS_OF).holes
    assert [(hole.kind, f"{hole.injection} {hole.target}".strip()) for hole in holes] == [
        ("not_declared", "rank_loss device"),
        ("not_declared", "rank_loss node"),
        ("not_declared", "stale_evidence"),
        ("not_injectable", "slow_link"),
        ("not_injectable", "hot_expert"),
        ("not_injectable", "stage_bubble"),
        ("not_injectable", "slow_rank"),
    ]
    assert holes[1].sentence == "Rank loss: node. No declared limit reads it: declare failure_domain for a node."
    assert holes[1].trials == ("t-base-16", "t-one-node", "t-wide-16")


def test_a_limit_on_losses_closes_the_hole() -> None:
    limit = {"domain": "node", "horizon": "immediate", "max_groups_lost": 0, "because": "One node may go."}
    contract = documents.contract(("/gates/failure_domain", {"node": limit}))
    evidence = documents.evidence(("/contract_content_id", contract.content_id))
    assert drawn(stress_matrix(contract, evidence, AS_OF))["rank_loss node"] == "ccc failure_domain"


def test_sizes_that_the_contract_leaves_out_are_written_as_defaults() -> None:
    matrix = stress_matrix(*shipped("worked"), AS_OF)
    assert (matrix.sizes, matrix.defaults) == (FaultSizes(), FaultSizes.__struct_fields__)


def test_sizes_of_the_contract_are_used_and_said() -> None:
    contract = documents.contract(("/stress", {"memory_added_share": 0.3}))
    matrix = stress_matrix(contract, documents.evidence(("/contract_content_id", contract.content_id)), AS_OF)
    assert matrix.sizes == FaultSizes(memory_added_share=0.3)
    assert "memory_added_share" not in matrix.defaults
    assert drawn(matrix)["memory_pressure"] == "cmc memory_headroom"
    assert next(row.fault for row in matrix.rows if row.injection == "memory_pressure") == (
        "the peak of the fullest rank grows by 0.3 of its device's memory"
    )


def test_the_matrix_says_of_itself_that_it_is_injected_and_holds_nothing_to_sign() -> None:
    tree = msgspec.to_builtins(stress_matrix(*shipped("worked"), AS_OF))
    assert (tree["injected"], tree["claim"]) == (True, "INJECTED_FAULTS_NOT_A_PLAN_NOT_SIGNABLE")
    assert {"plan_id", "selected", "decision"} & tree.keys() == set()


def test_the_matrix_is_not_taken_for_a_plan() -> None:
    with pytest.raises(DocumentRefusedError) as refused:
        read_plan(stress_bytes(stress_matrix(*shipped("worked"), AS_OF)))
    assert refused.value.problems[-1].code == "document/schema"


# Properties


@pytest.mark.parametrize("name", sorted(CORPUS))
def test_documents_are_deeply_equal_before_and_after(name: str) -> None:
    contract, evidence = CORPUS[name]()
    before = copy.deepcopy((contract, evidence))
    plan = plan_bytes(plan_parallelism(contract, evidence, AS_OF))
    stress_matrix(contract, evidence, AS_OF)
    assert (contract, evidence) == before
    assert plan_bytes(plan_parallelism(contract, evidence, AS_OF)) == plan


@pytest.mark.parametrize("name", ["worked", "blast-radius"])
def test_a_trial_has_the_same_cells_whatever_other_trials_there_are(name: str) -> None:
    contract, evidence = shipped(name)
    whole = stress_matrix(contract, evidence, AS_OF)
    for trial in evidence.record.trials:
        tree = documents.example(name, "evidence")
        tree["trials"] = {trial: tree["trials"][trial]}
        alone = stress_matrix(contract, read_evidence(documents.raw(tree), contract), AS_OF)
        assert [row.cells[trial] for row in alone.rows] == [row.cells[trial] for row in whole.rows]


def test_bytes_are_the_same_in_another_process_with_another_hash_seed() -> None:
    program = (
        "import sys\nfrom planner.stress import stress_bytes, stress_matrix\n"
        "from tests.planner.corpus import shipped\n"
        f"sys.stdout.buffer.write(stress_bytes(stress_matrix(*shipped('worked'), {AS_OF!r})))\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert found == {stress_bytes(stress_matrix(*shipped("worked"), AS_OF))}


def test_written_bytes_read_back_as_the_matrix() -> None:
    matrix = stress_matrix(*shipped("blast-radius"), AS_OF)
    assert msgspec.json.decode(stress_bytes(matrix), type=StressMatrix) == matrix


def altered(contract: ContractDocument, evidence: EvidenceDocument) -> Documents:
    record = msgspec.structs.replace(evidence.record, trials={})
    return contract, EvidenceDocument(record, evidence.content_id, evidence.file_sha256, {})


def of_another_contract(contract: ContractDocument, evidence: EvidenceDocument) -> Documents:
    return documents.contract(("/owner", "another team")), evidence


@pytest.mark.parametrize(
    ("change", "error"),
    [
        pytest.param(altered, TamperedRecordError, id="altered behind intake"),
        pytest.param(of_another_contract, DocumentRefusedError, id="evidence of another contract"),
    ],
)
def test_the_door_is_the_planner_s(
    change: Callable[..., tuple[ContractDocument, EvidenceDocument]], error: type
) -> None:
    with pytest.raises(error):
        stress_matrix(*change(*shipped("worked")), AS_OF)


def test_every_injection_is_aimed_at_gates_that_exist_and_says_what_it_does() -> None:
    known = {gate.id for gate in GATES}
    assert [(one.id, set(one.gates) - known, bool(one.doc)) for one in INJECTIONS] == [
        (one.id, set(), True) for one in INJECTIONS
    ]


def test_reference_page_lists_every_injection_with_its_rule() -> None:
    page = (ROOT / "docs" / "reference" / "stress.md").read_text().splitlines()
    wanted = [
        f"| `{one.id}`<br>{one.title} | {one.doc} | {', '.join(f'`{gate}`' for gate in one.gates)} |"
        for one in INJECTIONS
    ]
    assert [line for line in page if line in wanted] == wanted
