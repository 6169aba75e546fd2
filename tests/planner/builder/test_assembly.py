"""The document: whole or not at all, every value with its source, the same bytes every time."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from planner.builder import answer, assemble, draft_bytes, move_run, read_draft, settle, unanswer
from planner.canonical import canonical_bytes
from planner.intake import read_evidence
from planner.pointers import child, steps
from tests.planner.builder.kit import (
    BECAUSE,
    BY,
    FILES,
    bench,
    completed,
    contract,
    drafted,
    log,
    looked_at,
    memory,
    run_named,
)
from tests.planner.importers.exporter_samples import vllm

SATURATED = "/trials/tp2/windows/saturated"


@pytest.fixture(scope="module")
def tree() -> Any:
    """The document of the afternoon."""
    return json.loads(assemble(completed(drafted()), contract()).document)


def leaves(tree: Any, at: str = "") -> Iterator[str]:
    """Yield the pointer of every value that is no collection; nulls say that there is none."""
    members = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for name, item in members:
        yield from leaves(item, child(at, name))
    if not isinstance(tree, dict | list) and tree is not None:
        yield at


def test_every_value_says_where_it_comes_from(tree: Any) -> None:
    sources = tree["provenance"].pop("sources")
    files = tree["provenance"].pop("files")

    def known(at: str) -> bool:
        path = steps(at)
        return any("".join(child("", step) for step in path[:length]) in sources for length in range(1, len(path) + 1))

    bound = {"/schema", "/contract_content_id", "/scope", "/trials/tp2/identity_id", "/trials/tp4/identity_id"}
    assert {at for at in leaves(tree) if not known(at)} == bound
    tree["provenance"] |= {"sources": sources, "files": files}


@pytest.mark.parametrize(
    ("field", "name", "source"),
    [
        pytest.param(
            f"{SATURATED}/load/ttft_ms/p99", "tp2_saturated.json", {"pointer": "/p99_ttft_ms", "line": 1}, id="JSON"
        ),
        pytest.param(
            f"{SATURATED}/per_rank/weights_bytes/values/0",
            "tp2.log",
            {"line": 3, "raw": "7.5", "raw_unit": "GiB"},
            id="line, other unit",
        ),
        pytest.param(
            f"{SATURATED}/per_rank/device_used_peak_bytes/values/1",
            "tp2_memory.json",
            {"pointer": "/gpus/1/memory_used_mib_max", "line": 1, "raw": "100000", "raw_unit": "MiB"},
            id="by device",
        ),
        pytest.param(
            "/identities/tp2/model/layers", "config.json", {"pointer": "/num_hidden_layers"}, id="of the model"
        ),
        pytest.param(
            f"{SATURATED}/load_point", "tp2_saturated.json", {"pointer": "/max_concurrency", "line": 1}, id="load point"
        ),
    ],
)
def test_a_value_of_a_file_names_file_and_place(tree: Any, field: str, name: str, source: dict[str, Any]) -> None:
    found = dict(tree["provenance"]["sources"][field])
    assert tree["provenance"]["files"][found.pop("file")]["name"] == name
    assert {key: item for key, item in found.items() if key in {*source, "raw", "raw_unit", "settled_by"}} == source


def test_a_settled_value_names_who_chose_its_source() -> None:
    name = "/identities/tp2/model/name"
    draft = drafted({**FILES, "tp2.log": log(2, model="example/model-9b")})
    draft = settle(draft, name, by="user-8", because=BECAUSE, format="vllm-bench-serve")
    made = json.loads(assemble(completed(draft), contract()).document)
    assert made["identities"]["tp2"]["model"]["name"] == "example/model-8b"
    found = made["provenance"]["sources"][name]
    assert (found["pointer"], found["settled_by"]) == ("/model_id", "user-8")


def test_other_values_name_the_person_or_what_they_follow_from(tree: Any) -> None:
    sources = tree["provenance"]["sources"]
    assert sources["/identities/tp2/model/revision"] == {"answered_by": BY}
    assert sources["/trials/tp2/rank_map"] == {"answered_by": BY}
    assert sources[f"{SATURATED}/replicas/replica-0/ranks"] == {"derived_from": ["/trials/tp2/topology"]}
    peak = f"{SATURATED}/per_rank/device_used_peak_bytes"
    assert sources[f"{peak}/scope"] == {"derived_from": [f"{peak}/values"]}


def test_files_are_named_by_digest_size_and_name(tree: Any) -> None:
    draft = drafted()
    assert {file["name"] for file in tree["provenance"]["files"].values()} == set(FILES)
    for own, file in tree["provenance"]["files"].items():
        kept = draft.files[own]
        assert (file["sha256"], file["bytes"]) == (kept.sha256, kept.bytes)
        assert kept.sha256.removeprefix("sha256:").startswith(own)


def test_the_same_draft_gives_the_same_bytes() -> None:
    draft = completed(drafted())
    made = assemble(draft, contract())
    again = assemble(read_draft(draft_bytes(draft)), contract())
    assert (made, made.document) == (again, canonical_bytes(json.loads(made.document)))
    document = read_evidence(made.document, contract())
    assert (document.content_id, document.file_sha256) == (made.content_id, made.file_sha256)


def test_all_that_is_open_is_listed_and_nothing_is_made() -> None:
    made = assemble(drafted({"run.json": bench(), "tp2.json": bench(date="20260301-111500")}), contract())
    assert (made.document, made.content_id, made.files) == (b"", None, ())
    assert {point.field for point in made.open} >= {
        "/provenance/collected_by",
        "/provenance/collected_at",
        "/provenance/tool/version",
        "/trials/tp2/same_run",
        "/trials/tp2/topology/layout",
        "/trials/tp2/topology/instances",
        "/trials/tp2/rank_map",
        "/trials/tp2/windows/saturated-1/purpose",
        "/trials/tp2/windows/saturated-2/start",
        "/identities/tp2/model/revision",
        "/identities/tp2/workload/prefix_cache/state",
    }


def test_what_intake_refuses_is_open_too() -> None:
    draft = answer(completed(drafted()), contract(), "/trials/tp2/windows/single/start", "2027-01-01T00:00:00Z", by=BY)
    (point,) = assemble(draft, contract()).open
    assert (point.code, point.field) == ("document/time", "/trials/tp2/windows/single/end")


def test_a_draft_without_files_has_no_trial() -> None:
    assert [point.code for point in assemble(drafted({}), contract()).open] == [
        "builder/no_trial",
        "builder/unanswered",
        "builder/unanswered",
        "builder/unanswered",
        "builder/unanswered",
    ]


def test_a_draft_for_another_contract_makes_no_document() -> None:
    other = contract(owner="someone else")
    assert "builder/other_contract" in [point.code for point in assemble(completed(drafted()), other).open]


def test_an_answer_inside_another_one_is_named() -> None:
    draft = completed(drafted())
    draft = answer(draft, contract(), "/identities/tp2/stack/scheduler", {"policy": "fcfs"}, by=BY)
    inside = answer(draft, contract(), "/identities/tp2/stack/scheduler/budget", 8192, by=BY)
    made = json.loads(assemble(inside, contract()).document)
    assert made["identities"]["tp2"]["stack"]["scheduler"] == {"policy": "fcfs", "budget": 8192}
    draft = answer(draft, contract(), "/identities/tp2/stack/scheduler/policy", {"kind": "fcfs"}, by=BY)
    (point,) = assemble(draft, contract()).open
    assert (point.code, point.field) == ("builder/overlap", "/identities/tp2/stack/scheduler/policy")


def test_the_worst_sampling_of_the_ranks_is_said_once() -> None:
    devices = memory(2)
    devices["gpus"]["1"] |= {"samples": 25, "timestamp_end": "2026/03/01 10:14:59.000"}
    draft = completed(drafted({**FILES, "tp2_memory.json": devices}))
    peak = json.loads(assemble(draft, contract()).document)["trials"]["tp2"]["windows"]["saturated"]["per_rank"]
    assert peak["device_used_peak_bytes"]["samples"] == 25
    assert peak["device_used_peak_bytes"]["sample_interval_s"] == 2


def test_bounds_of_the_server_are_not_put_beside_the_client() -> None:
    stamps = (" 1772359999000", " 1772360099000")
    scrapes = vllm(stamp=stamps[0]) + vllm(50, usage=0.5, stamp=stamps[1], scale=2)
    draft = drafted({**FILES, "metrics.prom": scrapes})
    draft = move_run(draft, run_named(draft, "metrics.prom"), trial="tp2", window="saturated")
    state = looked_at(draft)
    assert f"{SATURATED}/load/ttft_ms/p50" not in [conflict.field for conflict in state.conflicts]
    assert f"{SATURATED}/load/requests/completed" in [conflict.field for conflict in state.conflicts]
    (note,) = [one for one in state.unplaced if one.sentence.startswith("bounds from the server's buckets")]
    assert set(note.names) >= {"ttft_ms.p50", "quantile_method"}
    settled = settle(draft, SATURATED, by=BY, because=BECAUSE, format="vllm-bench-serve")
    left = [one.field for one in looked_at(settled).conflicts if not one.settled and one.field.startswith(SATURATED)]
    assert left == [f"{SATURATED}/replicas/replica-0/kv_capacity_tokens"]


def test_an_answer_that_is_taken_back_is_open_again() -> None:
    draft = unanswer(completed(drafted()), "/identities/*/model/revision")
    assert [point.field for point in assemble(draft, contract()).open] == [
        "/identities/tp2/model/revision",
        "/identities/tp4/model/revision",
    ]
