"""Profiles of collectives as CSV."""

import pytest

from tests.planner.importers.samples import codes, imported, only_run, place, values

HEADER = (
    ",time_stats.all_reduce.min,time_stats.all_reduce.max,time_stats.all_reduce.mean,time_stats.all_reduce.median,"
    "time_stats.all_reduce.std,rank,num_workers,size,collective,devices_per_node,max_devices_per_node\n"
)


def row(rank: int = 0, workers: int = 4, size: int = 2048, per_node: int = 2, median: float = 0.04) -> str:
    return f"0,0.03,0.08,0.05,{median},0.02,{rank},{workers},{size},all_reduce,{per_node},8\n"


def test_every_size_and_rank_has_its_own_times() -> None:
    read = imported(HEADER + row() + row(1) + row(0, size=4096))
    (run,) = read.runs
    assert (read.format, run.status) == ("collective-csv", "usable")
    assert values(run) == {"collective_operation": "all_reduce", "group_ranks": 4, "devices": 4, "nodes": 2}
    assert values(run, "2048-bytes-rank-1") == {
        "message_bytes": 2048,
        "collective_ms.min": 0.03,
        "collective_ms.max": 0.08,
        "collective_ms.mean": 0.05,
        "collective_ms.p50": 0.04,
        "collective_ms.std": 0.02,
    }
    at = place(run, "collective_ms.p50")
    assert (at.line, at.column) == (2, "time_stats.all_reduce.median")
    assert codes(run) == ["import/per_rank", "import/message_size"]


def test_another_placement_is_another_run() -> None:
    read = imported(HEADER + row() + row(per_node=4) + row(workers=8))
    assert [(values(run)["devices"], values(run)["nodes"]) for run in read.runs] == [(4, 2), (4, 1), (8, 4)]


def test_sizes_of_every_rank_leave_nothing_open() -> None:
    run = only_run(HEADER + "".join(map(row, range(4))))
    assert "import/per_rank" not in codes(run)


@pytest.mark.parametrize(
    "wrong", [row(), row(workers=-4), row(size=-1), "0,0.03,x,,,,0,four,2048,all_reduce,2,8\n", "\n0\n"]
)
def test_rows_that_cannot_be_read_or_repeat_are_named(wrong: str) -> None:
    run = only_run(HEADER + row() + wrong)
    assert "import/line_skipped" in codes(run)


def test_a_median_outside_its_range_holds_the_run() -> None:
    assert codes(only_run(HEADER + row(median=0.5)), "held") == ["import/contradiction"]


def test_a_header_without_rows_is_no_run() -> None:
    assert [problem.code for problem in imported(HEADER).problems] == ["import/no_run"]
