"""Traces of collectives: durations of every kind of call, and how late every rank came."""

import json

import pytest

from tests.planner.importers.samples import codes, imported, only_run, place, values

HEADER = "rank,node,device,group,kind,bytes,start,end\n"


def row(
    rank: int, start: float, end: float, *, node: str = "secret.host", kind: str = "AllReduce", more: str = ""
) -> str:
    return f"{rank},{node},gpu{rank},tp,{kind},4096,{start},{end}{more}\n"


def trace() -> str:
    """Three calls of two ranks: rank 1 comes 300, 500 and 400 microseconds late."""
    return HEADER + "".join(
        row(rank, start + rank * late, start + 1000)
        for start, late in ((1000, 300), (3000, 500), (5000, 400))
        for rank in (0, 1)
    )


def test_durations_and_lags_are_read() -> None:
    read = imported(trace())
    (run,) = read.runs
    assert (read.format, read.version, run.status) == ("collective-trace", "CSV", "usable")
    assert values(run, "rank-0") == {"rank_node": "node-0", "rank_device": "gpu0", "arrival_lag_ms": 0.0}
    assert values(run, "rank-1") == {"rank_node": "node-0", "rank_device": "gpu1", "arrival_lag_ms": 0.4}
    assert values(run, "tp-all_reduce-4096-bytes") == {
        "collective_operation": "all_reduce",
        "group_kind": "tp",
        "message_bytes": 4096,
        "collective_ms.n": 6,
        "collective_ms.mean": 0.8,
        "collective_ms.min": 0.5,
        "collective_ms.max": 1.0,
        "collective_ms.p50": 0.7,
        "collective_ms.p95": 1.0,
        "collective_ms.p99": 1.0,
    }
    assert place(run, "collective_ms.mean").line == 2
    assert "secret.host" not in repr(read)


def test_json_lines_say_the_same() -> None:
    names = HEADER.strip().split(",")
    lines = [dict(zip(names, line.split(","), strict=True)) for line in trace().splitlines()[1:]]
    assert values(only_run("\n".join(map(json.dumps, lines))), "rank-1")["arrival_lag_ms"] == 0.4


def test_tenants_and_other_columns_are_dropped_and_named() -> None:
    text = HEADER.replace("\n", ",tenant,prompt\n") + row(0, 1, 2, more=",acme,write a poem")
    read = imported(text)
    assert "import/columns_dropped" in codes(read.runs[0])
    assert "acme" not in repr(read)
    assert "poem" not in repr(read)


def test_calls_in_another_order_of_the_file_belong_together_by_start() -> None:
    first, *rows = trace().splitlines(keepends=True)
    assert values(only_run(first + "".join(reversed(rows))), "rank-1")["arrival_lag_ms"] == 0.4


@pytest.mark.parametrize("more", [row(0, 9000, 9100), row(0, 9000, 9100, kind="AllGather") + row(1, 9000, 9100)])
def test_calls_that_do_not_match_give_no_lag(more: str) -> None:
    run = only_run(trace() + more)
    assert codes(run, "held") == ["import/unequal_calls"]
    assert "arrival_lag_ms" in run.missing


def test_clocks_of_two_nodes_have_to_agree() -> None:
    run = only_run(HEADER + row(0, 1000, 2000) + row(1, 1500, 2000, node="b"))
    assert codes(run, "note") == ["import/definition", "import/clocks"]
    assert values(run, "rank-1")["rank_node"] == "node-1"
    assert codes(only_run(HEADER + row(0, 1000, 2000) + row(1, 2500, 3000, node="b")), "held") == ["import/clocks"]


def test_a_rank_on_two_devices_holds_the_run() -> None:
    run = only_run(HEADER + row(0, 1, 2) + row(0, 3, 4).replace("gpu0", "gpu5"))
    assert codes(run, "held") == ["import/contradiction"]


@pytest.mark.parametrize("wrong", ["0,a,g,tp,AllReduce,4096,5,4\n", "x,a,g,tp,AllReduce,4096,5,6\n", "0,a\n"])
def test_rows_that_cannot_be_meant_are_left_out_and_named(wrong: str) -> None:
    run = only_run(trace() + wrong)
    assert "import/line_skipped" in codes(run)
    assert values(run, "tp-all_reduce-4096-bytes")["collective_ms.n"] == 6


def test_a_trace_without_rows_is_refused() -> None:
    assert codes(only_run(HEADER + "x\n"), "refused") == ["import/no_counters"]
