"""``topogate plan``: result on stdout, remarks on stderr, exit codes, both files' problems at once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.command import main
from planner.intake import read_plan
from planner.plan import plan_bytes
from tests.planner.documents import ABSENT, Change, changed, raw
from tests.planner.fleet import a_contract, a_trial, documents

AS_OF = "2026-10-01T00:00:00Z"
EXAMPLES = Path(__file__).parents[2] / "examples"
WORKED = [str(EXAMPLES / "worked" / "contract.json"), str(EXAMPLES / "worked" / "evidence.json")]
Capture = pytest.CaptureFixture[str]


def written(folder: Path, trials: dict[str, Any], *changes: Change) -> list[str]:
    """Write a contract and its evidence, the evidence changed, and return their paths."""
    contract = a_contract()
    _, evidence = documents(contract, trials)
    tree = {
        "schema": "topogate.evidence/v1",
        "contract_content_id": evidence.record.contract_content_id,
        "scope": contract["slot"],
        "provenance": {
            "collected_by": "capacity",
            "collected_at": "2026-09-20T12:00:00Z",
            "tool": {"name": "bench", "version": "1"},
        },
        "identities": {"run": contract["identity"]},
        "trials": trials,
    }
    paths = [folder / "contract.json", folder / "evidence.json"]
    for path, content in zip(paths, (contract, changed(tree, *changes)), strict=True):
        path.write_bytes(raw(content))
    return [str(path) for path in paths]


def test_the_worked_example_prints_its_seven_lines_and_nothing_else(capsys: Capture) -> None:
    assert main(["plan", *WORKED, "--as-of", AS_OF]) == 0
    assert capsys.readouterr().out == (
        "example=illustrative_only\n"
        "decision=SELECT_TOPOLOGY\n"
        "topology=tp4-pp2-ep2-dp1\n"
        "world_size=16;nodes=2;gpus_per_node=8\n"
        "peak_memory_gib=50.000;ttft_ms=420.000\n"
        "tokens_per_second=960.000;inter_node_link_utilization=0.600\n"
        "claim=LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK\n"
    )


def test_the_program_itself_prints_the_same(capsys: Capture) -> None:
    main(["plan", *WORKED, "--as-of", AS_OF])
    expected = capsys.readouterr()
    program = Path(sys.executable).with_name("topogate")
    done = subprocess.run([program, "plan", *WORKED, "--as-of", AS_OF], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (expected.out, expected.err)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_output_that_takes_nothing_is_said_in_one_line() -> None:
    program = Path(sys.executable).with_name("topogate")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "schema", "plan"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "topogate: expected an output that can be written, found No space left on device\n",
    )


@pytest.mark.parametrize(
    ("trial", "decision", "code"),
    [
        pytest.param(a_trial(6400, tp=8), "SELECT_TOPOLOGY", 0, id="selected"),
        pytest.param(a_trial(100, tp=8), "NO_ELIGIBLE_TOPOLOGY", 3, id="none eligible"),
        pytest.param(
            changed(a_trial(6400, tp=8), ("/windows/w0/load/duration_s", None)), "INCONCLUSIVE", 4, id="inconclusive"
        ),
    ],
)
def test_the_exit_code_is_the_decision(
    trial: dict[str, Any], decision: str, code: int, tmp_path: Path, capsys: Capture
) -> None:
    assert main(["plan", *written(tmp_path, {"t": trial}), "--as-of", AS_OF]) == code
    assert capsys.readouterr().out.splitlines()[0] == f"decision={decision}"


def test_the_json_form_is_the_canonical_plan_alone(capsys: Capture) -> None:
    assert main(["plan", *WORKED, "--as-of", AS_OF, "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    raw_plan = printed.out.removesuffix("\n").encode()
    plan = read_plan(raw_plan)
    assert plan_bytes(plan) == raw_plan
    assert plan.as_of == AS_OF


def test_without_an_as_of_time_the_present_is_used_and_said(tmp_path: Path, capsys: Capture) -> None:
    main(["plan", *written(tmp_path, {"t": a_trial(6400, tp=8)})])
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("as-of: 20")
    assert said.endswith("Z")


def test_remarks_go_to_stderr(tmp_path: Path, capsys: Capture) -> None:
    rival = changed(a_trial(7000, tp=8), ("/windows/w0/load/duration_s", None))
    main(["plan", *written(tmp_path, {"a": a_trial(6400, tp=8), "r": rival}), "--as-of", AS_OF])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("undeclared family fabric: ")
    assert [line.partition(":")[0] for line in lines if line.startswith("contender")] == [
        "contender r (tp8-pp1-ep1-dp1)"
    ]
    assert lines[-1] == f"as-of: {AS_OF}"


def test_explain_prints_every_gate_of_every_candidate_after_the_result(tmp_path: Path, capsys: Capture) -> None:
    main(["plan", *written(tmp_path, {"t": a_trial(100, tp=8)}), "--as-of", AS_OF, "--explain"])
    result, _, explanation = capsys.readouterr().out.partition("\n\n")
    assert result.endswith("claim=LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK")
    assert "  FAIL throughput.floor: " in explanation
    assert "    limit at /gates/throughput/floor/min_output_tokens_per_s" in explanation
    assert "  NOT_DECLARED cost" in explanation


BROKEN = [("/scope", "demo/other"), ("/trials/t/topology/instances/0/tp", True), ("/provenance", ABSENT)]


def test_every_problem_is_listed_as_json(tmp_path: Path, capsys: Capture) -> None:
    paths = written(tmp_path, {"t": a_trial(6400, tp=8)}, *BROKEN)
    assert main(["plan", *paths, "--format", "json"]) == 2
    [line] = capsys.readouterr().out.splitlines()
    answer = json.loads(line)
    assert (answer["file"], answer["ok"]) == (paths[1], False)
    assert sorted(problem["pointer"] for problem in answer["problems"]) == [
        "/provenance",
        "/scope",
        "/trials/t/topology/instances/0/tp",
    ]


def test_every_problem_is_listed_on_stderr_with_line_pointer_expected_and_found(
    tmp_path: Path, capsys: Capture
) -> None:
    paths = written(tmp_path, {"t": a_trial(6400, tp=8)}, *BROKEN[:1])
    assert main(["plan", *paths]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        f'{paths[1]}:4:2: /scope: expected the contract\'s slot, "demo/fleet", found "demo/other" '
        "[document/other_slot]\n"
    )


def test_both_files_are_judged_when_both_are_bad(tmp_path: Path, capsys: Capture) -> None:
    for name in ("contract.json", "evidence.json"):
        (tmp_path / name).write_text("{")
    paths = [str(tmp_path / "contract.json"), str(tmp_path / "evidence.json")]
    assert main(["plan", *paths, "--format", "json"]) == 2
    assert [json.loads(line)["file"] for line in capsys.readouterr().out.splitlines()] == paths


def test_a_file_that_is_not_there_is_bad_input(tmp_path: Path, capsys: Capture) -> None:
    missing = str(tmp_path / "none.json")
    assert main(["plan", WORKED[0], missing, "--format", "json"]) == 2
    assert json.loads(capsys.readouterr().out) == {
        "file": missing,
        "ok": False,
        "problems": [
            {
                "code": "file/unreadable",
                "pointer": "",
                "expected": "a file that can be read",
                "found": "no such file",
            }
        ],
    }


def test_a_wrong_as_of_time_is_a_usage_error(capsys: Capture) -> None:
    assert main(["plan", *WORKED, "--as-of", "yesterday"]) == 2
    assert "expected a UTC time such as 2026-11-28T17:12:00Z, found 'yesterday'" in capsys.readouterr().err
