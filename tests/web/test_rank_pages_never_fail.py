"""Whatever evidence records of ranks, the pages of memory and communication have rows or words for it."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from planner.records.evidence import Trial
from reviews.web.boundary_rows import boundaries_of
from reviews.web.boundary_rows import download_rows as boundary_downloads
from reviews.web.communication import chosen_window
from reviews.web.link_rows import link_rows
from reviews.web.memory_estimates import estimated, estimates
from reviews.web.memory_facts import tightest, window_of, windows_with_memory
from reviews.web.memory_rows import download_header, download_rows, fleet_of, headline, memory_rows, notes_of
from reviews.web.step_facts import steps_of
from reviews.web.step_rows import arrival_groups, figures, lateness_lines, step_rows
from reviews.web.step_rows import fleet_of as step_fleet
from tests.web.traces import TRIAL, traced_view, traced_window, trees

VIEW = traced_view()
TREE = {**trees()[1]["trials"][TRIAL], "windows": {"trace": traced_window()}}
METRICS = (
    "device_used_peak_bytes",
    "weights_bytes",
    "kv_cache_bytes",
    "co_tenants_bytes",
    "step_ms",
    "collective_ms",
    "collective_wait_ms",
    "collective_move_ms",
    "arrival_lag_ms",
    "slowest_sample_share",
)
VALUES = st.lists(
    st.none() | st.integers(0, 2**53 - 1) | st.floats(0, 1e300, allow_nan=False, allow_infinity=False), max_size=20
)
PER_RANK = st.dictionaries(
    st.sampled_from(METRICS),
    st.fixed_dictionaries(
        {"values": VALUES},
        optional={
            "scope": st.sampled_from(["rank", "device", "replica"]),
            "bound": st.sampled_from(["exact", "lower", "upper"]),
            "phase": st.sampled_from(["prefill", "decode", "mixed"]),
        },
    ),
)
COUNTERS = st.dictionaries(
    st.sampled_from(
        ["peak_tx_bytes", "peak_rx_bytes", "tx_bytes_total", "rx_bytes_total", "sample_interval_s", "samples"]
    ),
    st.integers(0, 2**53 - 1),
)
LINKS = st.dictionaries(
    st.sampled_from(["a-nic0-up", "b-nic1-up", "no-such-link"]),
    st.dictionaries(st.sampled_from(["prefill", "decode", "mixed"]), COUNTERS),
)
DEGREES = st.fixed_dictionaries(
    {"tp": st.integers(1, 5), "pp": st.integers(1, 3), "ep": st.integers(1, 4), "dp": st.integers(1, 3)}
)
LAYOUTS = st.sampled_from(["closed", "vllm", "sglang", "megatron", "trtllm"])


@given(PER_RANK, LINKS, LAYOUTS, DEGREES, st.integers(1, 16))
def test_every_trial_has_rows(
    per_rank: dict[str, Any], links: dict[str, Any], layout: str, degrees: dict[str, int], ranks: int
) -> None:
    world = degrees["tp"] * degrees["pp"] * degrees["ep"] * degrees["dp"]
    tree = {
        **TREE,
        "topology": {"layout": layout, "instances": [{**degrees, "world_size": world}]},
        "rank_map": TREE["rank_map"][:ranks],
        "windows": {"trace": {**TREE["windows"]["trace"], "per_rank": per_rank, "links": links}},
    }
    view = VIEW.with_trial(msgspec.convert(tree, Trial))
    windows = windows_with_memory(view)
    memory = tightest(windows)
    assert (memory is None) == (not windows)
    if memory is not None:
        assert len(memory_rows(memory, range(ranks))) == ranks
        assert headline(memory)
        assert fleet_of(memory).picture.width == ranks
        assert all(note.endswith(".") for note in notes_of(memory))
        rows = download_rows(memory, estimated(view, "saturated"))
        assert {len(row) for row in rows} == {len(download_header(memory))}
        expected = estimates(view, memory)
        assert expected.groups or expected.missing or expected.refusal
    chosen, _ = chosen_window(view, "")
    window = window_of(view, chosen)
    steps = steps_of(view, window)
    assert len(step_rows(steps, range(ranks))) == ranks
    assert len(list(figures(view, steps))) in (2, 3)
    assert all(line.endswith((".", "…")) for line in lateness_lines(view, steps))
    assert step_fleet(steps).picture.width == ranks
    assert all(group.rows for group in arrival_groups(steps, range(ranks)))
    found = boundaries_of(view, window)
    assert len(boundary_downloads(found.rows)) == len(found.rows)
    assert all(row.id in view.site.links for row in link_rows(view, window, {}))
