"""Whatever is sent, it is read or refused by name: batches, reports of machines, scrapes and logs."""

import json
from contextlib import suppress
from io import BytesIO
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import DocumentRefusedError
from planner.identity_check import key_differences, rank_differences
from planner.identity_ranks import ranks_seen
from planner.identity_report import read_report
from planner.importers import Source
from planner.observations import read_batch, rolled_up
from planner.observations.decided import Decided
from planner.observations.diagnosis import Reading, diagnosed, diagnosis_tree, read_diagnosis
from planner.observations.prometheus import Places, segments_of
from planner.observations.time_outs import time_outs_in
from tests.planner.observations.batches import a_tree

SCALARS = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=5)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    [
        "count",
        "sum",
        "min",
        "max",
        "histogram",
        "edges",
        "counts",
        "metrics",
        "rank",
        "group",
        "device_used_bytes",
        "ttft_ms",
    ]
)
SHAPED = st.recursive(
    JSON, lambda inner: st.dictionaries(FIELDS, inner | st.lists(inner, max_size=4), max_size=4), max_leaves=12
)


@given(st.lists(SHAPED, min_size=1, max_size=3), JSON, JSON)
@settings(max_examples=150, deadline=None)
def test_a_batch_is_read_or_refused(segments: list[Any], start: Any, end: Any) -> None:
    tree = {**a_tree(), "segments": segments, "started_at": start, "ended_at": end}
    with suppress(DocumentRefusedError):
        rolled_up([read_batch(json.dumps(tree).encode())])
    with suppress(DocumentRefusedError):
        rolled_up([read_batch(json.dumps({**a_tree(), "segments": segments}).encode())])


@given(JSON, JSON)
@settings(max_examples=100, deadline=None)
def test_a_report_is_read_or_refused_and_compared(identity: Any, placement: Any) -> None:
    tree = {"schema": "topogate.identity/v1", "host": "h", "collected_at": "2026-11-30T12:00:00Z", "identity": identity}
    with suppress(DocumentRefusedError):
        read_report(json.dumps({**tree, "placement": placement}).encode())
    live = {"model": identity, "placement": {"rank_map": placement}}
    assert key_differences({"model": {"name": "m"}}, live, rank_map_digest="sha256:x")
    assert rank_differences([{"rank": 0, "node": "\x00n", "device": "d"}], placement)


@given(
    st.lists(
        st.sampled_from(
            [
                "vllm:kv_cache_usage_perc",
                "DCGM_FI_DEV_FB_USED",
                "sglang:x_bucket",
                "{",
                "}",
                'gpu="0"',
                'le="',
                " 1\n",
                "NaN\n",
                "nvmlDev",
                "\xff",
            ]
        ),
        max_size=30,
    )
)
@settings(max_examples=100, deadline=None)
def test_texts_are_read_whatever_they_are(parts: list[str]) -> None:
    text = "".join(parts)
    with suppress(DocumentRefusedError):
        segments_of(Source("x", BytesIO(text.encode("latin-1"))), Places(groups={"0": 0}, ranks={"0": 0}))
    lines = list(enumerate(text.splitlines(), start=1))
    assert ranks_seen(lines, 2).ranks == ()
    assert list(time_outs_in(lines)) == []


RAS_FIELDS = st.sampled_from(["rank", "cuda_dev", "host", "status", "collective_counts", "AllReduce", "async_error"])
RAS_RANK = st.dictionaries(RAS_FIELDS, JSON | st.dictionaries(RAS_FIELDS, SCALARS, max_size=3), max_size=5)
COMMUNICATOR = st.fixed_dictionaries({"size": SCALARS, "ranks": st.lists(RAS_RANK, max_size=3)})


@given(st.lists(COMMUNICATOR | JSON, max_size=2), st.text(max_size=5))
@settings(max_examples=150, deadline=None)
def test_what_a_snapshot_says_is_read_again_as_it_was_kept(communicators: list[Any], version: str) -> None:
    tree = {"nccl_version": version, "timestamp": "x", "communicators": communicators}
    kept_and_read(json.dumps(tree).encode())


HUGE = st.sampled_from(["0", "1", "900", "1e308", "1.7e308", "9" * 400, "-1", "nan", "inf"])


@given(st.lists(st.tuples(st.sampled_from(["0", "1"]), HUGE, HUGE, HUGE), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_what_a_trace_says_is_read_again_as_it_was_kept(calls: list[tuple[str, str, str, str]]) -> None:
    rows = [f"{rank},a,d{rank},tp,all_reduce,{size},{start},{end}" for rank, size, start, end in calls]
    kept_and_read("\n".join(["rank,node,device,group,kind,bytes,start,end", *rows]).encode())


def kept_and_read(data: bytes) -> None:
    reading = Reading()
    with suppress(DocumentRefusedError):
        reading.add(Source("file", BytesIO(data)))
    found = diagnosed(reading, Decided())
    assert read_diagnosis(json.dumps(diagnosis_tree(found)).encode()) == found
