"""NCCL RAS: the state of communicators at one moment, from text and JSON."""

import json
from typing import Any

from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values


def text(*groups: str, more: str = "", job: str = "") -> str:
    table = "".join(f"{group}\n" for group in groups)
    return (
        "NCCL version 2.26.2 compiled with CUDA 12.4\nCUDA runtime version 12040, driver version 12040\n\n"
        f"Job summary\n===========\n\n{job or JOB}\nCommunicators... (0.01s)\n=============\n\n"
        "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
        f"    #  in group  per comm  per node  per comm  in group\n{table}\n"
        f"Errors\n======\n{more}\nWarnings\n========\n"
    )


JOB = """\
  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32
"""
UNEVEN = """\
  Nodes  Processes         GPUs
          per node  per process
      1          8            1
      1          2            1

  Nodes  Processes         GPUs
(total)    (total)      (total)
      2         10           10
"""
OK = "    0         8         4         1         4        32   RUNNING      OK"
LATE = "    0         1         4       7-8        32        32   RUNNING  MISMATCH"
COUNTS = """
#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different collective operation counts
  26 ranks have launched up to operation {0}
  6 ranks have launched up to operation 6649
  Rank 0 -- GPU 0 managed by process 483072 on node 192.0.2.1
"""


def test_the_tables_of_the_text_are_read() -> None:
    read = imported(text(OK))
    (run,) = read.runs
    assert (read.format, read.version, run.status) == ("nccl-ras", "text, NCCL 2.26.2", "usable")
    assert values(run) == {
        "collective_library_version": "2.26.2",
        "nodes": 4,
        "processes": 32,
        "devices": 32,
        "communicators": 8,
    }
    assert values(run, "group-0") == {"group_ranks": 4, "communicators": 8, "communicators_state": "RUNNING OK"}
    assert place(run, "communicators").line == 16
    assert codes(run) == ["import/snapshot"]


def test_a_job_that_is_uneven_has_its_totals_in_a_second_table() -> None:
    found = values(only_run(text(OK.replace("32 ", "10 "), job=UNEVEN)))
    assert (found["nodes"], found["processes"], found["devices"]) == (2, 10, 10)


def test_a_mismatch_waits_for_a_person_and_addresses_are_not_kept() -> None:
    read = imported(text(LATE, more=COUNTS.format(6650)))
    (run,) = read.runs
    assert codes(run, "held") == ["import/communicator"]
    assert values(run, "group-0")["group_ranks"] == 32
    assert "192.0.2" not in repr(read)
    assert "483072" not in repr(read)


def test_counts_that_stay_the_same_in_a_second_snapshot_may_hang() -> None:
    def hangs(second: str) -> int:
        _, run = imported(text(LATE, more=COUNTS.format(6650)) + text(LATE, more=second)).runs
        return sum("may hang" in remark.sentence for remark in run.remarks)

    assert hangs(COUNTS.format(6650)) == 1
    assert hangs(COUNTS.format(6700).replace("6649", "6690")) == 0


def test_errors_of_the_job_wait_for_a_person() -> None:
    for kind in ("DEAD", "TIMEOUT", "INCOMPLETE"):
        assert codes(only_run(text(OK, more=f"\n{kind}\n  1 job process\n")), "held") == ["import/communicator"]


def test_figures_that_cannot_be_meant_are_named() -> None:
    run = only_run(text(OK, more="\n#2-0 (93d7000200000001) INCOMPLETE\n  Missing communicator data from 255 ranks\n"))
    assert "import/implausible" in codes(run)
    run = only_run(text("    0         1         4         8        64        32   RUNNING      OK"))
    assert "import/implausible" in codes(run, "held")


def test_ranks_that_differ_between_communicators_are_not_guessed() -> None:
    found = values(
        only_run(text("    0         2         4       1-2       7-8        15   RUNNING      OK")), "group-0"
    )
    assert "group_ranks" not in found


def answer(*counts: int, missing: int = 0, **status: Any) -> Tree:
    ranks = [
        {
            "rank": rank,
            "host": "192.0.2.1",
            "pid": 15 + rank,
            "cuda_dev": rank,
            "status": {"async_error": 0, "abort_flag": False, **status},
            "collective_counts": {"AllReduce": count, "Broadcast": 0},
        }
        for rank, count in enumerate(counts)
    ]
    lost = [
        {
            "rank": rank,
            "host": "192.0.2.2",
            "cuda_dev": rank,
            "status": {"unresponsive": True, "considered_dead": False},
        }
        for rank in range(missing)
    ]
    communicator = {
        "hash": "0xae94423cfbb2ef4a",
        "size": len(ranks) + missing,
        "ranks_count": len(ranks),
        "missing_ranks_count": missing,
        "ranks": ranks,
        "missing_ranks": lost,
    }
    return {
        "nccl_version": "2.29.1",
        "timestamp": "2025-12-19 13:06:53",
        "communicators_count": 1,
        "communicators": [communicator],
    }


def test_json_is_read_and_addresses_are_not_kept() -> None:
    read = imported(answer(5, 5))
    (run,) = read.runs
    assert (read.version, run.status) == ("JSON, NCCL 2.29.1", "usable")
    assert values(run) == {
        "collective_library_version": "2.29.1",
        "local_time": "2025-12-19 13:06:53",
        "communicators": 1,
        "nodes": 1,
        "devices": 2,
    }
    assert values(run, "communicator-0") == {"group_ranks": 2, "communicators_state": "OK"}
    assert "192.0.2" not in repr(read)


def test_in_json_a_mismatch_follows_from_the_counts() -> None:
    run = only_run(answer(5, 6))
    assert values(run, "communicator-0")["communicators_state"] == "MISMATCH"
    assert codes(run, "held") == ["import/communicator"]


def test_in_json_missing_ranks_and_errors_are_named() -> None:
    run = only_run(answer(5, missing=1))
    assert values(run, "communicator-0")["communicators_state"] == "INCOMPLETE"
    assert (values(run)["nodes"], values(run)["devices"]) == (2, 2)
    assert values(only_run(answer(5, 5, async_error=3)), "communicator-0")["communicators_state"] == "ERROR"
    assert values(only_run(answer(5, 5, abort_flag=True)), "communicator-0")["communicators_state"] == "ERROR"


def test_the_same_mismatch_in_two_answers_may_hang() -> None:
    _, second = imported("\n".join(json.dumps(answer(5, 6)) for _ in range(2))).runs
    assert [remark.sentence for remark in second.remarks if "may hang" in remark.sentence]


def test_an_answer_of_another_shape_is_refused() -> None:
    read = imported({"nccl_version": "2.29.1", "communicators": 7})
    assert codes(read.runs[0], "refused") == ["import/format"]
