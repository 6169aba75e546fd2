"""``topogate requalify``: what to measure again on stdout; 0 where nothing is to be done, 1 where something is."""

import json
from pathlib import Path

import pytest

from planner.command import main
from tests.planner.documents import EXAMPLES, changed, example, raw

Capture = pytest.CaptureFixture[str]
CONTRACT, EVIDENCE = (str(EXAMPLES / "worked" / f"{kind}.json") for kind in ("contract", "evidence"))
AS_OF = ["--as-of", "2026-10-01T00:00:00Z"]


def newer(folder: Path, pointer: str, value: object) -> str:
    path = folder / "newer.json"
    path.write_bytes(raw(changed(example("worked", "contract"), (pointer, value))))
    return str(path)


def test_a_router_asks_for_loads_again(tmp_path: Path, capsys: Capture) -> None:
    to = newer(tmp_path, "/identity/stack/router/policy", "hash")
    assert main(["requalify", CONTRACT, "--to", to, "--evidence", EVIDENCE, *AS_OF]) == 1
    key = "/identity/stack/router/policy"
    assert capsys.readouterr().out.splitlines() == [
        f'router: {key} "least-outstanding" -> "hash" (/stack/router)',
        f"measure again: link_utilization inter_node; {key}",
        f"measure again: memory_headroom worst_rank; {key}",
        f"measure again: ttft saturated_p95, single_p95; {key}",
        f"measure again: throughput saturated; {key}",
        f"measure again: evidence_required collectives, device_memory, rails, tails; {key}",
        f"judge again: identity; {key}",
        f"run again: single; of t-base-16, t-wide-16, t-one-node; {key}",
        f"run again: saturated; of t-base-16, t-wide-16, t-one-node; {key}",
        f"run again: saturated/trace; of t-base-16, t-wide-16, t-one-node; {key}",
        f"run again: fault/rank_loss/saturated; {key}",
        "stays valid: rank_count; model_divisibility; placement; tensor_locality tensor",
    ]


def test_a_limit_is_judged_on_the_evidence_there_is(tmp_path: Path, capsys: Capture) -> None:
    to = newer(tmp_path, "/gates/ttft/saturated_p95/max_ms", 400)
    assert main(["requalify", CONTRACT, "--to", to, "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "topogate.requalification/v1"
    assert answer["changes"] == [
        {
            "key": "/gates/ttft/saturated_p95/max_ms",
            "kind": "limit",
            "section": "/gates",
            "before": 500,
            "after": 400,
            "counts": False,
            "load_point": None,
        }
    ]
    assert [(gate["gate"], gate["how"]) for gate in answer["gates"]] == [("ttft", "judge")]
    assert answer["runs"] == []


def test_the_same_contract_asks_for_nothing(capsys: Capture) -> None:
    assert main(["requalify", CONTRACT, "--to", CONTRACT]) == 0
    assert capsys.readouterr().out == "nothing changed\n"


def test_reports_of_machines_are_held_against_the_contract(tmp_path: Path, capsys: Capture) -> None:
    identity = changed(example("worked", "contract"), ("/identity/stack/driver/version", "600"))["identity"]
    report = {
        "schema": "topogate.identity/v1",
        "host": "node-a",
        "collected_at": "2026-10-01T00:00:00Z",
        "identity": identity,
    }
    (tmp_path / "a.json").write_text(json.dumps(report))
    assert main(["requalify", CONTRACT, "--report", str(tmp_path / "a.json")]) == 1
    out = capsys.readouterr().out
    assert out.startswith('driver: /identity/stack/driver/version "590.44" -> "600" (/stack/driver)\nmeasure again: ')


def of_host(host: str, identity: object, **more: object) -> dict[str, object]:
    collected = {"schema": "topogate.identity/v1", "host": host, "collected_at": "2026-10-01T00:00:00Z"}
    return {**collected, "identity": identity, **more}


def changes(folder: Path, capsys: Capture, *reports: dict[str, object], plan: str = "") -> list[tuple[str, object]]:
    """What reports tell of the worked example, and what they say instead."""
    asked = ["requalify", CONTRACT, "--format", "json", *(["--plan", plan] if plan else [])]
    for number, report in enumerate(reports):
        (folder / f"{number}.json").write_text(json.dumps(report))
        asked += ["--report", str(folder / f"{number}.json")]
    main(asked)
    return [(each["key"], each["after"]) for each in json.loads(capsys.readouterr().out)["changes"]]


@pytest.fixture
def plan(tmp_path: Path, capsys: Capture) -> str:
    main(["plan", CONTRACT, EVIDENCE, *AS_OF, "--format", "json"])
    (tmp_path / "plan.json").write_text(capsys.readouterr().out)
    return str(tmp_path / "plan.json")


def test_a_host_answers_for_what_it_says_alone(tmp_path: Path, capsys: Capture) -> None:
    report = of_host("node-a", {"stack": {"driver": {"version": "600"}}})
    assert changes(tmp_path, capsys, report) == [("/identity/stack/driver/version", "600")]


def test_of_hosts_that_contradict_each_other_the_one_that_differs_is_told(tmp_path: Path, capsys: Capture) -> None:
    versions = ("590.44", "600", "610")
    reports = [of_host(f"node-{at}", {"stack": {"driver": {"version": at}}}) for at in versions]
    assert changes(tmp_path, capsys, *reports) == [("/identity/stack/driver/version", "600")]


def test_reports_that_were_put_together_answer_for_every_key(tmp_path: Path, capsys: Capture) -> None:
    found = changes(tmp_path, capsys, of_host("node-a, node-b", {"stack": {"driver": {"version": "590.44"}}}))
    assert ("/identity/model/name", None) in found


def test_ranks_are_held_against_the_map_of_the_plan(plan: str, tmp_path: Path, capsys: Capture) -> None:
    seat = json.loads(Path(plan).read_text())["selected"]["rank_map"][0]
    moved = {"world_size": 16, "ranks": [{"rank": 0, "node": seat["node"], "device": "elsewhere"}]}
    report = of_host("node-a", {}, ranks_seen=moved)
    told = ("/identity/placement/rank_map_digest", "another map: rank_map/0/device")
    assert changes(tmp_path, capsys, report, plan=plan) == [told]
    assert changes(tmp_path, capsys, report) == []


def test_a_damaged_file_is_refused(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert main(["requalify", CONTRACT, "--report", str(tmp_path / "x.json")]) == 2
    assert "[document/schema]" in capsys.readouterr().err
