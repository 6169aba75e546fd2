"""``topogate launch``: files on stdout or in a folder; 0 where exact, 1 where not, 2 where there is none."""

import json
from pathlib import Path

import pytest

from planner.canonical import content_id
from planner.command import main
from planner.intake import read_contract, read_evidence
from planner.plan import plan_bytes, plan_parallelism
from tests.planner.documents import raw
from tests.planner.factories import a_contract, an_evidence

Capture = pytest.CaptureFixture[str]
AS_OF = "2026-10-02T00:00:00Z"


@pytest.fixture
def written(tmp_path: Path) -> list[str]:
    """Write contract, evidence and plan of four devices with vLLM; return what the command takes."""
    contract = a_contract(("/identity/stack/engine/name", "vllm"))
    evidence = an_evidence(contract, ("/trials/t/topology/layout", "vllm"))
    trees = {"contract": raw(contract), "evidence": raw(evidence)}
    read = read_contract(trees["contract"])
    trees["plan"] = plan_bytes(plan_parallelism(read, read_evidence(trees["evidence"], read), AS_OF))
    for name, text in trees.items():
        (tmp_path / f"{name}.json").write_bytes(text)
    return [str(tmp_path / f"{name}.json") for name in trees]


def test_script_on_stdout(written: list[str], capsys: Capture) -> None:
    named = ["--decision", "D-0012 r1", "--subject", f"sha256:{'b' * 64}", "--expires", "2026-12-01T00:00:00Z"]
    assert main(["launch", *written, "--for", "vllm", *named]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[:5] == [
        "#!/usr/bin/env bash",
        "# demo/four-devices: tp2-pp2-ep1-dp1 by vLLM, vllm 1",
        "# decision: D-0012 r1",
        f"# subject: sha256:{'b' * 64}",
        "# expires: 2026-12-01T00:00:00Z",
    ]
    assert "#   node-a: Which rank uses which of a-nic is the collective library's choice." in out
    assert "#   /headroom/memory: The reserve, a share of 0.2, has no argument: " in out


def test_without_a_decision_the_label_says_so(written: list[str], capsys: Capture) -> None:
    assert main(["launch", *written, "--for", "lws", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "topogate.launch/v1"
    assert (answer["label"]["decision"], answer["is_exact"]) == (None, True)
    assert "# decision: none named; this is of a plan, not of a decision in force\n" in answer["files"][0]["text"]
    first, second = answer["engines"][0]["starts"]
    assert (first["node"], first["ranks"], second["ranks"]) == ("node-a", [0, 1], [2, 3])
    assert second["argv"][-3:] == ["--master-port", "29501", "--headless"]


def test_files_are_written_where_none_is(written: list[str], tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "made"
    assert main(["launch", *written, "--for", "vllm", "--output", str(folder)]) == 0
    assert [path.name for path in folder.iterdir()] == ["launch.sh"]
    assert main(["launch", *written, "--for", "vllm", "--output", str(folder)]) == 2
    assert "File exists" in capsys.readouterr().err


def test_another_engine_or_plan_is_refused(written: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["launch", *written, "--for", "sglang"]) == 2
    assert capsys.readouterr().err == (
        "topogate: t was measured with vLLM: expected a launch for it, found one for SGLang\n"
    )
    tree = json.loads(Path(written[2]).read_bytes())
    tree["contract"]["content_id"] = f"sha256:{'0' * 64}"
    del tree["plan_id"]
    tree["plan_id"] = content_id(tree)
    Path(written[2]).write_text(json.dumps(tree))
    assert main(["launch", *written, "--for", "vllm"]) == 2
    assert capsys.readouterr().err.startswith("topogate: expected the plan of contract sha256:")
