"""Output of nccl-tests: sizes, times and bandwidths, and whether the ranks worked together."""

from typing import Any

import pytest

from tests.planner.importers.samples import Tree, codes, imported, only_run, place, values

HEADER = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
"""


def ranks(*hosts: str) -> str:
    return "# Using devices\n" + "".join(
        f"#  Rank {rank:2} Group  0 Pid 48160{rank} on   {host} device  {rank % 2} [0000:8d:00] NVIDIA H200\n"
        for rank, host in enumerate(hosts)
    )


def output(*rows: str, hosts: tuple[str, ...] = ("big.host",) * 2, name: str = "all_reduce_perf") -> str:
    return (
        "# nccl-tests version 2.17.9 nccl-headers=22807 nccl-library=22907\n"
        f"# Collective test starting: {name}\n"
        "# nThread 1 nGpus 2 minBytes 1024 maxBytes 4096 step: 2(factor) warmup iters: 1 iters: 20 validation: 1\n"
        f"#\n{ranks(*hosts)}#\n{HEADER}"
        + "".join(f"{row}\n" for row in rows)
        + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 357.2\n#\n"
    )


ROW = "  536870912  134217728  float  sum  -1  2500.00  240.00  240.00  0  2000.00  250.00  250.00  0"


def test_every_size_has_its_own_time_and_bandwidth() -> None:
    read = imported(output(ROW))
    (run,) = read.runs
    assert (read.format, run.status, run.missing) == ("nccl-tests", "usable", ())
    assert values(run) == {
        "tool_name": "nccl-tests",
        "tool_version": "2.17.9",
        "collective_library_version": "2.29.7",
        "device_type": "NVIDIA H200",
        "collective_operation": "all_reduce",
        "group_ranks": 2,
        "devices": 2,
        "nodes": 1,
    }
    assert values(run, "536870912-bytes-out") == {
        "message_bytes": 536_870_912,
        "collective_ms.mean": 2.5,
        "algorithm_bytes_per_s": 240_000_000_000,
        "bus_bytes_per_s": 240_000_000_000,
        "wrong_results": 0,
    }
    assert values(run, "536870912-bytes-in")["bus_bytes_per_s"] == 250_000_000_000
    assert place(run, "bus_bytes_per_s").line == 12
    assert codes(run) == ["import/mixed_versions", "import/message_size"]
    assert "big.host" not in repr(read)


def test_the_average_over_sizes_is_no_value() -> None:
    assert 357.2e9 not in [value.value for value in only_run(output(ROW)).values]


@pytest.mark.parametrize(
    ("row", "key", "time", "wrong"),
    [
        ("1024  256  float  none  -1  13.5  66.0  64.0  0  12.5  66.0  65.0  N/A", "1024-bytes-in", 0.0125, None),
        ("1024  256  float  sum  12.5  2.20  4.33  2e-06  13.5  2.20  4.33  2e-06", "1024-bytes-out", 0.0125, None),
        ("1024  256  float  13.5  0.52  0.51  0e+00  12.5  0.52  0.51  1e+00", "1024-bytes-in", 0.0125, None),
        ("0: 1024  256  half  sum  -1  12.5  0.00  0.01  0  13.5  0.00  0.01  0", "1024-bytes-out", 0.0125, 0),
        ("[1,0]<stdout>: 1024  256  float  sum  -1  12.5  0.0  0.1  0  1.5  0.0  0.1  0", "1024-bytes-out", 0.0125, 0),
    ],
)
def test_rows_of_every_layout_are_read(row: str, key: str, time: float, wrong: int | None) -> None:
    found = values(only_run(output(row)), key)
    assert found["collective_ms.mean"] == time
    assert found.get("wrong_results") == wrong


def test_wrong_results_are_no_evidence() -> None:
    row = "1024  256  float  sum  -1  12.5  0.00  0.01  3  13.5  0.00  0.01  0"
    assert codes(only_run(output(row)), "refused") == ["import/wrong_results"]
    assert codes(only_run(output(ROW).replace("0 OK", "2 FAILED")), "refused") == ["import/wrong_results"]


def test_two_ranks_zero_never_worked_together() -> None:
    run = only_run(output(ROW).replace("#  Rank  1", "#  Rank  0"))
    assert codes(run, "refused") == ["import/separate_runs"]
    assert "devices" not in values(run)


def test_ranks_out_of_order_and_on_two_nodes_are_counted() -> None:
    text = output(ROW, hosts=("a", "a", "b", "b")).replace("240.00  240.00", "240.00  360.00")
    text = text.replace("250.00  250.00", "250.00  375.00")
    lines = text.splitlines(keepends=True)
    lines[5], lines[8] = lines[8], lines[5]
    run = only_run("".join(lines))
    assert (values(run)["devices"], values(run)["nodes"], run.status) == (4, 2, "usable")


def test_bandwidths_that_another_number_of_ranks_would_make_hold_the_run() -> None:
    assert codes(only_run(output(ROW, hosts=("a", "a", "b", "b"))), "held") == ["import/contradiction"]


def test_a_list_of_ranks_that_was_cut_tells_no_nodes() -> None:
    text = output(ROW, hosts=("a",) * 64, name="alltoall_perf").splitlines(keepends=True)
    run = only_run("".join([*text[:6], "...\n", *text[67:]]))
    assert values(run)["group_ranks"] == 64
    assert run.missing == ("devices", "nodes")
    assert "import/truncated" in codes(run)


def test_sizes_that_were_cut_out_are_named() -> None:
    assert "import/truncated" in codes(only_run(output("# Truncated  smaller message sizes", ROW)))


def test_messages_without_bytes_are_left_out() -> None:
    zero = "0  0  float  none  -1  0.94  0.00  0.00  0  0.76  0.00  0.00  N/A"
    run = only_run(output(zero, zero, ROW))
    assert "import/zero_size" in codes(run)
    assert {value.of for value in run.values} == {"", "536870912-bytes-out", "536870912-bytes-in"}


def test_several_tests_in_one_file_are_several_runs() -> None:
    slow = ROW.replace("240.00  240.00", "32.00  32.00").replace("250.00  250.00", "32.00  32.00")
    first, second = imported("With NVLink:\n" + output(ROW) + "\nWith InfiniBand:\n" + output(slow)).runs
    assert values(first, "536870912-bytes-out")["bus_bytes_per_s"] == 240_000_000_000
    assert values(second, "536870912-bytes-out")["bus_bytes_per_s"] == 32_000_000_000
    assert (first.place.line, second.place.line) == (1, 19)


def test_a_table_without_the_name_of_its_test_waits_for_a_person() -> None:
    text = f"$ srun ./all_reduce_perf -b 8\n```\n{HEADER}{ROW}\n```\n"
    run = only_run(text)
    assert codes(run, "held") == ["import/operation_unknown"]
    (operation,) = [value for value in run.values if value.name == "collective_operation"]
    assert (operation.value, operation.standing) == ("all_reduce", "hint")


def test_a_test_without_rows_is_refused() -> None:
    assert codes(only_run(output()), "refused") == ["import/no_counters"]


def test_the_name_of_rccl_and_its_version_are_read() -> None:
    run = only_run(output(ROW).replace("nccl", "rccl").replace("22907", "2804"))
    assert values(run)["tool_name"] == "rccl-tests"
    assert values(run)["collective_library_version"] == "2.8.4"


def test_a_bandwidth_below_zero_is_left_out_and_named() -> None:
    run = only_run(output(ROW.replace("240.00  240.00", "-240.00  240.00")))
    assert "algorithm_bytes_per_s" not in values(run, "536870912-bytes-out")
    assert "import/range" in codes(run)


ITERATIONS = """\
#       size         count      type   redop    root     time   algbw   busbw  #wrong  #bitdiff    i_min    i_max    i_p99    i_cv%     time   algbw   busbw  #wrong  #bitdiff    i_min    i_max    i_p99    i_cv%           timestamp
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)               (us)     (us)     (us)      (%)             (us)  (GB/s)  (GB/s)               (us)     (us)     (us)      (%)
"""  # noqa: E501 - the titles of the tool stand in one line


def test_columns_of_single_iterations_are_told_by_the_titles() -> None:
    row = "1024 256 float sum -1 12.50 0.08 0.08 0 0 11.5 14.5 14.0 2.1 13.50 0.08 0.08 1e+06 0 12.5 15.5 15.0 2.2"
    text = output().replace(HEADER, ITERATIONS + f"{row} 2026-06-10 20:36:36\n")
    run = only_run(text)
    out = values(run, "1024-bytes-out")
    assert (out["collective_ms.mean"], out["collective_ms.min"]) == (0.0125, 0.0115)
    assert (out["collective_ms.max"], out["collective_ms.p99"]) == (0.0145, 0.014)
    assert (out["bus_bytes_per_s"], out["wrong_results"]) == (80_000_000, 0)
    assert values(run, "1024-bytes-in")["wrong_results"] == 1_000_000
    assert codes(run, "refused") == ["import/wrong_results"]


def json_output(**changed: Any) -> Tree:
    figures = {"time": 2500.0, "alg_bw": 240.0, "bus_bw": 240.0, "nwrong": 0.0}
    device = {"group": 0, "pid": 7, "hostname": "big.host", "device_info": " NVIDIA H200"}
    tree = {
        "version": 1,
        "start_time": "2026-06-10 20:36:36",
        "args": ["/opt/nccl-tests/build/all_reduce_perf", "-J", "out.json"],
        "env": ["TOKEN=very-secret"],
        "nccl_version": 22907,
        "config": {"nthreads": 1, "ngpus": 2, "devices": [{**device, "rank": n, "device": n} for n in (0, 1)]},
        "results": [
            {
                "size": 536_870_912,
                "count": 134_217_728,
                "type": "float",
                "redop": "sum",
                "root": "    -1",
                "out_of_place": figures,
                "out_of_place_per_iter": {"min_us": 2400.0, "p95_us": 2600.0, "times_us": [2400.0, 2600.0]},
                "in_place": {**figures, "time": 2000.0, "nwrong": None},
            }
        ],
        "out_of_bounds": {"count": 0, "okay": True},
        "average_bus_bandwidth": {"bandwidth": 240.0, "okay": "unchecked"},
    }
    return {**tree, **changed}


def test_the_json_of_newer_versions_says_the_same() -> None:
    read = imported(json_output())
    (run,) = read.runs
    assert (read.format, read.version, run.status, run.missing) == ("nccl-tests", "JSON", "usable", ())
    found = values(run)
    assert (found["collective_operation"], found["collective_library_version"]) == ("all_reduce", "2.29.7")
    assert (found["devices"], found["nodes"], found["group_ranks"]) == (2, 1, 2)
    out = values(run, "536870912-bytes-out")
    assert (out["collective_ms.mean"], out["collective_ms.min"], out["collective_ms.p95"]) == (2.5, 2.4, 2.6)
    assert (out["bus_bytes_per_s"], out["wrong_results"]) == (240_000_000_000, 0)
    assert "wrong_results" not in values(run, "536870912-bytes-in")
    assert "very-secret" not in repr(read)
    assert "big.host" not in repr(read)


def test_json_with_wrong_results_or_without_rows_is_refused() -> None:
    assert codes(only_run(json_output(out_of_bounds={"count": 3, "okay": False})), "refused") == [
        "import/wrong_results"
    ]
    assert codes(only_run(json_output(results=[])), "refused") == ["import/no_counters"]
