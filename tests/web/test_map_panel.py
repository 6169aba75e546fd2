"""The panel of a rank, metrics, the table of ranks, the heat map."""

import msgspec

from planner.records.evidence import Trial
from reviews.web.links import Query
from reviews.web.map_panel import rank_panel
from reviews.web.rank_metrics import Metric, metrics_of
from reviews.web.rank_table import heat_map, rank_rows, rank_table
from tests.web.maps import example_facts, facts_of


def metric(**fields: object) -> Metric:
    values: dict[str, object] = {
        "id": "step_ms",
        "name": "Step",
        "unit": "ms",
        "values": (10, None, 30),
        "windows": ("w",),
        "bound": "exact",
    }
    return Metric(**(values | fields))  # type: ignore[arg-type] # a table of any field


def with_windows(**windows: object) -> Trial:
    tree = msgspec.to_builtins(example_facts().trial)
    tree["windows"] = {
        name: {"load_point": "saturated", "start": "2026-09-14T08:00:00Z", "end": "2026-09-14T08:05:00Z"} | window  # type: ignore[operator]
        for name, window in windows.items()
    }
    return msgspec.convert(tree, Trial)


def test_a_metric_is_the_highest_of_the_counted_windows_and_missing_stays_missing() -> None:
    trial = with_windows(
        warm={"purpose": "warmup", "per_rank": {"step_ms": {"values": [99] * 16}}},
        one={"purpose": "counted", "per_rank": {"step_ms": {"values": [1, None, 3] + [0] * 13}}},
        two={"purpose": "counted", "per_rank": {"step_ms": {"values": [2, None, None] + [0] * 13, "bound": "lower"}}},
    )
    found = metrics_of(trial)[0]
    assert (found.values[:3], found.windows, found.bound, found.name, found.unit) == (
        (2, None, 3),
        ("one", "two"),
        "lower",
        "Step",
        "ms",
    )
    assert (found.text(1), found.text(2), found.worst) == ("missing", "3 ms", (2, 3))


def test_where_no_window_counts_all_are_read() -> None:
    trial = with_windows(warm={"purpose": "warmup", "per_rank": {"step_ms": {"values": [7] * 16}}})
    assert metrics_of(trial)[0].values == (7,) * 16


def test_the_memory_peak_comes_first() -> None:
    assert metrics_of(example_facts().trial)[0].id == "device_used_peak_bytes"


def test_the_panel_names_place_groups_and_what_they_cross() -> None:
    facts = example_facts()
    panel = rank_panel(facts, 5, metrics_of(facts.trial), Query(), None)
    assert panel is not None
    assert (panel.place, panel.island, panel.serving) == (
        "node-a, device a5, a-nic2",
        "island-a, 8 devices",
        "G0, 16 ranks",
    )
    assert [(row.name, row.label, row.before, row.after, row.reach) for row in panel.groups] == [
        ("Tensor", "T1", "4, ", ", 6, 7", "inside one island"),
        ("Pipeline", "P1", "1 → ", "", "inside one island"),
        ("Expert", "E5", "", ", 13", "crosses nodes"),
        ("Data", "D5", "", "", "one rank"),
    ]
    assert (panel.earlier, panel.later) == ("?rank=4#rank", "?rank=6#rank")


def test_the_memory_of_a_rank_is_drawn_from_its_parts() -> None:
    facts = example_facts()
    panel = rank_panel(facts, 4, metrics_of(facts.trial), Query(), None)
    assert panel is not None
    assert panel.memory is not None
    assert [part.name for part in panel.memory.parts] == [
        "Weights",
        "KV cache",
        "Activations",
        "Communication buffers",
        "Graph and kernel workspaces",
        "Allocator reserve",
    ]
    assert (panel.memory.peak, panel.memory.device, panel.memory.note) == ("50.0 GiB", "80.0 GiB", "the worst of 16")
    ends = [part.x + part.width for part in panel.memory.parts]
    assert [round(part.x - end, 1) for part, end in zip(panel.memory.parts[1:], ends, strict=False)] == [0.0] * 5


def test_a_lost_rank_says_so() -> None:
    facts = example_facts()
    states = [
        panel.state
        for rank in (0, 8)
        if (panel := rank_panel(facts, rank, (), Query(), facts.lost("node-b"))) is not None
    ]
    assert states == ["down with its serving group", "lost with its device"]


def test_there_is_no_panel_of_a_rank_that_does_not_exist() -> None:
    facts = example_facts()
    assert [rank_panel(facts, rank, (), Query(), None) for rank in (-1, 16)] == [None, None]


def test_the_table_has_every_rank_with_its_group_and_place_in_it() -> None:
    facts = example_facts()
    row = rank_rows(facts, metrics_of(facts.trial)[0], range(16), Query())[5]
    assert (row.node, row.device, row.nic, row.island, row.serving, row.groups, row.metric, row.href) == (
        "node-a",
        "a5",
        "a-nic2",
        "island-a",
        "G0",
        ("T1.1", "P1.1", "E5.0", "D5.0"),
        "49.9 GiB",
        "?rank=5#rank",
    )


def test_the_rank_with_the_highest_value_is_marked_in_the_table_and_the_heat_map() -> None:
    facts = example_facts()
    peak = metrics_of(facts.trial)[0]
    rows = rank_rows(facts, peak, range(16), Query())
    heat = heat_map(facts, peak, (("node-a", tuple(f"a{at}" for at in range(8))),))
    assert [row.rank for row in rows if row.is_worst] == [4]
    assert heat is not None
    assert heat.data["worst"] == (4, 0)


def test_many_ranks_are_pages_and_the_first_shown_has_the_selected_rank() -> None:
    facts = facts_of({f"n{at:02}": 8 for at in range(20)}, (8, 1, 1, 20))
    table = rank_table(facts, None, Query(), 70)
    assert (table.rows[0].rank, table.rows[-1].rank, table.shown.summary) == (64, 127, "Ranks 64–127 of 160")
    assert rank_table(facts, None, Query((("from", "128"),)), 70).rows[-1].rank == 159


def test_times_stand_apart_from_other_metrics_and_name_the_highest() -> None:
    facts = example_facts()
    panel = rank_panel(facts, 2, (metric(id="tokens", name="Tokens", unit="tokens"), metric()), Query(), None)
    assert panel is not None
    assert (panel.times, panel.metrics) == (
        (("Step", "30 ms", "highest of all"),),
        (("Tokens", "30 tokens", "highest of all"),),
    )


def test_a_large_group_is_written_by_its_ends() -> None:
    facts = facts_of({f"n{at:02}": 8 for at in range(5)}, (1, 1, 40, 1))
    panel = rank_panel(facts, 5, (), Query(), None)
    assert panel is not None
    row = next(row for row in panel.groups if row.name == "Expert")
    assert (row.before, row.after) == ("0, …, ", ", …, 39 (40 ranks)")


def test_the_heat_map_leaves_out_what_is_missing() -> None:
    found = heat_map(example_facts(), metric(), (("node-a", ("a0", "a1", "a2")), ("node-b", ("b0",))))
    assert found is not None
    assert (found.data["z"], found.data["text"]) == (
        [[10.0, None, 30.0], [None, None, None]],
        [["10<br>rank 0", "missing<br>rank 1", "30<br>rank 2<br>highest"], ["", "", ""]],
    )
    assert found.note == "Highest rank 2: 30 ms. Highest of window w for each rank. Missing for rank 1."


def test_a_heat_map_of_nothing_is_not_drawn() -> None:
    assert heat_map(example_facts(), metric(values=(None,) * 16), (("node-a", ("a0",)),)) is None


def test_rows_of_a_heat_map_have_names_that_differ_and_are_plain() -> None:
    found = heat_map(example_facts(), metric(), (("node-a", ("a0",)), ("node-a", ("a1",)), ("nöde", ("a2",))))
    assert found is not None
    assert found.data["rows"][:2] == ["node-a.1", "node-a.2"]
    assert found.data["rows"][2].startswith("t-")


def test_bounds_are_said_under_the_heat_map() -> None:
    found = heat_map(example_facts(), metric(bound="lower"), (("node-a", ("a0",)),))
    assert found is not None
    assert found.note.endswith("The values are lower bounds.")
