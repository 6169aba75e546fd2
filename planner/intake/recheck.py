"""The planner's own door: a document that was altered, or built past intake, is refused.

Python cannot stop ``object.__setattr__``, ``object.__new__``, ``copy`` or ``pickle``. So the exact type of every
part is checked (a subclass may answer one thing now and another later), the record is written back to a tree, read
again through its types, held to the rules of intake, and the digests are computed anew: whoever builds a record may
compute them as well.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from planner.canonical import content_id, file_sha256
from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import Problem, TamperedRecordError
from planner.intake.contract import typed_limits
from planner.intake.contract_rules import contract_problems
from planner.intake.evidence import evidence_content_id, trial_bodies
from planner.intake.evidence_rules import evidence_problems
from planner.intake.texts import text_problems
from planner.records.contract import Contract
from planner.records.evidence import Evidence

__all__ = ["recheck_contract", "recheck_evidence"]

_ATOMS = frozenset({str, int, float, bool, type(None), msgspec.UnsetType})


def recheck_contract(document: ContractDocument) -> None:
    """Check that a contract is as intake left it.

    Raises:
        TamperedRecordError: it is not.
    """
    with _tampering(ContractDocument):
        tree = _rechecked(document, ContractDocument, Contract)
        if content_id(tree) != document.content_id:
            raise TamperedRecordError("the contract does not have the content id that it is given with")
        _check_problems(contract_problems(tree))
        _check_types(document.limits, "limits")
        if document.limits != typed_limits(tree["gates"]):
            raise TamperedRecordError("the limits are not those of the contract")


def recheck_evidence(document: EvidenceDocument) -> None:
    """Check that evidence is as intake left it.

    Raises:
        TamperedRecordError: it is not.
    """
    with _tampering(EvidenceDocument):
        tree = _rechecked(document, EvidenceDocument, Evidence)
        bodies = trial_bodies(tree)
        if evidence_content_id(tree, bodies) != document.content_id:
            raise TamperedRecordError("the evidence does not have the content id that it is given with")
        _check_problems(evidence_problems(tree, bodies, None))
        _check_types(document.trial_content_ids, "trial_content_ids")
        if document.trial_content_ids != {trial: file_sha256(body) for trial, body in bodies.items()}:
            raise TamperedRecordError("a trial does not have the content id that it is given with")


@contextmanager
def _tampering(kind: type[ContractDocument] | type[EvidenceDocument]) -> Iterator[None]:
    """Take whatever goes wrong while looking as a sign that intake did not build the document."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise TamperedRecordError(f"{kind.__name__} was not built by intake: {error}") from error


def _rechecked(
    document: ContractDocument | EvidenceDocument,
    kind: type[ContractDocument] | type[EvidenceDocument],
    record: type[Contract] | type[Evidence],
) -> Any:
    """Return the tree of a document whose parts are all of exactly their types."""
    if type(document) is not kind:
        raise TamperedRecordError(f"{type(document).__name__} is no {kind.__name__}")
    if type(document.record) is not record:
        raise TamperedRecordError(f"{type(document.record).__name__} is no {record.__name__}")
    for name in ("content_id", "file_sha256"):
        _check_types(getattr(document, name), name)
    _check_types(document.record, "record")
    raw = msgspec.json.encode(document.record)
    tree = msgspec.json.decode(raw)
    # Equality tells a list from a tuple, which the tree cannot, and what JSON cannot write from null.
    if msgspec.convert(tree, record) != document.record:
        raise TamperedRecordError("the record does not hold what its types read")
    _check_problems(text_problems(tree, raw))
    return tree


def _check_problems(problems: Iterable[Problem]) -> None:
    """Refuse what intake asks beyond types and did not get."""
    for problem in problems:
        raise TamperedRecordError(f"{problem.pointer}: expected {problem.expected}, found {problem.found}")


def _check_types(value: Any, path: str) -> None:
    kind = type(value)
    if kind in _ATOMS:
        return
    if kind is tuple or kind is list:
        _check_sequence(value, path)
    elif kind is dict:
        _check_mapping(value, path)
    elif isinstance(value, msgspec.Struct):
        for name in kind.__struct_fields__:
            _check_types(getattr(value, name), name)
    else:
        raise TamperedRecordError(f"{path} holds {kind.__name__}, which no document has")


def _check_sequence(value: Any, path: str) -> None:
    if not _ATOMS.issuperset(map(type, value)):
        for item in value:
            _check_types(item, path)


def _check_mapping(value: dict[Any, Any], path: str) -> None:
    if set(map(type, value)) - {str}:
        raise TamperedRecordError(f"{path} has a key that is no plain text")
    for item in value.values():
        _check_types(item, path)
