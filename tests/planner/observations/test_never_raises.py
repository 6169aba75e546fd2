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
