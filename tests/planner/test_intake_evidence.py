"""Reading evidence: what joins its fields, and whether it belongs to a contract."""

from typing import Any

import pytest

from planner.canonical import content_id, file_sha256
from planner.intake import read_evidence
from tests.planner.documents import Change, changed, contract, evidence, example, findings, raw

WORKED = example("worked", "evidence")
A_TRIAL = next(iter(WORKED["trials"]))
A_WINDOW = next(iter(WORKED["trials"][A_TRIAL]["windows"]))
TRIAL = f"/trials/{A_TRIAL}"
WINDOW = f"{TRIAL}/windows/{A_WINDOW}"


def evidence_findings(*changes: Change) -> list[tuple[str, str, str, str]]:
    return findings(read_evidence, changed(WORKED, *changes), contract())


def test_evidence_is_read_with_its_digests_and_one_for_each_trial() -> None:
    document = read_evidence(raw(WORKED), contract())
    assert document.content_id == content_id(WORKED)
    assert document.file_sha256 == file_sha256(raw(WORKED))
    assert document.trial_content_ids == {trial: content_id(body) for trial, body in WORKED["trials"].items()}


@pytest.mark.parametrize("name", ["worked", "blast-radius", "minimal"])
def test_shipped_evidence_belongs_to_its_contract(name: str) -> None:
    assert findings(read_evidence, example(name, "evidence"), contract(name=name)) == []


def test_evidence_of_another_contract_is_refused() -> None:
    found = findings(read_evidence, WORKED, contract(("/owner", "someone else")))
    bound = WORKED["contract_content_id"]
    other = contract(("/owner", "someone else")).content_id
    assert found == [
        (
            "document/other_contract",
            "/contract_content_id",
            f'"{other}"',
            f'"{bound}": evidence belongs to another parallelism contract',
        )
    ]


def test_without_a_contract_the_binding_is_not_looked_at() -> None:
    assert evidence(("/scope", "another/slot")).record.scope == "another/slot"


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        pytest.param(
            ("/scope", "chat/eu-west "),
            ("document/other_slot", "/scope", 'the contract\'s slot, "chat/eu-west"', '"chat/eu-west "'),
            id="scope that differs by a space",
        ),
        pytest.param(
            (f"{TRIAL}/identity_id", "run-x"),
            ("document/unknown_reference", f"{TRIAL}/identity_id", "an identity of this evidence", '"run-x"'),
            id="identity that is not there",
        ),
        pytest.param(
            (f"{WINDOW}/load_point", "peak"),
            ("document/unknown_reference", f"{WINDOW}/load_point", "a load point of the contract", '"peak"'),
            id="load point that the contract lacks",
        ),
        pytest.param(
            (f"{TRIAL}/rank_map/1/rank", 2),
            ("document/rank_order", f"{TRIAL}/rank_map/1/rank", "1, the position in rank_map", "2"),
            id="rank away from its position",
        ),
        pytest.param(
            (f"{WINDOW}/start", "2026-02-30T10:00:00Z"),
            ("document/time", f"{WINDOW}/start", "a time that exists", '"2026-02-30T10:00:00Z"'),
            id="day that no calendar has",
        ),
        pytest.param(
            ("/provenance/collected_at", "2026-09-20T24:00:01Z"),
            ("document/time", "/provenance/collected_at", "a time that exists", '"2026-09-20T24:00:01Z"'),
            id="hour that no clock has",
        ),
        pytest.param(
            (f"{WINDOW}/end", "2020-01-01T00:00:00Z"),
            (
                "document/time",
                f"{WINDOW}/end",
                f"a time not before start, {WORKED['trials'][A_TRIAL]['windows'][A_WINDOW]['start']}",
                '"2020-01-01T00:00:00Z"',
            ),
            id="window that ends before it starts",
        ),
    ],
)
def test_refuses_fields_that_do_not_go_together(change: Change, finding: tuple[str, str, str, str]) -> None:
    assert evidence_findings(change) == [finding]


def test_a_rank_map_twice_the_same_rank_is_refused_at_the_later_place() -> None:
    found = evidence_findings((f"{TRIAL}/rank_map/3/rank", 0))
    assert found == [("document/rank_order", f"{TRIAL}/rank_map/3/rank", "3, the position in rank_map", "0")]


def test_a_place_that_the_contract_lacks_is_left_to_the_gates() -> None:
    assert evidence_findings((f"{TRIAL}/rank_map/0/device", "z9"), (f"{TRIAL}/rank_map/1/node", "node-z")) == []


def test_two_trials_with_one_body_are_refused() -> None:
    found = evidence_findings(("/trials/t-copy", WORKED["trials"][A_TRIAL]))
    expected = f'a trial that differs from "{A_TRIAL}"'
    assert found == [("document/duplicate_trial", "/trials/t-copy", expected, "an equal one")]


def test_bodies_that_differ_only_in_writing_are_equal() -> None:
    body: Any = dict(reversed(WORKED["trials"][A_TRIAL].items()))
    assert [finding[0] for finding in evidence_findings(("/trials/t-copy", body))] == ["document/duplicate_trial"]


def test_a_window_without_zone_is_left_to_freshness() -> None:
    window = WORKED["trials"][A_TRIAL]["windows"][A_WINDOW]
    changes = [(f"{WINDOW}/{name}", window[name].removesuffix("Z")) for name in ("start", "end")]
    assert evidence_findings(*changes) == []


def test_problems_of_one_trial_do_not_hide_those_of_the_next() -> None:
    trials = list(WORKED["trials"])
    found = evidence_findings(
        (f"/trials/{trials[0]}/identity_id", 7),
        (f"/trials/{trials[1]}/identity_id", "run-x"),
        (f"/trials/{trials[2]}/windows", {}),
    )
    assert [finding[:2] for finding in found] == [
        ("document/type", f"/trials/{trials[0]}/identity_id"),
        ("document/unknown_reference", f"/trials/{trials[1]}/identity_id"),
        ("document/length", f"/trials/{trials[2]}/windows"),
    ]


@pytest.mark.parametrize(
    ("ids", "later"),
    [
        pytest.param(["t-1", "t-l"], "t-l", id="one and l"),
        pytest.param(["t-1", "t-i"], "t-i", id="one and i"),
        pytest.param(["ao", "a0"], "a0", id="o and zero"),
        pytest.param(["burn-1", "bum-1"], "bum-1", id="rn and m"),
        pytest.param(["l0", "10", "x"], "10", id="both at once"),
    ],
)
def test_trial_ids_that_look_alike_are_refused(ids: list[str], later: str) -> None:
    trials = {name: {**WORKED["trials"][A_TRIAL], "source": f"file {index}"} for index, name in enumerate(ids)}
    found = findings(read_evidence, changed(WORKED, ("/trials", trials)))
    assert [(code, pointer) for code, pointer, _, _ in found] == [("document/confusable_id", f"/trials/{later}")]


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param([f"a{digit}" for digit in range(12)], id="numbered series"),
        pytest.param([f"node-{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"], id="lettered series"),
        pytest.param([f"t-{number:03d}" for number in range(120)], id="padded series"),
        pytest.param([f"d{number:x}" for number in range(300)], id="hexadecimal series"),
        pytest.param(["t-1", "t.1", "t_1", "t-1-0"], id="separators"),
    ],
)
def test_ordinary_series_of_ids_are_accepted(ids: list[str]) -> None:
    body = WORKED["trials"][A_TRIAL]
    trials = {name: {**body, "source": f"file {index}"} for index, name in enumerate(ids)}
    assert findings(read_evidence, changed(WORKED, ("/trials", trials))) == []


def test_bytes_of_a_rank_that_are_not_whole_are_refused_where_they_stand() -> None:
    metric = {"values": [1, 75.5]}
    assert evidence_findings((f"{WINDOW}/per_rank", {"device_used_peak_bytes": metric})) == [
        (
            "document/type",
            f"{WINDOW}/per_rank/device_used_peak_bytes/values/1",
            "an integer, because device_used_peak_bytes counts",
            "75.5",
        )
    ]


@pytest.mark.parametrize(
    ("at", "record"),
    [
        pytest.param(
            "/quality/q",
            {"benchmark": "b", "topology": "tp1-pp1-ep1-dp1", "score": 1, "identity_id": "gone"},
            id="score",
        ),
        pytest.param(
            "/baseline", {"topology": "tp1-pp1-ep1-dp1", "ranks": 1, "fits": True, "identity_id": "gone"}, id="baseline"
        ),
    ],
)
def test_what_names_an_identity_that_is_not_there_is_refused(at: str, record: dict[str, Any]) -> None:
    section = f"{TRIAL}/{at.split('/')[1]}"
    assert evidence_findings((section, {"q": record} if at.endswith("/q") else record)) == [
        ("document/unknown_reference", f"{TRIAL}{at}/identity_id", "an identity of this evidence", '"gone"')
    ]


END = f"{WINDOW}/end"
FILE = {"name": "client.json", "sha256": f"sha256:{'1' * 64}", "bytes": 2}


def sourced(at: str, source: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return evidence_findings(("/provenance/files", {"client": FILE}), ("/provenance/sources", {at: source}))


def test_a_value_may_say_where_it_comes_from() -> None:
    place = {"file": "client", "pointer": "/end", "line": 1, "raw": "1758441600", "raw_unit": "s", "settled_by": "u-1"}
    assert sourced(END, place) == []
    assert sourced(END, {"answered_by": "u-1"}) == []
    assert sourced(f"{TRIAL}/rank_map/0", {"derived_from": [f"{TRIAL}/topology"]}) == []


@pytest.mark.parametrize(
    ("at", "source", "below", "expected", "found"),
    [
        pytest.param(f"{END}s", {"answered_by": "u-1"}, "", "value of this evidence", f'"{END}s"', id="no such value"),
        pytest.param(END, {"file": "log"}, "/file", "a file of this evidence", '"log"', id="no such file"),
        pytest.param(
            END,
            {"derived_from": ["/trials/x"]},
            "/derived_from/0",
            "value of this evidence",
            '"/trials/x"',
            id="derived",
        ),
        pytest.param(END, {"line": 3}, "/file", "file, answered_by or derived_from", "nothing", id="from nowhere"),
    ],
)
def test_a_source_that_leads_nowhere_is_refused(
    at: str, source: dict[str, Any], below: str, expected: str, found: str
) -> None:
    ((code, pointer, wanted, was),) = sourced(at, source)
    assert code == ("document/missing_field" if found == "nothing" else "document/unknown_reference")
    assert pointer == f"/provenance/sources/{at.replace('/', '~1')}{below}"
    assert (wanted.endswith(expected), was) == (True, found)
