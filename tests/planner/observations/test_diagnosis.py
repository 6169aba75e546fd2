"""A diagnosis of files: what was decided names ranks, stages and times; snapshots stand beside and have no say."""

import io
import json
import time
from pathlib import Path

import pytest

from planner.importers.source import Source
from planner.intake import read_evidence
from planner.observations.decided import Decided, decided, is_moe
from planner.observations.diagnosis import Diagnosis, Reading, diagnosed, diagnosis_tree, read_diagnosis
from planner.observations.slowest_text import diagnosis_lines
from tests.planner.importers.test_nccl_ras import COUNTS, LATE, answer, text
from tests.planner.observations.late_traces import DECODE_US, TENSOR, late, log_file, trace_file

EXAMPLE = Path("examples/late-rank/evidence.json")


@pytest.fixture(scope="module", name="known")
def known_fixture() -> Decided:
    evidence = read_evidence(EXAMPLE.read_bytes()).record
    trial = evidence.trials["t-moved"]
    return decided(trial, moe=is_moe(evidence.identities[trial.identity_id]))


def diagnosis(known: Decided, *files: bytes) -> Diagnosis:
    reading = Reading()
    for number, data in enumerate(files):
        assert reading.add(Source(f"file-{number}", io.BytesIO(data))) is not None
    return diagnosed(reading, known)


def test_a_rank_is_named_by_the_decided_node_and_device(known: Decided) -> None:
    found = diagnosis(known, trace_file(late(1)), log_file(0))
    assert found.slowest is not None
    assert (found.slowest.pattern, found.slowest.rank, found.slowest.nodes) == ("one_rank", 1, ("node-a",))
    assert (found.places[1].node, found.places[1].device) == ("node-a", "a1")
    assert found.slowest.earliest is not None
    assert found.reporter is not None
    assert (found.slowest.earliest.rank, found.reporter.rank) == (1, 0)
    assert list(found.timelines) == [0, 1, 2, 3]


def test_ranks_of_one_stage_are_told_from_the_layout(known: Decided) -> None:
    assert known.stages == {rank: rank // 4 for rank in range(8)}
    found = diagnosis(known, trace_file(late(4, 5, 6, 7))).slowest
    alone = diagnosis(Decided(), trace_file(late(4, 5, 6, 7))).slowest
    assert found is not None
    assert alone is not None
    assert (found.pattern, alone.pattern) == ("one_node", "one_node")
    spread = Decided(places={rank: (f"n{rank % 2}", f"d{rank}") for rank in range(8)}, stages=known.stages)
    one = diagnosis(spread, trace_file(late(4, 5, 6, 7))).slowest
    assert one is not None
    assert (one.pattern, one.nodes) == ("one_stage", ("n0", "n1"))


def test_moving_slower_than_the_evidence_is_symmetric(known: Decided) -> None:
    assert known.expected_us[("all_reduce", 131072)] == pytest.approx(DECODE_US)
    slow, usual = (diagnosis(known, trace_file(move=move)).slowest for move in (DECODE_US * 1.2, DECODE_US))
    assert slow is not None
    assert usual is not None
    assert (slow.pattern, usual.pattern) == ("symmetric", "none")


def test_a_hand_off_that_queues_while_decode_idles_is_told(known: Decided) -> None:
    assert known.handoffs == {}
    tree = json.loads(EXAMPLE.read_bytes())
    windows = tree["trials"]["t-moved"]["windows"]
    name = next(name for name, window in windows.items() if window["purpose"] == "counted")
    windows[name]["handoff"] = {
        "queued_first_third_mean": 2,
        "queued_last_third_mean": 9,
        "decode_idle_share": 0.4,
    }
    trial = read_evidence(json.dumps(tree).encode()).record.trials["t-moved"]
    told = diagnosis(decided(trial, moe=False), trace_file(late(1)))
    assert list(told.handoffs) == [name]
    assert f"window {name}: hand-off or allocation on the decode side" in "\n".join(diagnosis_lines(told))


def test_traces_of_ranks_are_one_trace(known: Decided) -> None:
    head, *rows = trace_file(late(1)).splitlines(keepends=True)
    parts = [head + b"".join(row for row in rows if row.startswith(f"{rank},".encode())) for rank in range(8)]
    assert diagnosis(known, *parts).slowest == diagnosis(known, trace_file(late(1))).slowest


def test_what_a_trace_lacks_of_the_decided_map_is_said(known: Decided) -> None:
    found = diagnosis(known, trace_file(late(1), groups=TENSOR[:1])).slowest
    assert found is not None
    assert found.notes == ("4 of 8 decided ranks are not in the trace: ranks 4, 5, 6, 7",)
    strange = diagnosis(Decided(places={0: ("n", "d")}), trace_file(late(1), groups=TENSOR[:1])).slowest
    assert strange is not None
    assert strange.notes == ("the decided map has no ranks 1, 2, 3: they are named as the trace has them",)


def test_a_healthy_snapshot_changes_nothing_of_who_is_late(known: Decided) -> None:
    found = diagnosis(known, trace_file(late(1)), json.dumps(answer(5, 5)).encode())
    assert found.slowest == diagnosis(known, trace_file(late(1))).slowest
    (snapshot,) = found.snapshots
    assert (snapshot.version, snapshot.at) == ("2.29.1", "2025-12-19 13:06:53")
    assert [(one.ranks, one.status, one.errors) for one in snapshot.communicators] == [(2, "COMPLETE", "OK")]


def test_a_snapshot_tells_counts_that_differ_and_ranks_that_do_not_answer() -> None:
    (snapshot,) = diagnosis(Decided(), json.dumps(answer(7, 7, 6, missing=1)).encode()).snapshots
    (one,) = snapshot.communicators
    assert (one.status, one.errors) == ("INCOMPLETE", "MISMATCH")
    assert one.operations == ("all_reduce: 6 by rank 2; 7 by ranks 0, 1",)
    assert [(rank.rank, rank.device, rank.status, rank.launched) for rank in one.standing_out] == [
        (0, 0, "unresponsive", None),
        (2, 2, "other counts", 6),
    ]
    assert "192.0.2" not in repr(snapshot)


def test_a_snapshot_counts_in_numbers_alone() -> None:
    tree = answer(5, 5, 4)
    (communicator,) = tree["communicators"]
    communicator["size"] = True
    communicator["ranks"][0]["rank"], communicator["ranks"][1]["rank"] = True, "7" * 100
    communicator["ranks"][2]["cuda_dev"] = 10**30
    (found,) = diagnosis(Decided(), json.dumps(tree).encode()).snapshots[0].communicators
    assert found.ranks == 3
    assert found.operations == ("all_reduce: 4 by rank 2; 5 by ranks ?, ?",)
    assert [(one.rank, one.device) for one in found.standing_out] == [(2, None)]


def test_a_snapshot_of_ranks_that_each_count_something_else_is_read_once() -> None:
    tree = answer(*range(8000))
    (communicator,) = tree["communicators"]
    for rank in communicator["ranks"]:
        number = rank["rank"]
        rank["collective_counts"] = {f"kind-{number % 4000}-{part}": number for part in range(2)}
    began = time.process_time()
    (found,) = diagnosis(Decided(), json.dumps(tree).encode()).snapshots[0].communicators
    assert time.process_time() - began < 6  # every kind of every rank takes half a minute
    assert (len(found.operations), len(found.standing_out)) == (1000, 1000)


def test_a_snapshot_of_the_text_keeps_the_words_of_the_tool() -> None:
    raw = text(LATE, more=COUNTS.format(6650)).encode()
    (snapshot,) = diagnosis(Decided(), raw).snapshots
    assert (snapshot.version, snapshot.nodes, snapshot.devices) == ("2.26.2", 4, 32)
    (group,) = snapshot.communicators
    assert (group.name, group.count, group.status, group.errors) == ("group 0", 1, "RUNNING", "MISMATCH")
    assert group.operations == (
        "#0-0 (27a079b828ff1a75) 26 ranks have launched up to operation 6650",
        "#0-0 (27a079b828ff1a75) 6 ranks have launched up to operation 6649",
    )


def test_of_a_file_without_anything_of_use_nothing_is_said() -> None:
    reading = Reading()
    assert reading.add(Source("notes", io.BytesIO(b"all is well\n"))) is None


def test_logs_alone_name_who_reported_and_nobody_who_was_late(known: Decided) -> None:
    found = diagnosis(known, log_file(3))
    assert found.slowest is None
    assert list(diagnosis_lines(found)) == ["reported first: rank 3 (node-a a3), allreduce 41"]


def test_a_diagnosis_is_read_as_it_was_written(known: Decided) -> None:
    found = diagnosis(known, trace_file(late(1)), log_file(0), json.dumps(answer(7, 6)).encode())
    assert read_diagnosis(json.dumps(diagnosis_tree(found)).encode()) == found


def test_timelines_of_a_large_group_are_those_who_waited_longest_and_the_late_rank() -> None:
    group = (("tp-0", tuple(range(300))),)
    found = diagnosis(Decided(), trace_file(late(299), groups=group, rounds=3))
    assert len(found.timelines) == 256
    assert 299 in found.timelines
    assert found.around is not None
    assert found.around.rank == 299
