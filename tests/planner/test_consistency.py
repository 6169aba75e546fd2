"""Each identity: where it holds, where it breaks and which fields it then names, and where it is not evaluated."""

from typing import Any

import pytest

from planner.consistency import Check
from tests.planner.documents import ABSENT, Change
from tests.planner.factories import NO_CHANGE, Changes, a_view

LOAD = "/windows/w1/load"


def evaluated(changes: Changes = NO_CHANGE) -> tuple[Check, ...]:
    return a_view(None, changes).checks["w1"]


def broken(*trial: Change, contract: tuple[Change, ...] = ()) -> list[tuple[str, tuple[str, ...]]]:
    found = evaluated(Changes(trial=trial, contract=contract))
    return [(check.id, check.fields) for check in found if not check.holds]


def test_the_identities_of_a_true_window_hold() -> None:
    assert [check for check in evaluated() if not check.holds] == []


RATE = ("/load/requests/completed", "/load/duration_s")
BREACHES: dict[str, tuple[tuple[Change, ...], list[tuple[str, tuple[str, ...]]]]] = {
    "C1 more in flight than the load point allows": (
        (
            (f"{LOAD}/e2e_ms", {"n": 200, "mean": 4100}),
            (f"{LOAD}/tpot_ms", ABSENT),
        ),
        [("C1", (*RATE, "/load/e2e_ms/mean"))],
    ),
    "C2 per-token latency too long for the rate": (
        ((f"{LOAD}/itl_ms/mean", 45),),
        [("C2", ("/load/output_tokens_total", *RATE, "/load/itl_ms"))],
    ),
    "C3 another mean in flight": (
        ((f"{LOAD}/in_flight_mean", 7),),
        [("C3", ("/load/in_flight_mean", *RATE, "/load/e2e_ms/mean"))],
    ),
    "C4 percentiles out of order": (
        ((f"{LOAD}/itl_ms/p99", 301),),
        [("C4", ("/load/itl_ms/p99", "/load/itl_ms/max"))],
    ),
    "C4 first token after the last": (
        ((f"{LOAD}/e2e_ms", {"n": 200, "p95": 399}),),
        [("C4", ("/load/ttft_ms/p95", "/load/e2e_ms/p95"))],
    ),
    "C4 parts do not sum to the whole": (
        ((f"{LOAD}/tpot_ms/mean", 38),),
        [("C4", ("/load/e2e_ms/mean", "/load/ttft_ms/mean", "/load/tpot_ms/mean"))],
    ),
    "C5 total is not mean x completed": (
        ((f"{LOAD}/output_tokens_mean", 103),),
        [("C5", ("/load/output_tokens_total", "/load/output_tokens_mean", "/load/requests/completed"))],
    ),
    "C5 a stated rate is not the total over the duration": (
        ((f"{LOAD}/output_tokens_per_s", {"value": 50, "scope": "deployment"}),),
        [("C5", ("/load/output_tokens_per_s", "/load/output_tokens_total", "/load/duration_s"))],
    ),
    "C8 an array of another length": (
        (("/windows/w1/per_rank/power_watts", {"values": [1, 2, 3]}),),
        [("C8", ("/per_rank/power_watts",))],
    ),
    "C10 more bytes than the link carries": (
        (("/windows/w1/links/a-up/mixed", {"tx_bytes_total": 103 * 10**10}),),
        [("C10", ("/links/a-up/mixed/tx_bytes_total",))],
    ),
    "a peak below the mean": (
        (("/windows/w1/links/a-up/mixed/peak_rx_bytes", 10**9),),
        [
            (
                "peak",
                tuple(f"/links/a-up/mixed/{f}" for f in ("peak_rx_bytes", "rx_bytes_total", "sample_interval_s")),
            )
        ],
    ),
    "a duration that is not end - start": (
        (("/windows/w1/end", "2026-10-01T12:11:43Z"),),
        [("duration", ("/load/duration_s", "/start", "/end"))],
    ),
    "figures over other requests than completed": (
        ((f"{LOAD}/ttft_ms/n", 230), (f"{LOAD}/e2e_ms/n", 230)),
        [(("n"), (f"/load/{name}/n", "/load/requests/completed")) for name in ("ttft_ms", "e2e_ms")],
    ),
    "requests that are nowhere": (
        ((f"{LOAD}/requests/sent", 201),),
        [("requests", tuple(f"/load/requests/{name}" for name in ("sent", "completed", "failed", "cut_off")))],
    ),
    "more completed than were sent": (
        ((f"{LOAD}/requests", {"sent": 199, "completed": 200}),),
        [("parts", ("/load/requests/completed", "/load/requests/sent"))],
    ),
    "more ends than requests": (
        ((f"{LOAD}/requests", {"sent": 210, "completed": 200, "failed": 11}),),
        [("parts", ("/load/requests/completed", "/load/requests/failed", "/load/requests/sent"))],
    ),
    "more good than completed": (
        ((f"{LOAD}/requests/good", 201),),
        [("parts", ("/load/requests/good", f"/load/requests/{whole}")) for whole in ("completed", "sent")],
    ),
    "more refused than failed": (
        ((f"{LOAD}/requests/refused", 1),),
        [("parts", ("/load/requests/refused", "/load/requests/failed"))],
    ),
    "more timed out than failed": (
        ((f"{LOAD}/requests/timed_out", 1),),
        [("parts", ("/load/requests/timed_out", "/load/requests/failed"))],
    ),
    "a mean queue deeper than the deepest": (
        ((f"{LOAD}/queued_requests_mean", 3.5), (f"{LOAD}/queued_requests_max", 3)),
        [("queue", ("/load/queued_requests_mean", "/load/queued_requests_max"))],
    ),
    "replicas that do not sum to the deployment": (
        (("/windows/w1/replicas", {"r0": {"ranks": [0, 1, 2, 3], "completed": 190}}),),
        [("replicas", ("/load/requests/completed", "/replicas/r0/completed"))],
    ),
}


def test_a_window_that_ends_as_it_starts_holds_nothing() -> None:
    found = broken(("/windows/w1/start", "2026-10-01T12:11:40Z"), ("/windows/w1/end", "2026-10-01T12:11:40Z"))
    assert ("duration", ("/load/duration_s", "/start", "/end")) in found
    assert ("C10", ("/links/a-up/mixed/tx_bytes_total",)) in found


@pytest.mark.parametrize(("changes", "expected"), BREACHES.values(), ids=BREACHES.keys())
def test_a_breach_names_its_identity_and_every_field_of_it(changes: tuple[Change, ...], expected: list[Any]) -> None:
    assert broken(*changes) == expected


TOLERATED: dict[str, tuple[Change, ...]] = {
    "a stated rate 2 % off": ((f"{LOAD}/output_tokens_per_s", {"value": 196, "scope": "deployment"}),),
    "a stated rate per device": ((f"{LOAD}/output_tokens_per_s", {"value": 50, "scope": "device"}),),
    "a mean in flight 5 % off": ((f"{LOAD}/in_flight_mean", 7.41),),
    "input and output together": (
        (f"{LOAD}/input_tokens_total", 80_000),
        (f"{LOAD}/total_tokens_per_s", {"value": 1000, "scope": "deployment"}),
    ),
    "a duration 2 s shorter than the window": (("/windows/w1/end", "2026-10-01T12:11:42Z"),),
}


@pytest.mark.parametrize("changes", TOLERATED.values(), ids=TOLERATED.keys())
def test_a_small_difference_is_no_breach(changes: tuple[Change, ...]) -> None:
    assert broken(*changes) == []


def test_the_contract_may_declare_another_tolerance() -> None:
    changes = ((f"{LOAD}/output_tokens_per_s", {"value": 199, "scope": "deployment"}),)
    strict = (("/comparison", {"consistency_tolerance": 0.001}),)
    assert [name for name, _ in broken(*changes, contract=strict)] == ["C5"]


def without(identity: str, *trial: Change, contract: tuple[Change, ...] = ()) -> bool:
    """Say whether an identity that is evaluated as it stands is not, once changed."""
    before = {check.id for check in evaluated()}
    after = {check.id for check in evaluated(Changes(trial=trial, contract=contract))}
    return identity in before and identity not in after


UNEVALUATED: dict[str, tuple[str, tuple[Change, ...], tuple[Change, ...]]] = {
    "C1 in open loop": ("C1", (("/windows/w1/load_point", "open"),), ()),
    "C1 without mean E2E": ("C1", ((f"{LOAD}/e2e_ms/mean", None),), ()),
    "C2 with ITL per chunk": ("C2", ((f"{LOAD}/itl_ms/definition", "per_chunk"),), ()),
    "C2 with several samples for each request": ("C2", (), (("/identity/workload/sampling", {"n": 2}),)),
    "C5 without the mean": ("C5", ((f"{LOAD}/output_tokens_mean", ABSENT),), ()),
    "counts with one of them unknown": ("requests", ((f"{LOAD}/requests/cut_off", None),), ()),
    "duration with a time without a zone": ("duration", (("/windows/w1/start", "2026-10-01T12:10:00"),), ()),
}


@pytest.mark.parametrize(("identity", "trial", "contract"), UNEVALUATED.values(), ids=UNEVALUATED.keys())
def test_an_identity_is_left_out_where_it_is_not_valid_or_a_field_is_missing(
    identity: str, trial: tuple[Change, ...], contract: tuple[Change, ...]
) -> None:
    assert without(identity, *trial, contract=contract)


def test_the_sum_of_parts_needs_a_fixed_output_length() -> None:
    lengths = (("/identity/workload/output_tokens", {"mean": 100}),)
    assert broken((f"{LOAD}/tpot_ms/mean", 38), contract=lengths) == []
