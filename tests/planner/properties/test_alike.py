"""Judging trials alike by their numbers gives what the gates give for each by itself, whatever the numbers are."""

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from planner.alike import Glance, Member, Verdicts, check_together, figures_of, outcomes_of, weigh_all
from planner.alike.form import form_of
from planner.alike.identities import QUICK
from planner.consistency import IDENTITIES
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import DocumentRefusedError
from planner.evaluate import Verdict, recorded, weigh
from planner.frontier import frontier, frontier_point
from planner.intake import read_contract, read_evidence
from planner.order import order_expand
from planner.view import view_maker, views
from tests.planner.documents import ABSENT, Change, changed, raw
from tests.planner.factories import AS_OF, BECAUSE, GIB, SATURATED, a_contract, a_load, an_evidence
from tests.planner.test_never_raises import AT_SATURATED, EVERY_GATE, TAIL, full_trial, pointers

SERVICE_GATES: dict[str, Any] = {
    **{name: limits for name, limits in EVERY_GATE.items() if name not in ("steady_state", "link_utilization")},
    "ttft": {"tail": TAIL | {"max_ms": 450}, "mean": TAIL | {"statistic": "mean", "max_ms": 336.5}},
    "memory_headroom": {"ranks": AT_SATURATED | {"max_sample_interval_s": 1}},
    "throughput": {"floor": AT_SATURATED | {"min_output_tokens_per_s": 200.5}},
    "completeness": {"most": AT_SATURATED | {"min_completed_share": 0.99}},
    "errors": {"failed": AT_SATURATED | {"max_failed_share": 0.01}},
    "cost": {
        "token": {"max_usd_per_million_output_tokens": 16.5, "because": BECAUSE},
        "hour": {"max_usd_per_hour": 12, "because": BECAUSE},
    },
    "failure_domain": {
        name: {"domain": domain, "horizon": "immediate", field: limit, "because": BECAUSE}
        for name, domain, field, limit in [
            ("share", "node", "max_capacity_share_lost", 0.5),
            ("rack", "rack", "max_capacity_share_lost", 1),
            ("left", "device", "min_capacity_left_of_required", 1.0025),
            ("groups", "node", "max_groups_lost", 1),
        ]
    },
}
OWED = {"scope_at_least": "deployment", "load_points": [SATURATED], "level": "required", "because": BECAUSE}
CONTRACTS: dict[str, tuple[Change, ...]] = {
    "service gates": (),
    "every gate": (("/gates", EVERY_GATE),),
    "exact identities": (("/comparison", {"consistency_tolerance": 0}),),
    "repeated": (("/steady_state", {"min_repeats": 2}),),
    "no context": (("/identity/workload/context_tokens", ABSENT), ("/gates/memory_headroom", ABSENT)),
    "no price": (("/fleet/usd_per_device_hour", ABSENT), ("/gates/cost", ABSENT)),
    "mixed fleet": (("/identity/hardware/devices/a1/memory_bytes", 96 * GIB),),
    "aged": (("/validity", {"max_evidence_age_s": 42_500}),),
    "open loop": (("/identity/workload/load_points/saturated", {"arrival": "open", "requests_per_s": 2}),),
    "one-sided": (("/gates/ttft/tail/statistic", "max"),),
    "lengths open": (("/identity/workload/output_tokens", {"max": 120}),),
    "reserve": (("/headroom/replica_capacity", {"reserved_share": 0.5}),),
    "owed closely": (("/evidence_required", {"ttft": OWED | {"metric": "load.ttft_ms", "min_samples": 205}}),),
    "cheapest": (("/selection", {"keys": [{"key": "usd_per_million_output_tokens"}, {"key": "ttft"}]}),),
}
WARM_UP = {
    "purpose": "warmup",
    "load_point": SATURATED,
    "start": "2026-10-01T12:00:00Z",
    "end": "2026-10-01T12:05:00Z",
}
TRIALS: dict[str, tuple[Change, ...]] = {
    "two groups": (),
    "one window": (("/windows/w2", ABSENT),),
    "other load point": (("/windows/w2/load_point", "open"),),
    "one group": (("/topology/instances/0/pp", 2), ("/topology/instances/0/dp", 1)),
    "one replica": (
        ("/topology/instances/0/pp", 2),
        ("/topology/instances/0/dp", 1),
        *((f"/windows/{window}/replicas/r0/ranks", [0, 1, 2, 3]) for window in ("w1", "w2")),
        *((f"/windows/{window}/replicas/r1", ABSENT) for window in ("w1", "w2")),
    ),
    "pools": (
        (
            "/topology/instances",
            [{"role": role, "tp": 2, "pp": 1, "ep": 1, "dp": 1, "world_size": 2} for role in ("prefill", "decode")],
        ),
    ),
    "no replicas": (("/windows/w1/replicas", ABSENT), ("/windows/w2/replicas", ABSENT)),
    "soaked": (("/windows/w2/purpose", "soak"),),
    "warmed up": (("/windows/w0", WARM_UP),),
    "sampled": tuple(
        (f"/windows/{window}/per_rank/device_used_peak_bytes/{field}", value)
        for window in ("w1", "w2")
        for field, value in (("sample_interval_s", 1), ("samples", 100))
    ),
    "requests of replicas": tuple(
        (f"/windows/{window}/replicas/{replica}/completed", 100) for window in ("w1", "w2") for replica in ("r0", "r1")
    ),
    "one replica queues": (("/windows/w1/replicas/r0/queued_requests_mean", 3),),
    "capacity of KV": tuple(
        (f"/windows/{window}/replicas/{replica}/kv_capacity_tokens", 40_000)
        for window in ("w1", "w2")
        for replica in ("r0", "r1")
    ),
}


def a_trial(kind: str, *, completed: int = 200, ttft: float = 336, peak: int = 54 * GIB) -> dict[str, Any]:
    """Return a trial of a kind whose figures keep every identity; link counters are left out."""
    trial = full_trial()
    for index, window in enumerate(trial["windows"].values()):
        own = completed + 5 * index
        del window["links"]
        window["load"] = a_load(completed=own, e2e_mean=ttft + 3366, ttft=(ttft, ttft + 64), tpot=34)
        window["per_rank"]["device_used_peak_bytes"]["values"][index] = peak
    tree: dict[str, Any] = changed(trial, *TRIALS[kind])
    for window in tree["windows"].values():
        replicas = window.get("replicas", {}).values()
        for replica in replicas:
            replica["output_tokens_total"] = window["load"]["output_tokens_total"] // len(replicas)
            if "completed" in replica:
                replica["completed"] = window["load"]["requests"]["completed"] // len(replicas)
    return tree


SPOTS = [pointer for pointer in pointers(a_trial("sampled")) if pointer.startswith("/windows/")]
NUMBERS = (0, 1, 4095, 200, 9900, 300.5, 500, 0.1, 1e-9, 5e-324, 1e300, 2**53 - 1, 64 * GIB)
TEXTS = ("x1", "soak", "open", "2026-10-01T12:10:00Z", "2026-10-01T12:11:40", "2026-10-03T00:00:00Z")
ODD = st.sampled_from([ABSENT, None, *NUMBERS, *TEXTS])
CHANGES: st.SearchStrategy[list[Change]] = st.one_of(
    st.just([]), st.lists(st.tuples(st.sampled_from(SPOTS), ODD), max_size=2)
)
COMPLETED = st.integers(199, 206)
TTFT = st.one_of(st.integers(300, 400), st.floats(300, 400), st.sampled_from([336.5, 386, 386.5]))
PEAK = st.sampled_from([54 * GIB, 64 * GIB, 64 * GIB + 1, 77 * GIB])


@st.composite
def campaigns(draw: st.DrawFn) -> tuple[ContractDocument, EvidenceDocument]:
    """Several trials of one kind or two under one contract, some with odd figures."""
    contract = a_contract(
        ("/selection", {"preset": draw(st.sampled_from(["highest_throughput", "smallest_first"]))}), gates=SERVICE_GATES
    )
    contract = changed(contract, *CONTRACTS[draw(st.sampled_from(sorted(CONTRACTS)))])
    kinds = draw(st.lists(st.sampled_from(sorted(TRIALS)), min_size=1, max_size=2))
    trials = {}
    for index in range(draw(st.integers(5, 12))):
        trial = a_trial(kinds[index % len(kinds)], completed=draw(COMPLETED), ttft=draw(TTFT), peak=draw(PEAK))
        for change in draw(CHANGES) if index else ():
            try:
                trial = changed(trial, change)
            except (KeyError, TypeError, IndexError):
                continue
        trials[f"t{index}"] = trial
    try:
        read = read_contract(raw(contract))
        return read, read_evidence(raw(changed(an_evidence(contract), ("/trials", trials))), read)
    except DocumentRefusedError:
        assume(False)
        raise


def at_a_glance(contract: ContractDocument, evidence: EvidenceDocument) -> Verdicts:
    record, ids = evidence.record, evidence.trial_content_ids
    members = [Member(name, trial, ids[name]) for name, trial in sorted(record.trials.items())]
    return weigh_all(members, order_expand(contract.record), view_maker(contract, evidence, AS_OF))


def assert_alike(contract: ContractDocument, evidence: EvidenceDocument) -> Verdicts:
    """Hold every verdict to that of the gates."""
    order, view_of = order_expand(contract.record), view_maker(contract, evidence, AS_OF)
    decided = at_a_glance(contract, evidence)
    points = []
    for name, verdict in decided.verdicts.items():
        plain = weigh(view_of(name), order.keys)
        points.append(frontier_point(view_of(name), plain, order))
        assert figures_of(verdict) == figures_of(plain)
        assert outcomes_of(verdict) == outcomes_of(plain) == outcomes_of(recorded(plain))
        assert (verdict.state, verdict.failing, verdict.unknown) == (plain.state, plain.failing, plain.unknown)
        assert (verdict.keys, verdict.missing_keys) == (plain.keys, plain.missing_keys)
        assert verdict.topology == plain.topology
        assert decided.point(name) == points[-1]
    check_together(together := views(contract, evidence, AS_OF))
    for name, view in together.items():
        assert view.checks == view_of(name).checks
    assert list(decided.verdicts) == sorted(evidence.record.trials)
    assert decided.unbeaten() == {point.trial for point in frontier(points) if point.non_dominated}
    return decided


@given(campaigns())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_numbers_give_the_verdict_of_the_gates(documents: tuple[ContractDocument, EvidenceDocument]) -> None:
    assert_alike(*documents)


def documents_of(trials: dict[str, Any]) -> tuple[ContractDocument, EvidenceDocument]:
    tree = a_contract(("/selection", {"preset": "smallest_first"}), gates=SERVICE_GATES)
    contract = read_contract(raw(tree))
    return contract, read_evidence(raw(changed(an_evidence(tree), ("/trials", trials))), contract)


@pytest.mark.parametrize("kind", TRIALS)
def test_trials_alike_are_judged_at_a_glance(kind: str) -> None:
    trials = {f"t{index}": a_trial(kind, completed=200 + index, ttft=336 + index / 4) for index in range(5)}
    decided = assert_alike(*documents_of(trials))
    assert [type(verdict) for verdict in decided.verdicts.values()] == [Glance] * 5


@pytest.mark.parametrize("kind", [kind for kind in TRIALS if kind != "two groups"])
def test_trials_of_two_kinds_are_judged_beside_each_other(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.alike.reading.AT_ONCE", 4)
    monkeypatch.setattr("planner.alike.verdicts.AT_HAND", 6)
    monkeypatch.setattr("planner.alike.verdicts.AT_ONCE", 3)
    trials = {
        f"t{index:02d}": a_trial(own, completed=200 + index, ttft=336 + index / 4)
        for index, own in enumerate(("two groups", kind) * 7)
    }
    for odd in ("t04", "t05"):
        trials[odd] = changed(trials[odd], ("/windows/w1/load/e2e_ms/mean", 4000))
    decided = assert_alike(*documents_of(trials))
    judged_by_gates = [name for name, verdict in decided.verdicts.items() if isinstance(verdict, Verdict)]
    assert judged_by_gates == ["t04", "t05"]


@pytest.mark.parametrize(
    ("kind", "together"),
    [
        pytest.param("two groups", True, id="other numbers"),
        pytest.param("one replica", True, id="other replicas"),
        pytest.param("one group", True, id="another placement"),
        pytest.param("no replicas", False, id="no replicas"),
        pytest.param("requests of replicas", False, id="more of each replica"),
        pytest.param("one replica queues", False, id="more of one replica"),
        pytest.param("sampled", False, id="sampled"),
    ],
)
def test_windows_are_read_together_that_differ_in_numbers_and_replicas(kind: str, together: bool) -> None:
    trials = {"t0": a_trial("two groups"), "t1": a_trial(kind, completed=201, ttft=340)}
    _, evidence = documents_of(trials)
    first, second = (trial.windows["w1"] for trial in evidence.record.trials.values())
    form = form_of("w1", first, 4)
    assert form.is_read_with(form_of("w1", second, 4, roots=[form.root])) is together


def test_every_identity_has_a_test_of_its_own() -> None:
    assert QUICK.keys() == {f"{each.__module__.rpartition('.')[2]}.{each.__name__}" for each in IDENTITIES}
