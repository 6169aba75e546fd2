"""A contract in the making: kept, gone on from, and where its values came from."""

import json
from typing import Any

import pytest

from planner.contract_builder.draft import ContractDraft, continued, draft_bytes, draft_from
from planner.contract_builder.edits import fields_set
from planner.contract_builder.rendered import judged, lines_of, rendered
from planner.contract_builder.shapes import skeleton
from planner.errors import DocumentRefusedError
from planner.intake import read_contract
from tests.shared import ROOT

WORKED = (ROOT / "examples/worked/contract.json").read_bytes()


def test_a_draft_comes_back_as_it_was_kept_order_included() -> None:
    draft = ContractDraft(
        tree=skeleton() | {"slot": "ä", "gates": {"ttft": {"z": {}, "a": {"max_ms": 0.1}}}},
        origins={"/slot": "by hand"},
        notes=("one",),
        based_on="sha256:" + "0" * 64,
    )
    assert draft_from(draft_bytes(draft)) == draft
    assert draft_bytes(draft_from(draft_bytes(draft))) == draft_bytes(draft)


def test_a_value_changed_by_hand_loses_its_origin() -> None:
    tree = fields_set(skeleton(), {"/identity/model/layers": ["48"], "/identity/model/kv_heads": ["8"]})
    origins = {"/identity/model/layers": "config.json", "/identity/model/kv_heads": "config.json"}
    draft = ContractDraft().with_tree(tree, origins, ("read",))
    changed = draft.with_tree(fields_set(tree, {"/identity/model/layers": ["47"]}))
    assert changed.origins == {"/identity/model/kv_heads": "config.json"}
    assert changed.notes == ("read",)


def test_going_on_from_a_contract_keeps_what_it_is() -> None:
    draft = continued(WORKED, based_on="sha256:" + "1" * 64)
    document = judged(draft.tree).document
    assert document is not None
    assert document.content_id == read_contract(WORKED).content_id
    assert (draft.slot, draft.model) == ("chat/eu-west", "example/synthetic-moe-64b")


def test_what_is_unfinished_or_unknown_is_kept_for_intake_to_name() -> None:
    draft = continued(b'{"schema": "topogate.contract/v1", "slot": 7, "identity": {"model": []}, "extra": 1}')
    found = {problem.pointer: problem.code for problem in judged(draft.tree).wrong}
    assert found == {
        "/slot": "document/type",
        "/identity/model": "document/type",
        "/extra": "document/unknown_field",
    }
    assert draft.slot == ""


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{", "json/syntax"),
        (b'{"a": 1, "a": 2}', "json/duplicate_key"),
        (b'{"schema": "topogate.evidence/v1"}', "document/schema"),
        (b"[1]", "document/schema"),
    ],
)
def test_what_is_no_contract_is_refused_with_its_reason(raw: bytes, code: str) -> None:
    with pytest.raises(DocumentRefusedError) as refused:
        continued(raw)
    assert [problem.code for problem in refused.value.problems] == [code]


def test_every_line_of_the_file_says_what_it_is_a_line_of() -> None:
    tree: dict[str, Any] = json.loads(WORKED)
    lines = lines_of(tree)
    assert rendered(tree).decode().splitlines() == [line.text for line in lines]
    (line,) = [line for line in lines if line.pointer == "/gates/ttft/saturated_p95/max_ms"]
    assert line.text == '        "max_ms": 500'
    assert [line.text for line in lines if line.pointer == "/gates/ttft"] == ['    "ttft": {', "    },"]
