"""Real files of one team and machine, against the shipped contract of that model."""

from pathlib import Path

from planner.builder import (
    Draft,
    DraftFile,
    DraftState,
    add_files,
    answer,
    assemble,
    confirm,
    new_draft,
    read_file,
    settle,
    state_of,
)
from planner.intake import ContractDocument, read_contract, read_evidence
from planner.plan import plan_parallelism
from tests.planner.builder.kit import BY
from tests.shared import ROOT, shared_path

AS_OF = "2026-10-01T00:00:00Z"
NAMES = (
    *(f"inferencex_raw/gptoss_fp4_h200_tp{tp}_conc64_isl1024_osl1024.json" for tp in (2, 4, 8)),
    *(f"vllm_server_log/vllm0.22.1_gptoss120b_h200_tp{tp}_conc{load}.log" for tp, load in ((2, 64), (4, 64), (8, 4))),
    "nvidia_topo/h200_8gpu_8nic_phb_ansi.txt",
    "hf_config/openai--gpt-oss-120b_config.json",
    "nccl_tests/h200_nccl_single_node_gpu0-3_worker0.out",
)
SAID = {
    "/identities/*/model/name": "gpt-oss-120b",
    "/identities/*/stack/engine/name": "vllm",
    "/identities/*/precision/weights": "fp4",
    "/identities/*/precision/activations": "bf16",
    "/identities/*/hardware/devices/*/type": "h200",
}
"""What the contract calls by another name than the files do."""


def contract() -> ContractDocument:
    return read_contract((ROOT / "examples" / "gpt-oss-120b-h200" / "contract.json").read_bytes())


def test_a_real_bundle_becomes_evidence_that_the_planner_judges() -> None:
    document = contract()
    paths = [shared_path(f"cases/files/{name}") for name in NAMES]
    draft = add_files(new_draft(document), document, [_file(path) for path in paths]).draft
    assert {name: list(trial.windows) for name, trial in draft.trials.items()} == {
        f"tp{tp}": ["saturated"] for tp in (2, 4, 8)
    }
    for at, value in SAID.items():
        draft = settle(draft, at, by=BY, because="The contract's word for it.", value=value)
    draft = answer(draft, document, "/provenance/collected_by", "the team of the machine", by=BY)
    for _ in range(3):
        asked = [one.field for one in _looked(draft, document).questions if one.answered is None and one.proposals]
        draft = confirm(draft, document, asked, by=BY) if asked else draft
    made = assemble(draft, document)
    assert made.open == ()
    plan = plan_parallelism(document, read_evidence(made.document, document), AS_OF)
    readings = {
        name: candidate.gates["throughput"].limits["saturated"].sentence for name, candidate in plan.candidates.items()
    }
    assert readings["tp4"].startswith("Output rate at saturated is 4,558.7 tok/s in window saturated")
    for candidate in plan.candidates.values():
        assert candidate.failing == ("throughput",)
        assert candidate.unknown == ("telemetry", "memory_headroom", "ttft")


def _file(path: Path) -> DraftFile:
    with path.open("rb") as handle:
        return read_file(path.name, handle)


def _looked(draft: Draft, document: ContractDocument) -> DraftState:
    return state_of(draft, document, AS_OF)
