"""The JSON that nccl-tests writes beside its text (``-J``): the same figures, with names instead of columns.

``args`` and ``env`` hold commands and the whole environment of the machine; of them only the name of the program is
read, and nothing is kept.
"""

from typing import Any

from planner.importers.model import Place
from planner.importers.nccl_run import CollectiveTest
from planner.importers.nccl_table import Measured, Row
from planner.importers.perf_metrics import number_of
from planner.importers.sheet import Sheet

__all__ = ["is_json_test", "json_test"]

_WAYS = (("out", "out_of_place"), ("in", "in_place"))
_SPREAD = {"min_us": "min", "max_us": "max", "p50_us": "p50", "p95_us": "p95", "p99_us": "p99", "stdev_us": "std"}


def is_json_test(tree: Any) -> bool:
    """Say whether a value is a test of nccl-tests."""
    if not isinstance(tree, dict) or "nccl_version" not in tree or not isinstance(tree.get("config"), dict):
        return False
    return isinstance(tree.get("results"), list) or "average_bus_bandwidth" in tree


def json_test(sheet: Sheet) -> CollectiveTest:
    """Return what a test says."""
    test = CollectiveTest(sheet)
    sheet.put_text("tool_name", "nccl-tests", sheet.place())
    version = sheet.get("nccl_version")
    if isinstance(version, int) and 0 < version < 10**7:
        test.take_versions(version, None, sheet.place("nccl_version"))
    sheet.text("local_time", "start_time", standing="hint")
    program = sheet.get("args", 0)
    if isinstance(program, str) and program.endswith("_perf"):
        test.name_operation(program, sheet.place("args", 0))
    if sheet.get("env"):
        sheet.remark("import/content_dropped", "the environment of the machine stands in the file and is not kept")
    devices = sheet.get("config", "devices")
    for index, device in enumerate(devices if isinstance(devices, list) else ()):
        _add_rank(test, device, sheet.place("config", "devices", index))
    rows = sheet.get("results")
    for index, row in enumerate(rows if isinstance(rows, list) else ()):
        test.add_row(_row(row), sheet.place("results", index))
    bounds = sheet.get("out_of_bounds")
    if isinstance(bounds, dict) and (bounds.get("okay") is False or number_of(bounds.get("count"))):
        test.out_of_bounds(sheet.place("out_of_bounds"))
    test.has_average = sheet.get("average_bus_bandwidth") is not None
    return test


def _add_rank(test: CollectiveTest, device: Any, place: Place) -> None:
    rank = device.get("rank") if isinstance(device, dict) else None
    if isinstance(rank, int) and not isinstance(rank, bool) and 0 <= rank < 10**7:
        kind = device.get("device_info")
        test.add_rank(
            rank,
            str(device.get("hostname")),
            str(device.get("device")),
            kind.strip() if isinstance(kind, str) else "",
            place,
        )


def _row(row: Any) -> Row | None:
    size = number_of(row.get("size")) if isinstance(row, dict) else None
    if not isinstance(size, int) or size < 0:
        return None
    groups = ((way, _group(row, key)) for way, key in _WAYS)
    results = tuple((way, group) for way, group in groups if group is not None)
    return Row(size, f"{size} {str(row.get('type'))[:16]}", results) if results else None


def _group(row: dict[str, Any], key: str) -> Measured | None:
    body, iterations = row.get(key), row.get(f"{key}_per_iter")
    if not isinstance(body, dict):
        return None
    time = number_of(body.get("time", body.get("cpu_time")))
    algorithm, bus, wrong = (number_of(body.get(name)) for name in ("alg_bw", "bus_bw", "nwrong"))
    if time is None or algorithm is None or bus is None:
        return None
    known = iterations if isinstance(iterations, dict) else {}
    figures = ((ours, number_of(known.get(name))) for name, ours in _SPREAD.items())
    spread = tuple((ours, float(value)) for ours, value in figures if value is not None)
    return Measured(float(time), float(algorithm), float(bus), None if wrong is None else int(wrong), spread)
