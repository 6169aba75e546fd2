"""What a person says, what files say, and which of it counts."""

from typing import Any

import pytest

from planner.builder import (
    Draft,
    add_files,
    answer,
    assemble,
    confirm,
    decide_held,
    new_window,
    pseudonymise,
    settle,
    unanswer,
    unsettle,
)
from planner.builder.trees import trees_of
from planner.errors import DocumentRefusedError
from tests.planner.builder.kit import (
    BECAUSE,
    BY,
    bench,
    completed,
    contract,
    drafted,
    log,
    looked_at,
    memory,
    read,
    run_named,
)

TWO_MODELS = {"a.log": log(2, model="example/model-9b"), "b.json": bench()}
NAME = "/identities/tp2/model/name"


def value(draft: Draft, field: str, trial: str = "tp2") -> Any:
    """The value of a field that counts, None where none does."""
    found = trees_of(draft, contract()).trials[trial].values.get(field)
    return None if found is None else found.value


def problems(draft: Draft, at: str, said: Any, by: str = BY) -> list[tuple[str, str, str]]:
    with pytest.raises(DocumentRefusedError) as caught:
        answer(draft, contract(), at, said, by=by)
    return [(problem.code, problem.pointer, problem.expected) for problem in caught.value.problems]


def test_sources_that_differ_stand_side_by_side_and_none_counts() -> None:
    draft = drafted(TWO_MODELS)
    (conflict,) = looked_at(draft).conflicts
    assert (conflict.field, conflict.settled, value(draft, NAME)) == (NAME, False, None)
    assert [(one.value, one.file, one.format) for one in conflict.candidates] == [
        ("example/model-9b", "a.log", "vllm-log"),
        ("example/model-8b", "b.json", "vllm-bench-serve"),
    ]
    assert [one.place.pointer for one in conflict.candidates] == [None, "/model_id"]
    assert conflict.settle_at[:2] == (NAME, "/identities/*/model/name")
    assert any(point.code == "builder/conflict" and point.field == NAME for point in looked_at(draft).open)


@pytest.mark.parametrize("at", [NAME, "/identities/*/model/name", "/identities/*/model"])
@pytest.mark.parametrize("how", ["run", "format"])
def test_a_source_is_chosen_at_the_field_or_above_it(at: str, how: str) -> None:
    draft = drafted(TWO_MODELS)
    chosen = {"run": run_named(draft, "b.json"), "format": "vllm-bench-serve"}[how]
    settled = settle(draft, at, by=BY, because=BECAUSE, **{how: chosen})
    assert value(settled, NAME) == "example/model-8b"
    (conflict,) = looked_at(settled).conflicts
    assert conflict.settled
    assert value(unsettle(settled, at), NAME) is None


def test_an_own_value_counts_before_every_source() -> None:
    settled = settle(drafted(TWO_MODELS), NAME, by=BY, because=BECAUSE, value="example/model-10b")
    assert value(settled, NAME) == "example/model-10b"


def test_the_most_exact_settlement_counts() -> None:
    draft = settle(drafted(TWO_MODELS), "/identities/*/model", by=BY, because=BECAUSE, format="vllm-log")
    assert value(draft, NAME) == "example/model-9b"
    assert value(settle(draft, NAME, by=BY, because=BECAUSE, format="vllm-bench-serve"), NAME) == "example/model-8b"


def test_an_answer_does_not_overrule_a_file() -> None:
    answered = answer(drafted(), contract(), NAME, "another", by=BY)
    assert value(answered, NAME) == "example/model-8b"


def test_the_most_exact_answer_counts() -> None:
    draft = answer(drafted(), contract(), "/identities/*/model/revision", "r1", by=BY)
    draft = answer(draft, contract(), "/identities/tp4/model/revision", "r2", by=BY)
    assert value(draft, "/identities/tp2/model/revision") == "r1"
    assert value(draft, "/identities/tp4/model/revision", "tp4") == "r2"
    back = unanswer(draft, "/identities/tp4/model/revision")
    assert value(back, "/identities/tp4/model/revision", "tp4") == "r1"


@pytest.mark.parametrize(
    ("at", "said", "problem"),
    [
        pytest.param(
            "/identities/*/model/layers",
            "many",
            ("document/type", "/identities/*/model/layers", "an integer of at least 1"),
            id="text for a count",
        ),
        pytest.param(
            "/trials/*/windows/*/start",
            "noon",
            ("document/pattern", "/trials/*/windows/*/start", "a time such as 2026-09-20T09:40:00Z"),
            id="a word for a time",
        ),
        pytest.param(
            "/trials/*/rank_map",
            [{"rank": 0, "node": "n", "device": "A 0"}],
            (
                "document/pattern",
                "/trials/*/rank_map/0/device",
                "an id: 1 to 64 of a-z, 0-9, '.', '_', '-', first a letter or digit",
            ),
            id="inside a rank map",
        ),
        pytest.param(
            "/trials/tp9/rank_map",
            [],
            ("builder/trial", "/trials/tp9/rank_map", "a trial of the draft, or *"),
            id="trial",
        ),
        pytest.param(
            "/trials/*/speed",
            1,
            ("builder/field", "/trials/*/speed", "a field of the evidence document"),
            id="no such field",
        ),
        pytest.param(
            "/contract_content_id",
            "x",
            ("builder/field", "/contract_content_id", "a field that a person answers"),
            id="fixed",
        ),
        pytest.param(
            "/provenance/sources",
            {},
            ("builder/field", "/provenance/sources", "a field that a person answers"),
            id="sources",
        ),
        pytest.param(
            "/trials/*/windows/*/load/in_flight_mean",
            float("nan"),
            ("builder/value", "/trials/*/windows/*/load/in_flight_mean", "a JSON value"),
            id="no number",
        ),
    ],
)
def test_an_answer_of_another_type_is_refused(at: str, said: Any, problem: tuple[str, str, str]) -> None:
    assert problems(drafted(), at, said) == [problem]


def test_a_person_is_a_label() -> None:
    ((code, pointer, _),) = problems(drafted(), "/identities/*/model/revision", "r1", by="Ann Example")
    assert (code, pointer) == ("document/pattern", "/by")


def test_an_answer_may_be_of_every_device() -> None:
    draft = answer(drafted(), contract(), "/identities/*/hardware/devices/*/node", "node-a", by=BY)
    draft = answer(draft, contract(), "/identities/tp2/hardware/devices/a1/node", "unknown", by=BY)
    found = [value(draft, f"/identities/tp2/hardware/devices/a{index}/node") for index in range(4)]
    assert found == ["node-a", "unknown", "node-a", "node-a"]


def test_unknown_is_an_answer_to_every_leaf() -> None:
    draft = answer(drafted(), contract(), "/identities/*/model/layers", "unknown", by=BY)
    assert "/identities/*/model/layers" in draft.answers


def test_a_confirmed_proposal_is_an_answer() -> None:
    purpose = "/trials/tp2/windows/single/purpose"
    draft = confirm(drafted(), contract(), [purpose], by=BY)
    assert (draft.answers[purpose].value, draft.answers[purpose].by) == ("counted", BY)


def test_what_has_no_proposal_is_not_confirmed() -> None:
    fields = ["/provenance/collected_by", "/trials/tp2/speed"]
    with pytest.raises(DocumentRefusedError) as caught:
        confirm(drafted(), contract(), fields, by=BY)
    assert [(problem.code, problem.pointer) for problem in caught.value.problems] == [
        ("builder/proposal", field) for field in fields
    ]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, "none of them"),
        ({"run": "0" * 16 + ".1", "value": 1}, "run and value"),
        ({"format": "guidellm"}, '"guidellm"'),
    ],
)
def test_exactly_one_thing_settles(given: dict[str, Any], found: str) -> None:
    with pytest.raises(DocumentRefusedError) as caught:
        settle(drafted(), NAME, by=BY, because=BECAUSE, **given)
    assert [problem.found for problem in caught.value.problems] == [found]


def test_a_held_run_feeds_nothing_until_it_is_decided() -> None:
    draft = drafted({"a.log": log(2), "conc32.json": bench()})
    run = run_named(draft, "conc32.json")
    total = "/trials/tp2/windows/saturated/load/output_tokens_total"
    assert value(draft, total) is None
    assert [(held.file, held.decided) for held in looked_at(draft).held] == [("conc32.json", None)]
    assert any(point.code == "builder/held" for point in looked_at(draft).open)
    assert value(decide_held(draft, run, use=True, by=BY, because=BECAUSE), total) == 100_000
    refused = decide_held(draft, run, use=False, by=BY, because="The wrong load.")
    assert refused.trials["tp2"].windows == {}
    assert [note.sentence for note in looked_at(refused).unused] == ["not to be used: The wrong load."]
    assert not any(point.code == "builder/held" for point in looked_at(refused).open)


def test_what_was_said_of_a_window_that_is_gone_is_named() -> None:
    purpose = "/trials/tp2/windows/saturated/purpose"
    draft = answer(drafted(), contract(), purpose, "counted", by=BY)
    assert looked_at(draft).idle == ()
    more = [read(bench(date="20260301-091500"), "tp2_again.json")]
    grown = add_files(draft, contract(), more).draft
    assert sorted(grown.trials["tp2"].windows) == ["saturated-1", "saturated-2", "single"]
    assert looked_at(grown).idle == (purpose,)


def test_files_of_different_runs_are_no_trial() -> None:
    draft = answer(completed(drafted()), contract(), "/trials/tp2/same_run", False, by=BY)
    assert [(point.code, point.field) for point in looked_at(draft).open] == [
        ("builder/not_same_run", "/trials/tp2/same_run")
    ]


def test_hosts_are_replaced_throughout_and_always_by_the_same() -> None:
    files = {"gpu-17.example.org.log": log(2), "10.1.2.3_tp2.json": bench(), "m.json": memory(2)}
    draft = pseudonymise(drafted(files), ["gpu-17.example.org"])
    assert draft.pseudonyms == {"gpu-17.example.org": "host-1", "10.1.2.3": "host-2"}
    assert pseudonymise(draft, ["other", "10.1.2.3"]).pseudonyms["10.1.2.3"] == "host-2"
    draft = answer(draft, contract(), "/provenance/hosts", ["gpu-17.example.org", "gpu-170.example.org"], by=BY)
    made = assemble(completed(draft), contract())
    assert made.open == ()
    text = made.document.decode()
    assert "10.1.2.3" not in text
    assert '"hosts":["host-1","gpu-170.example.org"]' in text
    assert '"name":"host-1.log"' in text


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(f"/identities/tp2/{'x' * 600}", id="longer than a pointer"),
        pytest.param("/identities/tp2/a\x01b", id="with a control"),
        pytest.param("", id="the document itself"),
        pytest.param("/trials/tp2/windows/tp4-only/purpose", id="a window of another trial"),
    ],
)
def test_what_is_settled_is_a_field_that_a_stored_draft_can_name(at: str) -> None:
    draft = new_window(drafted(), contract(), "tp4", "tp4-only", "single", by=BY)
    with pytest.raises(DocumentRefusedError):
        settle(draft, at, by=BY, because=BECAUSE, run=run_named(draft, "tp2.log"))


@pytest.mark.parametrize(
    "field",
    ["replicas/replica-²/kv_capacity_tokens", "replicas/A name/completed", "per_rank/weights_bytes/values/007"],
)
def test_an_id_or_place_that_no_document_has_is_no_field(field: str) -> None:
    assert problems(drafted(), f"/trials/tp2/windows/*/{field}", 5) == [
        ("builder/field", f"/trials/tp2/windows/*/{field}", "a field of the evidence document")
    ]
