"""Batches: what is wrong is named, all of it; what belongs to another slot, topology or time is not taken."""

import json
import time
from dataclasses import replace
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest

from planner.errors import DocumentRefusedError
from planner.observations import Expected, admission_problems, read_batch
from planner.schema import document_schema
from tests.planner.observations.batches import SUBJECT, a_batch, a_tree, level, times

EXPECTED = Expected(
    slot="demo/four-devices",
    subject=SUBJECT,
    ranks=4,
    groups=1,
    links=("a-up",),
    shapes=("short",),
    now="2026-11-30T12:10:30Z",
    since="2026-11-16T12:10:30Z",
    taken={"dcgm": "2026-11-30T12:00:00Z"},
)


def problems(tree: Any) -> list[tuple[str, str]]:
    with pytest.raises(DocumentRefusedError) as refused:
        read_batch(json.dumps(tree).encode())
    return sorted((problem.code, problem.pointer) for problem in refused.value.problems)


MEMORY = {"device_used_bytes": level(5)}
WRONG: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "a metric without a unit": (
        {"rank": 0, "metrics": {"memory": level(5)}},
        [("observations/metric", "/segments/0/metrics/memory")],
    ),
    "an average over the cluster": (
        {"metrics": {**MEMORY, "ttft_ms": level(5)}},
        [("observations/scope", f"/segments/0/metrics/{name}") for name in ("device_used_bytes", "ttft_ms")],
    ),
    "least above most": (
        {"rank": 0, "metrics": {"device_used_bytes": {"count": 2, "sum": 9, "min": 6, "max": 5}}},
        [("observations/values", "/segments/0/metrics/device_used_bytes/min")],
    ),
    "values that no machine has": (
        {"rank": 0, "metrics": {"device_used_bytes": {"count": 2, "sum": 1e308, "max": 1e200}}},
        [("observations/values", f"/segments/0/metrics/device_used_bytes/{name}") for name in ("max", "sum")],
    ),
    "more values than anything has": (
        {"rank": 0, "metrics": {"device_used_bytes": {"count": 2**53 - 1, "sum": 9}}},
        [("observations/values", "/segments/0/metrics/device_used_bytes/count")],
    ),
    "a sum of more than the most": (
        {"rank": 0, "metrics": {"device_used_bytes": {"count": 2, "sum": 11, "max": 5}}},
        [("observations/values", "/segments/0/metrics/device_used_bytes/sum")],
    ),
    "a sum of less than the least": (
        {"rank": 0, "metrics": {"device_used_bytes": {"count": 2, "sum": 9, "min": 5}}},
        [("observations/values", "/segments/0/metrics/device_used_bytes/sum")],
    ),
    "per cent as a share": (
        {"group": 0, "metrics": {"kv_used_share": {"count": 2, "sum": 90, "max": 47}}},
        [("observations/values", "/segments/0/metrics/kv_used_share/max")],
    ),
    "a mean of shares above 1": (
        {"rank": 0, "metrics": {"stage_idle_share": {"count": 2, "sum": 2.5}}},
        [("observations/values", "/segments/0/metrics/stage_idle_share/sum")],
    ),
    "of a rank and a group": (
        {"rank": 0, "group": 0, "metrics": {"device_used_bytes": {"count": 1, "sum": 9}}},
        [("observations/scope", "/segments/0")],
    ),
    "edges beyond that": (
        {"group": 0, "metrics": {"ttft_ms": times([1, 1e300], [1, 1, 0])}},
        [
            ("observations/histogram", "/segments/0/metrics/ttft_ms/histogram/edges"),
            ("observations/values", "/segments/0/metrics/ttft_ms/sum"),
        ],
    ),
    "edges that do not grow": (
        {"group": 0, "metrics": {"ttft_ms": times([2, 2], [1, 1, 1])}},
        [("observations/histogram", "/segments/0/metrics/ttft_ms/histogram/edges")],
    ),
    "counts of other values": (
        {"group": 0, "metrics": {"ttft_ms": {**times([1, 2], [1, 1, 1]), "count": 4}}},
        [("observations/histogram", "/segments/0/metrics/ttft_ms/histogram/counts")],
    ),
    "too few counts": (
        {"group": 0, "metrics": {"ttft_ms": {"count": 2, "sum": 2, "histogram": {"edges": [1, 2], "counts": [1, 1]}}}},
        [("observations/histogram", "/segments/0/metrics/ttft_ms/histogram/counts")],
    ),
    "other types": (
        {"rank": -1, "metrics": {"device_used_bytes": {"count": True, "sum": "5", "more": 1}}},
        [
            ("document/range", "/segments/0/rank"),
            ("document/type", "/segments/0/metrics/device_used_bytes/count"),
            ("document/type", "/segments/0/metrics/device_used_bytes/sum"),
            ("document/unknown_field", "/segments/0/metrics/device_used_bytes/more"),
        ],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_segment_is_named(name: str) -> None:
    segment, found = WRONG[name]
    assert problems(a_tree(segment)) == found


def test_a_batch_fits_its_published_schema() -> None:
    tree = a_tree(
        {"rank": 0, "metrics": MEMORY},
        {"group": 0, "phase": "decode", "metrics": {"itl_ms": times([1, 2], [1, 2, 3], 9)}},
    )
    validator = jsonschema.Draft202012Validator(document_schema("observations"))
    assert [error.message for error in validator.iter_errors(tree)] == []


def test_a_metric_stands_once_for_a_segment() -> None:
    one = {"rank": 0, "phase": "decode", "metrics": MEMORY}
    assert problems(a_tree(one, {**one, "phase": "prefill"}, one)) == [
        ("observations/repeated", "/segments/2/metrics/device_used_bytes")
    ]


@pytest.mark.parametrize(
    "span",
    [
        {"ended_at": "2026-11-30T12:00:00Z"},
        {"ended_at": "2026-12-02T12:00:00Z"},
        {"ended_at": "2026-11-30T11:00:00Z"},
        {"ended_at": "2026-11-30T12:10:00"},
        {"ended_at": "2026-13-30T12:10:00Z"},
    ],
)
def test_a_span_is_some_seconds_of_at_most_a_day(span: dict[str, str]) -> None:
    assert problems(a_tree(**span)) == [("observations/time", "/ended_at")]


def test_a_batch_of_what_is_in_force_is_taken() -> None:
    batch = a_batch({"rank": 3, "metrics": MEMORY}, {"link": "a-up", "metrics": {"link_used_share": level(0.5)}})
    assert list(admission_problems(batch, EXPECTED)) == []


REFUSED: dict[str, tuple[Any, Any, list[str]]] = {
    "another slot": ({"slot": "other"}, {}, ["observations/slot"]),
    "another topology": ({}, {"subject": "sha256:" + "b" * 64}, ["observations/subject"]),
    "long ago": ({}, {"since": "2026-11-30T12:10:01Z"}, ["observations/past"]),
    "the future": ({}, {"now": "2026-11-30T12:08:59Z"}, ["observations/future"]),
    "a span again": ({}, {"taken": {"dcgm": "2026-11-30T12:10:00Z"}}, ["observations/replayed"]),
    "a part of a span again": ({}, {"taken": {"dcgm": "2026-11-30T12:00:01Z"}}, ["observations/replayed"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_not_be_taken_now_is_named(name: str) -> None:
    fields, expected, codes = REFUSED[name]
    found = admission_problems(a_batch(**fields), replace(EXPECTED, **expected))
    assert [problem.code for problem in found] == codes


def test_unknown_ranks_groups_links_and_shapes_are_named() -> None:
    batch = a_batch(
        {"rank": 4, "metrics": MEMORY},
        {"group": 1, "shape": "long", "metrics": {"ttft_ms": level(5)}},
        {"link": "b-up", "metrics": {"link_used_share": level(0.5)}},
    )
    assert [(problem.code, problem.pointer) for problem in admission_problems(batch, EXPECTED)] == [
        ("observations/unknown", f"/segments/{at}") for at in ("0/rank", "1/group", "1/shape", "2/link")
    ]


def test_many_thousand_ranks_are_read_in_seconds() -> None:
    metrics = {name: {"count": 3, "sum": 9, "min": 1, "max": 5} for name in ("power_watts", "step_ms", "collective_ms")}
    tree = a_tree(*({"rank": rank, "metrics": {**metrics, **MEMORY}} for rank in range(8192)))
    started = time.perf_counter()
    batch = read_batch(json.dumps(tree).encode())
    assert sum(len(segment.metrics) for segment in batch.segments) == 32_768
    assert time.perf_counter() - started < 20
