"""The envelope of a small measured trial, and production beside it: every rank, group and link by itself."""

from fractions import Fraction
from typing import Any

import pytest

from planner.observations import Compared, Entry, compared, envelope, rolled_up, worst_first
from tests.planner.factories import BECAUSE, SATURATED, Changes, documents
from tests.planner.observations.batches import a_batch, level, times

GIB = 2**30
AT = {"load_point": SATURATED, "because": BECAUSE}
GATES: dict[str, Any] = {
    "memory_headroom": {"ranks": AT},
    "ttft": {"tail": {**AT, "statistic": "p95", "max_ms": 500}},
    "link_utilization": {"up": {**AT, "link_class": "inter_node", "max_utilization": 0.8, "max_sample_interval_s": 1}},
    "errors": {"failed": {**AT, "max_failed_share": 0.01}},
    "power": {"rank": {**AT, "max_watts_per_rank": 700}},
}
CONTRACT, EVIDENCE = documents(GATES)
ENTRIES = envelope(CONTRACT, "t", EVIDENCE.record.trials["t"])


def entry(metric: str, **of: Any) -> Entry:
    (found,) = [one for one in ENTRIES if one.metric == metric and all(getattr(one, name) == of[name] for name in of)]
    return found


def compare(*segments: dict[str, Any], entries: tuple[Entry, ...] = ENTRIES, **more: Any) -> list[Compared]:
    return list(compared(entries, rolled_up([a_batch(*segments)]), Fraction(600), **more))


def states(found: list[Compared]) -> list[tuple[str, int, str, bool | None]]:
    return [(one.key.metric, max(one.key.rank, one.key.group), one.state, one.drifted) for one in found]


def test_the_envelope_is_the_worst_that_was_measured_and_what_the_contract_allows() -> None:
    assert entry("device_used_bytes", rank=3) == Entry(
        metric="device_used_bytes",
        statistic="max",
        rank=3,
        limit=Fraction(64 * GIB),
        limit_at="/gates/memory_headroom/ranks",
        qualified=Fraction(54 * GIB),
        qualified_at="/trials/t/windows/w2/per_rank/device_used_peak_bytes/values/3",
    )
    assert entry("ttft_ms", statistic="p95") == Entry(
        metric="ttft_ms",
        statistic="p95",
        load=8,
        limit=Fraction(500),
        limit_at="/gates/ttft/tail/max_ms",
        qualified=Fraction(400),
        qualified_at="/trials/t/windows/w1/load/ttft_ms/p95",
    )
    link = entry("link_used_share", link="a-up")
    assert (link.limit, link.qualified) == (Fraction(72, 100), Fraction(6, 10))
    assert entry("requests_failed").limit == Fraction(1, 100)
    assert (entry("power_watts", rank=0).limit, entry("power_watts", rank=0).qualified) == (Fraction(700), None)
    assert entry("output_tokens").qualified == 210
    assert entry("itl_ms", statistic="p99").limit is None


def test_one_rank_over_its_limit_is_named_and_the_others_stay() -> None:
    found = compare(
        *(
            {"rank": rank, "metrics": {"device_used_bytes": level(used * GIB)}}
            for rank, used in enumerate((50, 65, 60, 54))
        )
    )
    assert states(found) == [
        ("device_used_bytes", 0, "WITHIN", False),
        ("device_used_bytes", 1, "BREACH", True),
        ("device_used_bytes", 2, "WITHIN", True),
        ("device_used_bytes", 3, "WITHIN", False),
    ]
    assert (found[1].used, found[1].drift) == (Fraction(65, 64), Fraction(65, 51) - 1)
    assert [one.key.rank for one in worst_first(found)] == [1, 2, 3, 0]


def tail(counts: list[int]) -> dict[str, Any]:
    return {"group": 0, "metrics": {"ttft_ms": times([200, 400, 600, 1000], [*counts, 0])}}


@pytest.mark.parametrize(
    ("counts", "state", "because"),
    [
        ([900, 90, 10, 0], "WITHIN", ""),
        ([900, 10, 10, 80], "BREACH", ""),
        ([900, 10, 90, 0], "UNKNOWN", ""),
        ([90, 5, 5, 0], "UNKNOWN", "n = 100, p95 needs 200."),
    ],
    ids=["below", "above", "across", "too few"],
)
def test_a_percentile_is_a_range(counts: list[int], state: str, because: str) -> None:
    (found,) = [one for one in compare(tail(counts)) if one.entry.statistic == "p95"]
    assert (found.state, found.because) == (state, because)


def test_without_a_histogram_there_is_no_percentile() -> None:
    found = compare({"group": 0, "metrics": {"ttft_ms": level(100, count=1000)}})
    assert [(one.entry.statistic, one.state, one.because) for one in found] == [
        ("p95", "UNKNOWN", "No histogram was recorded."),
        ("mean", "NO_LIMIT", ""),
    ]


def test_shapes_and_phases_of_one_segment_are_put_together_and_have_limits_of_their_own() -> None:
    shaped = {
        **GATES,
        "tails_by_shape": {"long": {**AT, "shape": "long", "latency": "ttft_ms", "statistic": "p95", "max_ms": 900}},
    }
    shapes = {"short": {"min_prompt_tokens": 0}, "long": {"min_prompt_tokens": 1000}}
    contract, evidence = documents(shaped, Changes(contract=(("/identity/workload/request_shapes", shapes),)))
    entries = envelope(contract, "t", evidence.record.trials["t"])
    long = {"group": 0, "shape": "long", "metrics": {"ttft_ms": times([200, 400, 600, 1000], [0, 0, 1000, 0, 0])}}
    short = {"group": 0, "shape": "short", "metrics": {"ttft_ms": times([200, 400, 600, 1000], [99000, 0, 0, 0, 0])}}
    found = [one for one in compare(long, short, entries=entries) if one.entry.statistic == "p95"]
    assert [(one.key.shape, one.state, one.entry.limit) for one in found] == [
        ("", "WITHIN", Fraction(500)),
        ("long", "WITHIN", Fraction(900)),
    ]


def test_shares_are_of_the_requests_of_the_same_segment() -> None:
    def counted(value: int) -> dict[str, Any]:
        return {"count": 1, "sum": value}

    metrics = {"requests_completed": counted(970), "requests_failed": counted(30)}
    (found,) = [one for one in compare({"group": 0, "metrics": metrics}) if one.entry.statistic == "share"]
    assert (found.state, found.high) == ("BREACH", Fraction(3, 100))
    (alone,) = compare({"group": 0, "metrics": {"requests_failed": counted(30)}})
    assert (alone.state, alone.because) == ("UNKNOWN", "Completed requests of the same segment were not recorded.")


def test_rates_of_groups_add_up_and_less_load_is_no_drift() -> None:
    segments = [{"group": group, "metrics": {"output_tokens": {"count": 1, "sum": 31_500}}} for group in (0, 1)]
    (found,) = compare(*segments)
    assert (found.key.group, found.high, found.used, found.drifted) == (-1, Fraction(105), Fraction(1, 2), False)


def test_a_sampled_level_without_its_most_is_unknown() -> None:
    (found,) = compare({"rank": 0, "metrics": {"device_used_bytes": {"count": 2, "sum": 9}}})
    assert (found.state, found.because, found.drifted) == ("UNKNOWN", "The most was not recorded.", None)


def test_how_far_is_drift_can_be_said() -> None:
    segment = {"rank": 0, "metrics": {"device_used_bytes": level(52 * GIB)}}
    assert [one.drifted for one in compare(segment)] == [False]
    assert [one.drifted for one in compare(segment, drift=Fraction(1, 100))] == [True]


def busy(count: int) -> dict[str, Any]:
    return {"group": 0, "metrics": {"running_requests": level(count)}}


@pytest.mark.parametrize(
    ("segments", "limit"),
    [([busy(1)], 250), ([busy(2)], 500), ([busy(9)], 500), ([], 500), ([{**busy(2), "group": 1}, busy(7)], 500)],
    ids=["idle", "busy", "beyond", "not said", "groups add up"],
)
def test_a_limit_of_an_idle_service_is_none_of_a_busy_one(segments: list[Any], limit: int) -> None:
    point = {"arrival": "closed", "concurrent_requests": 1}
    idle = {"load_point": "single", "statistic": "p95", "max_ms": 250, "because": BECAUSE}
    gates = {**GATES, "ttft": {**GATES["ttft"], "idle": idle}}
    change = ("/identity/workload/load_points/single", point)
    contract, evidence = documents(gates, Changes(contract=(change,)))
    entries = envelope(contract, "t", evidence.record.trials["t"])
    found = compare(tail([900, 90, 10, 0]), *segments, entries=entries)
    assert [one.entry.limit for one in found if one.key.metric == "ttft_ms" and one.entry.statistic == "p95"] == [limit]
