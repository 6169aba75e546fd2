"""Reading accepted evidence again from its bytes: the same document, or a refusal, whatever the receipt says."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import planner
from planner.canonical import file_sha256
from planner.documents import EvidenceDocument
from planner.errors import DocumentRefusedError, TamperedRecordError
from planner.intake import Receipt, read_contract, read_evidence, read_stored_evidence, receipt_of, recheck_evidence
from planner.intake.stored import RULES, LateArray, forget_arrays
from planner.plan import plan_stored, plan_with_bytes
from planner.records.figures import PerRank
from tests.planner.corpus import AS_OF, EXAMPLES
from tests.planner.documents import changed, example, raw

NAMES = [folder.parent.name for folder in sorted(EXAMPLES.glob("*/contract.json"))]
WORKED = raw(example("worked", "evidence"))
PLANNER = Path(planner.__file__).parent
OTHER = "sha256:" + "0" * 64


def document(raw: bytes = WORKED) -> EvidenceDocument:
    return read_evidence(raw)


def receipt(**changes: Any) -> Receipt:
    return msgspec.structs.replace(receipt_of(document()), **changes)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_reads_as_it_did_and_passes_the_door(name: str) -> None:
    stored = (EXAMPLES / name / "evidence.json").read_bytes()
    accepted = document(stored)
    found = read_stored_evidence(stored, receipt_of(accepted))
    assert found == accepted
    recheck_evidence(found)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_plans_to_the_same_bytes(name: str) -> None:
    contract_bytes, evidence_bytes = (
        (EXAMPLES / name / f"{kind}.json").read_bytes() for kind in ("contract", "evidence")
    )
    contract = read_contract(contract_bytes)
    evidence = read_evidence(evidence_bytes, contract)
    by_records = plan_with_bytes(contract, evidence, AS_OF)
    assert plan_stored(contract_bytes, evidence_bytes, receipt_of(evidence), AS_OF) == by_records


SPELLINGS = {
    "integer": "420",
    "point": "420.0",
    "exponent": "4.2e2",
    "large": "1E15",
    "small": "0.00042",
    "zero": "-0.0",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_numbers_read_the_same_however_they_are_written(spelling: str) -> None:
    stored = re.sub(rb'("duration_s": )[0-9.]+', rb"\g<1>" + spelling.encode(), WORKED)
    assert stored != WORKED
    accepted = document(stored)
    assert msgspec.json.encode(read_stored_evidence(stored, receipt_of(accepted)).record) == msgspec.json.encode(
        accepted.record
    )


NUMBERS = st.one_of(st.none(), st.integers(0, 2**53 - 1), st.floats(0, 1e300))


@given(st.lists(NUMBERS, min_size=1, max_size=6), st.text(min_size=1, max_size=8), st.booleans())
@settings(max_examples=150, deadline=None)
def test_whatever_intake_accepts_reads_the_same(values: list[Any], text: str, ascii_only: bool) -> None:
    tree = example("worked", "evidence")
    name, body = next(iter(tree["trials"].items()))
    window = f"/trials/{name}/windows/{next(iter(body['windows']))}"
    metrics = {"step_ms": {"values": values}}
    tree = changed(tree, (f"/trials/{name}/source", text), (f"{window}/per_rank", metrics))
    stored = json.dumps(tree, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    try:
        accepted = document(stored)
    except DocumentRefusedError:
        return
    found = read_stored_evidence(stored, receipt_of(accepted))
    assert msgspec.json.encode(found.record) == msgspec.json.encode(accepted.record)


def test_trials_that_are_placed_by_the_same_bytes_share_their_rank_map() -> None:
    tree = example("worked", "evidence")
    first, body = next(iter(tree["trials"].items()))
    stored = raw({**tree, "trials": {first: body, "again": {**body, "source": "Measured again."}}})
    trials = read_stored_evidence(stored, receipt_of(document(stored))).record.trials
    assert trials[first].rank_map is trials["again"].rank_map
    assert trials[first].topology is trials["again"].topology


def test_other_bytes_than_those_accepted_are_refused() -> None:
    with pytest.raises(TamperedRecordError, match="has the digest"):
        read_stored_evidence(WORKED.replace(b"420", b"421"), receipt())


def test_a_receipt_of_other_rules_is_not_believed() -> None:
    with pytest.raises(TamperedRecordError, match="content ids"):
        read_stored_evidence(WORKED, receipt(rules=OTHER, content_id=OTHER))
    with pytest.raises(TamperedRecordError, match="content ids"):
        read_stored_evidence(WORKED, receipt(rules=OTHER, trials={}))


def test_what_other_rules_accepted_is_read_anew() -> None:
    assert read_stored_evidence(WORKED, receipt(rules=OTHER)) == document()


def test_what_other_rules_accepted_and_those_of_today_refuse_is_refused() -> None:
    stored = WORKED.replace(b'"rank_map"', b'"rank_chart"')
    with pytest.raises(DocumentRefusedError):
        read_stored_evidence(stored, receipt(rules=OTHER, file_sha256=file_sha256(stored)))


def imported(source: Path) -> set[Path]:
    """Return the source files of the planner that one imports."""
    names = {
        name
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }
    places = [PLANNER.parent / name.replace(".", "/") for name in names if name.startswith("planner.")]
    return {file for place in places for file in (place.with_suffix(".py"), place / "__init__.py") if file.exists()}


def test_the_rules_of_a_receipt_are_all_code_that_evidence_is_read_with() -> None:
    """A module left out could accept otherwise, and receipts of before would still be believed."""
    found: set[Path] = set()
    waiting = {PLANNER / "intake/evidence.py"}
    while waiting:
        found |= waiting
        waiting = {file for source in waiting for file in imported(source)} - found
    beyond = {str(file.relative_to(PLANNER)) for file in found if file.relative_to(PLANNER).parts[0] not in RULES}

    assert len(found) > len(RULES)
    assert beyond == {"errors.py"}  # words of refusals


ARRAYS = ["[]", "[ \n]", "[7]", "[ 7 ]", "[null]", "[1, 2.5,null]", "[1e3,\n2]", "[1,2,3,4]"]


def of_ranks(written: str) -> bytes:
    """Evidence of which the first trial has two ranks, with an array of ranks as it is written."""
    at, tree = "/trials/t-base-16", example("worked", "evidence")
    ranks = tree["trials"]["t-base-16"]["rank_map"][:2]
    array = {"step_time_ms": {"values": "@"}}
    only = {"sat-1": tree["trials"]["t-base-16"]["windows"]["sat-1"] | {"per_rank": array}}
    changes = ((f"{at}/rank_map", ranks), (f"{at}/windows", only))
    return raw(changed(tree, *changes)).replace(b'"@"', written.encode())


def first_array(found: EvidenceDocument) -> Any:
    window = found.record.trials["t-base-16"].windows["sat-1"]
    assert not isinstance(window.per_rank, msgspec.UnsetType)
    return window.per_rank["step_time_ms"]


@pytest.mark.parametrize("written", ARRAYS)
def test_an_array_that_is_read_late_has_the_places_and_values_of_the_record(written: str) -> None:
    accepted = read_evidence(of_ranks(written))
    array = first_array(read_stored_evidence(of_ranks(written), receipt_of(accepted), late_arrays=True))
    record = first_array(accepted)
    assert isinstance(array, LateArray)
    assert array.places == record.places == len(record.values)
    assert array.values == record.values
    assert array.places == record.places


@pytest.mark.parametrize("written", ARRAYS)
def test_a_receipt_names_trials_with_an_array_of_more_or_fewer_places_than_ranks(written: str) -> None:
    accepted = read_evidence(of_ranks(written))
    assert receipt_of(accepted).uneven == (() if len(first_array(accepted).values) == 2 else ("t-base-16",))


def test_values_are_held_until_they_are_forgotten_and_read_anew() -> None:
    stored = of_ranks("[1, 2.5]")
    found = read_stored_evidence(stored, receipt_of(read_evidence(stored)), late_arrays=True)
    array = first_array(found)
    assert array.values is array.values
    forget_arrays(found.record.trials["t-base-16"])
    assert array.read is None
    assert array.values == (1, 2.5)


def test_values_of_records_are_never_forgotten() -> None:
    accepted = read_evidence(of_ranks("[1, 2.5]"))
    forget_arrays(accepted.record.trials["t-base-16"])
    assert first_array(accepted).values == (1, 2.5)


def test_an_array_that_is_read_late_has_all_fields_of_the_record() -> None:
    record = {field.name: (field.encode_name, field.default) for field in msgspec.structs.fields(PerRank)}
    twin = {field.name: (field.encode_name, field.default) for field in msgspec.structs.fields(LateArray)}
    assert twin == {"written": record.pop("values"), "places": ("places", 0), "read": ("read", None), **record}


def test_values_that_nobody_asks_for_stay_unread() -> None:
    stored = read_stored_evidence(WORKED, receipt(), late_arrays=True).record
    arrays: list[object] = [
        array
        for trial in stored.trials.values()
        for window in trial.windows.values()
        if not isinstance(window.per_rank, msgspec.UnsetType)
        for array in window.per_rank.values()
    ]
    assert arrays
    assert all(isinstance(array, LateArray) and array.read is None for array in arrays)
