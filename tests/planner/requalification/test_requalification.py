"""Which gates and runs a change touches: one row for every kind, on a contract with a limit of every aspect."""

from typing import Any

import pytest

from planner.documents import ContractDocument
from planner.identity_check import key_differences
from planner.intake import read_contract, read_evidence
from planner.requalification import Requalification, contract_changes, identity_changes, requalification, too_old
from planner.requalification.changes import Change
from tests.planner.documents import Change as Put
from tests.planner.documents import raw
from tests.planner.factories import BECAUSE, FLOOR, SATURATED, a_contract, an_evidence

AT = {"load_point": SATURATED, "because": BECAUSE}
DIGEST = "sha256:" + "1" * 64
GATES: dict[str, Any] = {
    "throughput": {"floor": FLOOR},
    "ttft": {
        "tail": {**AT, "statistic": "p95", "max_ms": 500},
        "open_tail": {**AT, "load_point": "open", "statistic": "p95", "max_ms": 500},
    },
    "memory_headroom": {"ranks": AT},
    "link_utilization": {"up": {**AT, "link_class": "inter_node", "max_utilization": 0.9, "max_sample_interval_s": 1}},
    "transport": {"inside": {"boundary": "inside_node", "permitted": ["p2p"], "because": BECAUSE}},
    "quality": {"gsm": {"benchmark": "gsm8k", "max_drop": 0.01, "because": BECAUSE}},
    "errors": {"hangs": {**AT, "max_hangs": 0}},
    "cost": {"hour": {**AT, "max_usd_per_million_output_tokens": 100}},
}
PACE = {"throughput", "ttft", "cost"}
ALL = {*PACE, "memory_headroom", "link_utilization", "transport", "quality", "errors"}


def a_document(*changes: Put) -> ContractDocument:
    stack = {
        "engine": {"name": "engine", "version": "1"},
        "driver": {"version": "590.44"},
        "runtime": {"version": "13"},
        "collective_library": {"version": "2.30", "digest": DIGEST},
        "kernels_digest": DIGEST,
        "scheduler": {"policy": "fcfs"},
        "kv": {"block_tokens": 16},
        "router": {"policy": "least"},
        "flags": {"x": 1},
    }
    telemetry = {"client": {"name": "vllm-bench-serve 0.14"}, "memory": {"name": "dcgm 4"}, "own": {"name": "own 1"}}
    base: tuple[Put, ...] = (
        ("/identity/stack", stack),
        ("/identity/telemetry", telemetry),
        ("/identity/workload/batch", {"max": 8}),
        ("/identity/workload/speculation", "none"),
    )
    return read_contract(raw(a_contract(*base, *changes, gates=GATES)))


def changed(*changes: Put) -> Requalification:
    newer = a_document(*changes)
    return requalification(newer, contract_changes(a_document(), newer))


def measured(answer: Requalification) -> set[str]:
    return {gate.gate for gate in answer.gates if gate.how == "measure"}


def judged(answer: Requalification) -> set[str]:
    return {gate.gate for gate in answer.gates if gate.how == "judge"}


ROWS: dict[str, tuple[Put, set[str]]] = {
    "model": (("/identity/model/revision", "r2"), ALL),
    "precision": (("/identity/precision/weights", "fp8"), ALL),
    "context": (("/identity/workload/context_tokens", 2048), ALL - {"transport"}),
    "batching": (("/identity/workload/batch", {"max": 9}), ALL - {"transport"}),
    "workload": (("/identity/workload/output_tokens/fixed", 99), ALL - {"transport", "quality"}),
    "decoding": (("/identity/workload/speculation", "eagle"), ALL - {"transport"}),
    "engine": (("/identity/stack/engine/version", "2"), ALL),
    "flags": (("/identity/stack/flags/x", 2), ALL),
    "kernel": (("/identity/stack/kernels_digest", "sha256:" + "2" * 64), ALL),
    "runtime": (("/identity/stack/runtime/version", "14"), ALL),
    "collective_library": (("/identity/stack/collective_library/digest", "sha256:" + "2" * 64), ALL),
    "driver": (("/identity/stack/driver/version", "600"), ALL),
    "scheduler": (("/identity/stack/scheduler/policy", "sjf"), ALL - {"transport"}),
    "cache": (("/identity/stack/kv/block_tokens", 32), ALL - {"transport"}),
    "router": (("/identity/stack/router/policy", "hash"), ALL - {"transport", "quality"}),
    "hardware": (("/identity/hardware/devices/a0/memory_bytes", 2**36), ALL),
    "link": (("/identity/hardware/links/a-up/bytes_per_s_one_way", 10**9), ALL),
}


@pytest.mark.parametrize("kind", ROWS)
def test_what_a_change_of_identity_asks_to_be_measured(kind: str) -> None:
    put, gates = ROWS[kind]
    answer = changed(put)
    assert [change.kind for change in answer.changes] == [kind]
    assert measured(answer) == gates
    runs = {run.run for run in answer.runs}
    assert (("quality/gsm8k" in runs), ("saturated/soak" in runs)) == ("quality" in gates, "errors" in gates)
    assert {"saturated", "open"} <= runs


def test_equal_contracts_ask_for_nothing() -> None:
    answer = changed()
    assert (answer.changes, answer.gates, answer.runs, answer.sections) == ((), (), (), ())
    assert {gate.gate for gate in answer.kept} >= ALL
    assert {"saturated", "open", "quality/gsm8k"} <= set(answer.kept_runs)


@pytest.mark.parametrize("kind", ROWS)
def test_every_limit_and_run_is_either_asked_for_or_kept(kind: str) -> None:
    put, _ = ROWS[kind]
    answer, before = changed(put), changed()
    kept = {gate.gate: gate.limits for gate in answer.kept}
    assert kept.keys() & GATES.keys() == GATES.keys() - measured(answer) - judged(answer)
    assert kept.keys() <= {gate.gate for gate in before.kept} - measured(answer) - judged(answer)
    assert {run.run for run in answer.runs} | set(answer.kept_runs) == set(before.kept_runs)
    assert not {run.run for run in answer.runs} & set(answer.kept_runs)


def test_what_is_always_on_judges_what_is_measured() -> None:
    kept = {gate.gate for gate in changed(("/identity/stack/router/policy", "hash")).kept}
    assert kept & {"consistency", "telemetry", "freshness"} == set()
    assert {"rank_count", "placement"} <= kept
    assert "consistency" in {gate.gate for gate in changed(("/owner", "others")).kept}


def test_limits_of_one_gate_are_kept_one_by_one() -> None:
    answer = changed(("/identity/workload/load_points/open/requests_per_s", 3))
    assert {gate.gate: gate.limits for gate in answer.kept}["ttft"] == ("tail",)


def test_every_key_has_the_section_that_owns_it() -> None:
    answer = changed(
        ("/identity/stack/driver/version", "600"),
        ("/identity/model/revision", "r2"),
        ("/gates/cost/hour/max_usd_per_million_output_tokens", 9),
    )
    assert answer.sections == ("/gates", "/model", "/stack/driver")


def test_a_load_point_touches_only_what_reads_it() -> None:
    answer = changed(("/identity/workload/load_points/open/requests_per_s", 3))
    assert [(gate.gate, gate.limits) for gate in answer.gates if gate.how == "measure"] == [("ttft", ("open_tail",))]
    assert [run.run for run in answer.runs] == ["open"]
    assert judged(answer) == {"equal_service"}


@pytest.mark.parametrize(
    ("collector", "gates"),
    [("client", {*PACE}), ("memory", {"memory_headroom"}), ("own", ALL)],
)
def test_a_known_collector_touches_what_it_brings(collector: str, gates: set[str]) -> None:
    name = a_document().record.identity.telemetry[collector].name  # type: ignore[index]
    answer = changed((f"/identity/telemetry/{collector}/name", f"{name}1"))
    assert measured(answer) == gates
    assert "identity" in judged(answer)


@pytest.mark.parametrize(
    ("put", "gates"),
    [
        (("/gates/cost/hour/max_usd_per_million_output_tokens", 90), {"cost"}),
        (("/headroom/memory/reserved_share", 0.1), {"memory_headroom"}),
        (("/headroom/bandwidth/reserved_share", 0.2), {"link_utilization"}),
        (("/fleet/usd_per_device_hour", {"accel": 4}), {"cost"}),
        (("/comparison", {"accelerator_count": 4}), {"equal_service", "consistency"}),
        (("/validity", {"max_evidence_age_s": 9}), {"freshness"}),
        (("/owner", "others"), set()),
    ],
)
def test_what_is_no_identity_is_judged_on_the_evidence_there_is(put: Put, gates: set[str]) -> None:
    answer = changed(put)
    assert (measured(answer), answer.runs) == (set(), ())
    assert judged(answer) == gates
    assert not any(change.counts for change in answer.changes)


def test_shapes_are_judged_again_too() -> None:
    assert judged(changed(("/identity/hardware/devices/a0/memory_bytes", 2**36))) >= {
        "identity",
        "placement",
        "rank_count",
        "model_divisibility",
    }


def test_a_moved_rank_is_measured_again_with_its_answers() -> None:
    contract = a_document()
    live = {**a_contract()["identity"], "placement": {"rank_map_digest": "sha256:" + "f" * 64}}
    differences = key_differences({"model": {"name": "dense"}}, live, rank_map_digest=DIGEST)
    answer = requalification(contract, identity_changes(differences, contract))
    assert [(change.key, change.kind, change.section, change.counts) for change in answer.changes] == [
        ("/identity/placement/rank_map_digest", "placement", "/placement", True)
    ]
    assert measured(answer) == ALL


def test_requalify_on_says_which_keys_end_a_decision() -> None:
    newer = a_document(
        ("/validity", {"requalify_on": ["/identity/stack/driver"]}),
        ("/identity/stack/driver/version", "600"),
        ("/identity/stack/router/policy", "hash"),
    )
    changes = contract_changes(a_document(("/validity", {"requalify_on": ["/identity/stack/driver"]})), newer)
    assert {change.key: change.counts for change in changes} == {
        "/identity/stack/driver/version": True,
        "/identity/stack/router/policy": False,
    }


def test_evidence_names_the_trials_that_had_a_run() -> None:
    tree = a_contract(("/validity", {"max_evidence_age_s": 3600}))
    contract = read_contract(raw(tree))
    other = an_evidence(tree)["trials"]["t"]
    for place in other["rank_map"]:
        place.update(device=f"{place['device'][0]}{1 - int(place['device'][1])}")
    evidence = read_evidence(raw(an_evidence(tree, ("/trials/u", other))), contract)
    newer = read_contract(raw(a_contract(("/identity/hardware/devices/a0/memory_bytes", 2**36))))
    (change,) = [each for each in contract_changes(contract, newer) if each.kind == "hardware"]
    assert [run.trials for run in requalification(newer, [change], evidence).runs if run.run == "saturated"] == [
        ("t", "u")
    ]
    assert too_old(contract, evidence, "2026-10-01T12:30:00Z") == ()
    old = too_old(contract, evidence, "2026-10-01T13:12:00Z")
    assert old == (
        Change(
            key="/validity/max_evidence_age_s",
            kind="age",
            section="/validity",
            before="2026-10-01T12:11:40Z",
            after="2026-10-01T13:12:00Z",
            load_point=SATURATED,
            trials=frozenset(("t", "u")),
        ),
    )
    answer = requalification(contract, old, evidence)
    assert (measured(answer), judged(answer)) == ({"throughput"}, {"freshness"})
