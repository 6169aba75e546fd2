"""The planner's own door: whatever was altered or built past intake is refused, and what was not passes."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from planner.canonical import content_id, file_sha256
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import TamperedRecordError
from planner.intake import recheck_contract, recheck_evidence
from planner.intake.evidence import evidence_content_id, trial_bodies
from planner.records.contract import Contract
from planner.records.evidence import Evidence
from tests.planner.documents import contract, evidence


class Text(str):
    """Text that may compare as it likes."""

    __slots__ = ()


class Number(int):
    """An integer that may compute as it likes."""


class Mapping(dict[str, Any]):
    """A dict that may answer as it likes."""


class OtherContract(Contract, frozen=True, kw_only=True):
    """A subclass of the record."""


class OtherEvidenceDocument(EvidenceDocument):
    """A subclass of the document."""


def put(record: Any, *path: Any, value: Any) -> None:
    """Set a field behind a frozen record's back, following names and keys."""
    for step in path[:-1]:
        record = getattr(record, step) if isinstance(step, str) and hasattr(record, step) else record[step]
    last = path[-1]
    if isinstance(record, dict):
        record[last] = value
    elif isinstance(record, msgspec.Struct):
        msgspec.structs.force_setattr(record, last, value)
    else:
        object.__setattr__(record, last, value)


def nested(depth: int) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for _ in range(depth):
        tree = {"a": tree}
    return tree


def a_trial(document: EvidenceDocument) -> Any:
    return next(iter(document.record.trials.values()))


def a_window(document: EvidenceDocument) -> Any:
    return next(window for window in a_trial(document).windows.values() if window.load is not msgspec.UNSET)


def test_what_intake_built_passes() -> None:
    recheck_contract(contract())
    recheck_evidence(evidence())


def test_an_unchanged_copy_passes() -> None:
    recheck_contract(copy.deepcopy(contract()))
    recheck_evidence(pickle.loads(pickle.dumps(evidence())))  # noqa: S301  # the test's own bytes


CONTRACT_CHANGES: list[Any] = [
    pytest.param(lambda d: put(d, "record", "slot", value="other/slot"), id="text"),
    pytest.param(lambda d: put(d, "record", "slot", value=Text(d.record.slot)), id="subclass of text, equal"),
    pytest.param(lambda d: put(d, "record", "owner", value=None), id="null"),
    pytest.param(
        lambda d: put(d, "record", "identity", "model", "layers", value=Number(48)), id="subclass of int, equal"
    ),
    pytest.param(lambda d: put(d, "record", "identity", "model", "layers", value=48.0), id="double for an integer"),
    pytest.param(lambda d: put(d, "record", "identity", "model", "layers", value=True), id="boolean for an integer"),
    pytest.param(lambda d: put(d, "record", "identity", "model", "layers", value=-1), id="number out of range"),
    pytest.param(lambda d: put(d, "record", "identity", "model", "adapters", value=[]), id="list for a tuple"),
    pytest.param(lambda d: put(d, "record", "gates", value=Mapping(d.record.gates)), id="subclass of dict, equal"),
    pytest.param(lambda d: d.record.gates.pop("ttft"), id="gate taken away"),
    pytest.param(lambda d: d.record.gates["ttft"].clear(), id="limits taken away"),
    pytest.param(lambda d: d.limits["ttft"].pop("single_p95"), id="typed limit taken away"),
    pytest.param(lambda d: put(d, "limits", "ttft", "single_p95", "max_ms", value=10**6), id="typed limit made loose"),
    pytest.param(
        lambda d: put(d, "record", "identity", "hardware", "nodes", Text("node-a"), value=None), id="null for a record"
    ),
    pytest.param(lambda d: put(d, "content_id", value="sha256:" + "0" * 64), id="content id"),
    pytest.param(lambda d: put(d, "content_id", value=Text(d.content_id)), id="content id of a subclass"),
    pytest.param(lambda d: put(d, "file_sha256", value=b"x"), id="file digest of another type"),
    pytest.param(lambda d: put(d, "record", value=contract(("/owner", "x")).record), id="record of another contract"),
    pytest.param(lambda d: put(d, "record", "owner", value="\ud800"), id="half of a surrogate pair"),
    pytest.param(lambda d: d.record.gates["ttft"].update(x=d.record.gates), id="cycle"),
    pytest.param(lambda d: d.record.gates["ttft"].update(x=nested(5000)), id="deep nesting"),
]


@pytest.mark.parametrize("alter", CONTRACT_CHANGES)
def test_an_altered_contract_is_refused(alter: Callable[[ContractDocument], Any]) -> None:
    document = contract()
    alter(document)
    with pytest.raises(TamperedRecordError):
        recheck_contract(document)


EVIDENCE_CHANGES: list[Any] = [
    pytest.param(lambda d: put(a_window(d).load, "duration_s", value=1), id="measured value"),
    pytest.param(lambda d: put(a_window(d).load, "duration_s", value=float("nan")), id="NaN"),
    pytest.param(lambda d: put(a_trial(d), "rank_map", value=list(a_trial(d).rank_map)), id="list for a tuple"),
    pytest.param(lambda d: put(a_trial(d), "rank_map", value=a_trial(d).rank_map[::-1]), id="ranks turned round"),
    pytest.param(lambda d: put(a_trial(d), "windows", value=Mapping(a_trial(d).windows)), id="subclass of dict"),
    pytest.param(lambda d: d.record.trials.popitem(), id="trial taken away"),
    pytest.param(lambda d: put(d.record, "trials", "t-x", value=a_trial(d)), id="trial added"),
    pytest.param(lambda d: d.trial_content_ids.popitem(), id="trial id taken away"),
    pytest.param(
        lambda d: put(d, "trial_content_ids", value=dict.fromkeys(d.trial_content_ids, "sha256:" + "0" * 64)),
        id="trial ids replaced",
    ),
    pytest.param(
        lambda d: put(d, "trial_content_ids", value=Mapping(d.trial_content_ids)), id="trial ids of a subclass, equal"
    ),
    pytest.param(
        lambda d: d.trial_content_ids.update({name: Text(digest) for name, digest in d.trial_content_ids.items()}),
        id="trial id of a subclass, equal",
    ),
    pytest.param(lambda d: put(d, "record", value={"schema": "topogate.evidence/v1"}), id="tree for a record"),
]


@pytest.mark.parametrize("alter", EVIDENCE_CHANGES)
def test_altered_evidence_is_refused(alter: Callable[[EvidenceDocument], Any]) -> None:
    document = evidence()
    alter(document)
    with pytest.raises(TamperedRecordError):
        recheck_evidence(document)


def with_digests(document: Any) -> Any:
    """Compute every digest of an altered record anew, as whoever alters it may do as well."""
    tree = msgspec.to_builtins(document.record)
    if isinstance(document, ContractDocument):
        object.__setattr__(document, "content_id", content_id(tree))
        return document
    bodies = trial_bodies(tree)
    object.__setattr__(document, "content_id", evidence_content_id(tree, bodies))
    object.__setattr__(document, "trial_content_ids", {trial: file_sha256(body) for trial, body in bodies.items()})
    return document


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        pytest.param(lambda d: d.record.trials.update(x=a_trial(d)), "differs from", id="equal trials"),
        pytest.param(lambda d: put(a_trial(d), "identity_id", value="no"), "identity of this evidence", id="reference"),
        pytest.param(
            lambda d: put(a_trial(d), "rank_map", value=a_trial(d).rank_map[::-1]), "/rank", id="ranks turned round"
        ),
        pytest.param(lambda d: put(d, "record", "scope", value="a\u202eb"), "bidirectional", id="control of direction"),
    ],
)
def test_evidence_that_intake_would_refuse_is_refused_with_right_digests(
    alter: Callable[[EvidenceDocument], Any], said: str
) -> None:
    document = evidence()
    alter(document)
    with pytest.raises(TamperedRecordError, match=said):
        recheck_evidence(with_digests(document))


def test_a_contract_that_intake_would_refuse_is_refused_with_right_digests() -> None:
    document = contract()
    device = next(iter(document.record.identity.hardware.devices.values()))
    msgspec.structs.force_setattr(device, "node", "no-such-node")
    with pytest.raises(TamperedRecordError, match="a node of this contract"):
        recheck_contract(with_digests(document))


def test_a_document_made_by_object_new_is_refused() -> None:
    with pytest.raises(TamperedRecordError):
        recheck_contract(object.__new__(ContractDocument))
    with pytest.raises(TamperedRecordError):
        recheck_evidence(object.__new__(EvidenceDocument))


def test_a_record_cannot_be_made_by_object_new() -> None:
    for record in (Contract, Evidence):
        with pytest.raises(TypeError, match="not safe"):
            object.__new__(record)


def test_a_record_made_by_its_constructor_is_refused_where_types_do_not_hold() -> None:
    document = contract()
    fields = {name: getattr(document.record, name) for name in Contract.__struct_fields__}
    record = Contract(**{**fields, "owner": 7})
    with pytest.raises(TamperedRecordError):
        recheck_contract(
            dataclasses.replace(document, record=record, content_id=content_id(msgspec.to_builtins(record)))
        )


def test_a_subclass_of_the_record_is_refused() -> None:
    document = contract()
    record = msgspec.convert(msgspec.to_builtins(document.record), OtherContract)
    with pytest.raises(TamperedRecordError, match="OtherContract is no Contract"):
        recheck_contract(dataclasses.replace(document, record=record))


def test_a_subclass_of_the_document_is_refused() -> None:
    document = evidence()
    other = OtherEvidenceDocument(
        document.record, document.content_id, document.file_sha256, document.trial_content_ids
    )
    with pytest.raises(TamperedRecordError, match="OtherEvidenceDocument is no EvidenceDocument"):
        recheck_evidence(other)


def test_a_mixed_up_document_is_refused() -> None:
    mixed: Any = contract()
    with pytest.raises(TamperedRecordError):
        recheck_evidence(mixed)


@pytest.mark.parametrize("value", [None, "text", {}, 1], ids=repr)
def test_what_is_no_document_is_refused(value: Any) -> None:
    with pytest.raises(TamperedRecordError):
        recheck_contract(value)
    with pytest.raises(TamperedRecordError):
        recheck_evidence(value)
