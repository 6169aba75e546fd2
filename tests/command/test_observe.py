"""``topogate observe``: scrapes to a batch, and batches against a plan: 1 where a limit is broken."""

import json
from pathlib import Path

import pytest

from planner.command import main
from planner.plan import plan_bytes, plan_parallelism
from tests.planner.documents import raw
from tests.planner.factories import BECAUSE, SATURATED, a_contract, an_evidence, documents
from tests.planner.importers.exporter_samples import dcgm, vllm
from tests.planner.observations.batches import SUBJECT, a_tree, level, times

Capture = pytest.CaptureFixture[str]
GIB = 2**30
GATES = {"memory_headroom": {"ranks": {"load_point": SATURATED, "because": BECAUSE}}}
SPAN = ["--start", "2026-11-30T12:00:00Z", "--end", "2026-11-30T12:00:10Z"]
OF = ["--slot", "demo/four-devices", "--subject", SUBJECT, "--source", "exporters", *SPAN]


@pytest.fixture
def decided(tmp_path: Path) -> list[str]:
    """Write contract, evidence and plan of four devices; return their names."""
    contract = a_contract(gates=GATES)
    read = documents(GATES)
    texts = {
        "contract": raw(contract),
        "evidence": raw(an_evidence(contract)),
        "plan": plan_bytes(plan_parallelism(*read, "2026-10-02T00:00:00Z")),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.json").write_bytes(text)
    return [str(tmp_path / f"{name}.json") for name in texts]


def batch(folder: Path, name: str, used: list[int], **fields: object) -> str:
    segments = [{"rank": rank, "metrics": {"device_used_bytes": level(gib * GIB)}} for rank, gib in enumerate(used)]
    (folder / name).write_text(json.dumps(a_tree(*segments, **fields)))
    return str(folder / name)


def test_two_scrapes_become_a_batch(tmp_path: Path, capsys: Capture) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text(vllm())
    second.write_text(vllm(50, scale=2))
    assert main(["observe", "convert", str(first), str(second), *OF, "--group", "0=0"]) == 0
    out, err = capsys.readouterr()
    tree = json.loads(out)
    assert err == ""
    assert (tree["schema"], tree["subject"], len(tree["segments"])) == ("topogate.observations/v1", SUBJECT, 1)
    assert tree["segments"][0]["metrics"]["output_tokens"] == {"count": 1, "sum": 500}


def test_what_is_left_out_is_told_and_an_empty_batch_is_none(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.txt").write_text(dcgm())
    assert main(["observe", "convert", str(tmp_path / "a.txt"), *OF]) == 2
    err = capsys.readouterr().err
    assert err.splitlines() == [
        "scrapes: document: expected a series that belongs to a rank, group or link, "
        f"found device {at}: which rank it is was not said (--rank {at}=RANK) [observations/empty]"
        for at in range(2)
    ]
    assert main(["observe", "convert", str(tmp_path / "absent"), *OF]) == 2


def test_a_rank_over_its_limit_comes_first(decided: list[str], tmp_path: Path, capsys: Capture) -> None:
    first = batch(tmp_path, "one.json", [50, 51, 65, 54])
    second = batch(tmp_path, "two.json", [50, 51, 52, 54], started_at="2026-11-30T12:05:00Z")
    assert main(["observe", "compare", *decided, first, second]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("BREACH device_used_bytes max of rank 2: 65 GiB, limit 64 GiB, measured 52 GiB, 101.562 % used")
    assert [line.split(" ")[0] for line in lines] == ["BREACH", "WITHIN", "WITHIN", "WITHIN"]


def test_a_value_in_the_open_bucket_says_from_where_on(decided: list[str], tmp_path: Path, capsys: Capture) -> None:
    segment = {"group": 0, "metrics": {"ttft_ms": times([100.0, 8000.0], [0, 0, 1000])}}
    (tmp_path / "b.json").write_text(json.dumps(a_tree(segment)))
    assert main(["observe", "compare", *decided, str(tmp_path / "b.json")]) == 0
    last = "DRIFT ttft_ms p95 of group 0: 7,512.1 ms or more, measured 400 ms. It lies in the last, open bucket."
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_within_limits_is_told_as_json(decided: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["observe", "compare", *decided, batch(tmp_path, "b.json", [50]), "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "topogate.compared/v1"
    (one,) = answer["compared"]
    assert (one["rank"], one["state"], one["drifted"], one["limit_at"]) == (
        0,
        "WITHIN",
        False,
        "/gates/memory_headroom/ranks",
    )
    assert one["qualified_at"] == "/trials/t/windows/w1/per_rank/device_used_peak_bytes/values/0"


def test_batches_of_another_slot_are_refused(decided: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["observe", "compare", *decided, batch(tmp_path, "b.json", [50], slot="other")]) == 2
    assert capsys.readouterr().err == "topogate: expected batches of demo/four-devices, found other\n"
    (tmp_path / "x.json").write_text("{}")
    assert main(["observe", "compare", *decided, str(tmp_path / "x.json")]) == 2


ROWS = "rank,node,device,group,kind,bytes,start,end\n" + "".join(
    f"{rank},host-{rank // 2},cuda:{rank % 2},tp-0,AllReduce,4096,{nth * 10_000 + (4000 if rank == 3 else 1000)},"
    f"{nth * 10_000 + 4200}\n"
    for nth in range(5)
    for rank in range(4)
)


def test_the_slowest_rank_of_a_trace(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "trace.csv").write_text(ROWS)
    (tmp_path / "engine.log").write_text(
        "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE,\n"
    )
    assert main(["observe", "slowest", str(tmp_path / "trace.csv"), "--log", str(tmp_path / "engine.log")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "pattern=one_rank;late=5 of 5 collectives",
        "points at rank 3 (node-1 cuda:1): 100% of what was late",
    ]
    assert "reported first: rank 1 (node-0 cuda:1), allreduce 9: it waited, and is not who was late first" in lines


def test_the_decided_map_names_node_and_device(decided: list[str], tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "trace.csv").write_text(ROWS)
    command = ["observe", "slowest", str(tmp_path / "trace.csv"), "--evidence", decided[1], "--format", "json"]
    assert main([*command, "--trial", "t"]) == 0
    answer = json.loads(capsys.readouterr().out)
    found = answer["slowest"]
    assert (answer["schema"], found["rank"], found["nodes"]) == ("topogate.slowest/v1", 3, ["node-b"])
    assert found["ranks"][3]["device"] == "b1"
    assert answer["places"]["3"] == {"node": "node-b", "device": "b1"}
    assert [span["waiting_us"] for span in answer["timelines"]["0"]] == [3000.0] * 5
    assert main([*command, "--trial", "u"]) == 2
    assert main(["observe", "slowest", decided[0]]) == 2


def test_snapshots_are_shown_beside_and_are_no_verdict(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "trace.csv").write_text(ROWS)
    (tmp_path / "ras.json").write_text(json.dumps({"nccl_version": "2.29.1", "communicators": []}))
    command = ["observe", "slowest", str(tmp_path / "trace.csv")]
    assert main([*command, "--ras", str(tmp_path / "ras.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "pattern=one_rank;late=5 of 5 collectives"
    assert lines[-2].endswith("ras.json line 1: NCCL 2.29.1")
    assert lines[-1].startswith("snapshots: A snapshot of one moment and no verdict")
    assert main([*command, "--ras", str(tmp_path / "trace.csv")]) == 2
    assert capsys.readouterr().err.endswith("trace.csv: expected snapshots of NCCL RAS, found a trace of collectives\n")
