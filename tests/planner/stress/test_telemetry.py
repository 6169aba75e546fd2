"""One required metric at a time is null in one place."""

from typing import Any

import pytest

from planner.stress import stress_matrix
from planner.stress.base import NotInjectable
from tests.planner.documents import ABSENT, Change
from tests.planner.factories import AS_OF, BECAUSE, NO_CHANGE, Changes, documents
from tests.planner.stress.cases import cell, differences, fault, injected, limits, original

AT = {"load_point": "saturated"}
GATES = limits(
    memory_headroom=AT,
    ttft={**AT, "statistic": "p95", "max_ms": 500},
    throughput={**AT, "min_output_tokens_per_s": 150},
    tpot={**AT, "statistic": "mean", "max_ms": 50},
    link_utilization={**AT, "link_class": "inter_node", "max_utilization": 0.9, "max_sample_interval_s": 1},
)
REQUIRED: tuple[Change, ...] = (
    (
        "/evidence_required",
        {
            level: {
                "metric": metric,
                "scope_at_least": "deployment",
                "load_points": ["saturated"],
                "level": level,
                "because": BECAUSE,
            }
            for level, metric in (("required", "replicas.completed"), ("advisory", "load.queue_ms"))
        },
    ),
)
ONE_REPLICA = Changes(
    contract=REQUIRED,
    trial=tuple(
        (f"/windows/{window}/replicas", {"r0": {"ranks": [0, 1, 2, 3], "completed": completed}})
        for window, completed in (("w1", 200), ("w2", 210))
    ),
)


def targets(gates: dict[str, Any], changes: Changes = NO_CHANGE) -> list[str]:
    matrix = stress_matrix(*documents(gates, changes), AS_OF)
    return [row.target for row in matrix.rows if row.injection == "incomplete_telemetry"]


def test_every_metric_that_a_limit_asks_for_gets_a_row() -> None:
    assert targets(GATES) == [
        "links.peak_tx_bytes",
        "links.peak_rx_bytes",
        "links.sample_interval_s",
        "per_rank.device_used_peak_bytes",
        "load.longest_sequence_tokens",
        "load.ttft_ms",
        "load.tpot_ms",
        "load.output_tokens_total",
        "load.duration_s",
        "load.requests",
    ]


def test_required_evidence_gets_a_row_and_advisory_evidence_none() -> None:
    found = targets(limits(throughput={**AT, "min_output_tokens_per_s": 150}), Changes(contract=REQUIRED))
    assert found == ["load.output_tokens_total", "load.duration_s", "load.requests", "replicas.completed"]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        pytest.param(
            "per_rank.device_used_peak_bytes", {"/windows/w1/per_rank/device_used_peak_bytes/values/3"}, id="last rank"
        ),
        pytest.param("links.peak_tx_bytes", {"/windows/w1/links/b-up/mixed/peak_tx_bytes"}, id="last link"),
        pytest.param("links.sample_interval_s", {"/windows/w1/links/b-up/mixed/sample_interval_s"}, id="interval"),
        pytest.param("load.ttft_ms", {"/windows/w1/load/ttft_ms/p95"}, id="the statistic asked for"),
        pytest.param("load.tpot_ms", {"/windows/w1/load/tpot_ms/definition"}, id="the definition asked for"),
        pytest.param("load.duration_s", {"/windows/w1/load/duration_s"}, id="a figure"),
        pytest.param("load.requests", {"/windows/w1/load/requests/completed"}, id="a member"),
    ],
)
def test_one_place_of_one_window_is_left_out(metric: str, expected: set[str]) -> None:
    found = differences(original(), injected("incomplete_telemetry", GATES, target=metric))
    assert found.keys() == expected
    assert {after for _, after in found.values()} == {None}


def test_the_highest_replica_is_left_out() -> None:
    found = injected("incomplete_telemetry", GATES, ONE_REPLICA, target="replicas.completed")
    assert found["windows"]["w1"]["replicas"]["r0"]["completed"] is None


@pytest.mark.parametrize("metric", targets(GATES))
def test_every_gap_is_caught_by_telemetry(metric: str) -> None:
    found = cell("incomplete_telemetry", GATES, target=metric)
    assert (found.result, found.gate, found.intended, found.outcome, found.state) == (
        "CAUGHT",
        "telemetry",
        True,
        "UNKNOWN",
        "INCONCLUSIVE",
    )


def test_a_gap_is_masked_where_another_one_was_there_before() -> None:
    changes = Changes(trial=(("/windows/w2/load/duration_s", None),))
    assert cell("incomplete_telemetry", GATES, changes, target="load.requests").result == "MASKED"


def test_a_metric_that_no_window_records_can_not_be_left_out() -> None:
    changes = Changes(trial=tuple((f"/windows/{window}/links", ABSENT) for window in ("w1", "w2")))
    assert fault("incomplete_telemetry", GATES, changes, target="links.peak_tx_bytes")[1] == NotInjectable(
        sentence="links.peak_tx_bytes is not recorded where it is owed."
    )
