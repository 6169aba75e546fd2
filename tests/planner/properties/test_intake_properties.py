"""Intake against random input: it answers, never breaks, and its answer does not depend on how a file is written."""

import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.intake import judge, read_contract
from planner.problem_codes import PROBLEM_CODES
from tests.fuzz.fuzz_documents import main as fuzz
from tests.planner.documents import example
from tests.planner.properties.trees import NUMBERS, trees

WORKED = example("worked", "contract")
SCHEMAS = st.sampled_from(["topogate.contract/v1", "topogate.evidence/v1", "topogate.plan/v1"])
NAMES = st.sampled_from(["identity", "gates", "trials", "windows", "selection", "headroom", "rank_map", "stack"])


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_judged(raw: bytes) -> None:
    assert {problem.code for problem in judge(raw).problems} <= set(PROBLEM_CODES)


@given(SCHEMAS, st.dictionaries(NAMES, trees(NUMBERS), max_size=4))
@settings(max_examples=150, deadline=None)
def test_any_tree_that_claims_to_be_a_document_is_refused(schema: str, tree: dict[str, Any]) -> None:
    verdict = judge(json.dumps({"schema": schema, **tree}).encode())
    assert not verdict.ok
    assert {problem.code for problem in verdict.problems} <= set(PROBLEM_CODES)


SEEDS = st.integers().map(random.Random)


def shuffled(value: Any, chance: random.Random) -> Any:
    """Return an equal tree whose objects are in another order and whose whole numbers stay integers."""
    if isinstance(value, dict):
        keys = chance.sample(list(value), len(value))
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


@given(SEEDS, st.sampled_from([None, 0, 3, "\t"]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_how_a_file_is_written_does_not_change_its_content_id(
    chance: random.Random, indent: Any, ascii_only: bool
) -> None:
    raw = json.dumps(shuffled(WORKED, chance), indent=indent, ensure_ascii=ascii_only).encode()
    assert read_contract(raw).content_id == example("worked", "evidence")["contract_content_id"]


def test_mutated_documents_keep_every_promise() -> None:
    outcomes = fuzz(150, 20260920)
    assert outcomes.total() == 150
    assert len(outcomes) > 10
