"""Read evidence that intake accepted before, from the very bytes that it accepted.

Rules kept: the bytes are compared with the digest that intake took of them; a receipt written by other code or other
libraries than those that run now is worth nothing, and the evidence is then read as if it were new. With a receipt
that holds, nothing is parsed strictly, validated or written canonically a second time, and topologies and rank maps
that are the same bytes are one object. For planning, an array of ranks stays bytes until its values are asked for: the
limits of a contract mostly read few of them, and none once its trial is judged. Not handled: evidence that nobody
accepted (``planner.intake.evidence``), and whether the receipt itself is the one that was given out; that is for
whoever keeps it.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import GenericAlias
from typing import Any, get_type_hints

import msgspec
import rfc8785
from msgspec.structs import asdict

from planner.canonical import file_sha256
from planner.documents import EvidenceDocument
from planner.errors import TamperedRecordError
from planner.intake.evidence import read_evidence
from planner.records.base import UNSET, Count, Digest, Id, Number, Record, UnsetType
from planner.records.evidence import Evidence, Placement, Topology, Trial, Window
from planner.records.figures import Bound, Phase, Scope, Values
from planner.version import PLANNER_VERSION

__all__ = ["Receipt", "decoded_evidence", "forget_arrays", "read_stored_evidence", "receipt_of"]

RULES = ("intake", "records", "documents.py", "canonical.py", "pointers.py", "shown.py", "strict_json.py")
"""What decides, below this package, which evidence is accepted, how it is read and what its digests are."""

_EMPTY = re.compile(rb"\[\s*\]")

SHARED = ("topology", "rank_map")
"""Fields of a trial that many trials have in common."""


class Receipt(Record, frozen=True, kw_only=True):
    """What intake found out about accepted evidence. ``rules`` names the code that did.

    ``uneven`` are the trials with an array of ranks that has not one place for each rank of the rank map.
    """

    rules: Digest
    file_sha256: Digest
    content_id: Digest
    trials: dict[Id, Digest]
    uneven: tuple[Id, ...]


def receipt_of(document: EvidenceDocument) -> Receipt:
    """Return the receipt for evidence that intake has just accepted."""
    return Receipt(
        rules=rules_digest(),
        file_sha256=document.file_sha256,
        content_id=document.content_id,
        trials=dict(document.trial_content_ids),
        uneven=tuple(name for name, trial in sorted(document.record.trials.items()) if _is_uneven(trial)),
    )


def _is_uneven(trial: Trial) -> bool:
    ranks = len(trial.rank_map)
    return any(array.places != ranks for window in trial.windows.values() for array in _arrays(window))


def _arrays(window: Window) -> Iterable[Any]:
    """Return the arrays of ranks of a window, or their twins."""
    return () if isinstance(window.per_rank, UnsetType) else window.per_rank.values()


def read_stored_evidence(raw: bytes, receipt: Receipt, *, late_arrays: bool = False) -> EvidenceDocument:
    """Read evidence from the bytes for which the receipt was given.

    With ``late_arrays`` it is only for reading: arrays of ranks are read when they are asked for, by twins of the
    records, which are equal to no record and are not to be written.

    Raises:
        TamperedRecordError: the bytes are other ones, or read anew do not have the digests of the receipt.
        DocumentRefusedError: the receipt is of other rules, and those of today refuse the evidence.
    """
    found = file_sha256(raw)
    if found != receipt.file_sha256:
        raise TamperedRecordError(f"the stored evidence has the digest {found}, its receipt {receipt.file_sha256}")
    if receipt.rules != rules_digest():
        return _read_anew(raw, receipt)
    return EvidenceDocument(
        record=_decoded_late(raw, receipt) if late_arrays else decoded_evidence(raw),
        content_id=receipt.content_id,
        file_sha256=receipt.file_sha256,
        trial_content_ids=receipt.trials,
    )


def _read_anew(raw: bytes, receipt: Receipt) -> EvidenceDocument:
    document = read_evidence(raw)
    if (document.content_id, document.trial_content_ids) != (receipt.content_id, receipt.trials):
        raise TamperedRecordError("the stored evidence does not have the content ids of its receipt")
    return document


@cache
def rules_digest() -> str:
    """Return a digest of the code and the libraries that accept evidence."""
    digest = hashlib.sha256(f"{PLANNER_VERSION} {msgspec.__version__} {rfc8785.__version__}".encode())
    for name in RULES:
        for source in _sources(files("planner") / name):
            digest.update(source)
    return f"sha256:{digest.hexdigest()}"


def _sources(place: Traversable) -> list[bytes]:
    """Return the source files at a place, with those below a package, by name."""
    if place.is_dir():
        entries = sorted(place.iterdir(), key=lambda entry: entry.name)
        return [source for entry in entries for source in _sources(entry)]
    return [place.read_bytes()] if place.name.endswith(".py") else []


# Accepted before, so that types alone give the same record.


class LateArray(msgspec.Struct, kw_only=True, gc=False):
    """A twin of ``PerRank`` that keeps its values as they are written until they are asked for."""

    scope: Scope | UnsetType = UNSET
    bound: Bound | UnsetType = UNSET
    phase: Phase | UnsetType = UNSET
    sample_interval_s: Number | UnsetType = UNSET
    samples: Count | UnsetType = UNSET
    written: msgspec.Raw = msgspec.field(name="values")
    places: int = 0
    read: Values | None = None

    @property
    def values(self) -> Values:
        """The values, read the first time, or the first time after they were forgotten."""
        if self.read is None:
            self.read = _VALUES.decode(self.written)
        return self.read


def _twin(record: type[msgspec.Struct], **changed: Any) -> type[msgspec.Struct]:
    """Return a twin of a record with some fields of other types."""
    hints = get_type_hints(record, include_extras=True) | changed
    fields = [
        (field.name, hints[field.name])
        if field.required
        else (field.name, hints[field.name], msgspec.field(default=field.default))
        for field in msgspec.structs.fields(record)
    ]
    return msgspec.defstruct(f"Stored{record.__name__}", fields, kw_only=True, gc=False)


def _decoder(**of_trial: Any) -> msgspec.json.Decoder[Any]:
    """Return what decodes evidence but the fields of trials that many have in common."""
    trial = _twin(Trial, **dict.fromkeys(SHARED, msgspec.Raw), **of_trial)
    return msgspec.json.Decoder(_twin(Evidence, trials=GenericAlias(dict, (str, trial))))


_EVIDENCE = _decoder()
_LATE_WINDOW = _twin(Window, per_rank=GenericAlias(dict, (str, LateArray)) | UnsetType)
_LATE_EVIDENCE = _decoder(windows=GenericAlias(dict, (str, _LATE_WINDOW)))
_TOPOLOGY, _RANK_MAP = msgspec.json.Decoder(Topology), msgspec.json.Decoder(tuple[Placement, ...])
_VALUES = msgspec.json.Decoder(tuple[int | float | None, ...])


def decoded_evidence(raw: bytes) -> Evidence:
    """Decode evidence that intake accepted; what many trials have in common is one object."""
    found = _decoded(raw, _EVIDENCE)
    trials = {name: Trial(**asdict(trial)) for name, trial in found.trials.items()}
    return Evidence(**asdict(found) | {"trials": trials})


def _decoded_late(raw: bytes, receipt: Receipt) -> Evidence:
    """Do the same by twins of the records, whose arrays are read late and know how many places they have."""
    evidence: Evidence = _decoded(raw, _LATE_EVIDENCE)
    for name, trial in evidence.trials.items():
        ranks = None if name in receipt.uneven else len(trial.rank_map)
        for window in trial.windows.values():
            for array in _arrays(window):
                array.places = _places(array) if ranks is None else ranks
    return evidence


def _places(array: LateArray) -> int:
    """Count the ranks that an array has a place for: numbers and nulls have no commas in them."""
    written = bytes(array.written)
    return (commas := written.count(b",")) + (commas > 0 or not _EMPTY.fullmatch(written))


def forget_arrays(trial: Trial) -> None:
    """Let go of the values that arrays were asked for, so that few of them are held at a time."""
    for window in trial.windows.values():
        for array in _arrays(window):
            if type(array) is LateArray:
                array.read = None


def _decoded(raw: bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """Decode the twin of evidence, with one object for what many trials have in common."""
    evidence = decoder.decode(raw)
    topologies: dict[bytes, Topology] = {}
    rank_maps: dict[bytes, tuple[Placement, ...]] = {}
    for trial in evidence.trials.values():
        topology, rank_map = bytes(trial.topology), bytes(trial.rank_map)
        if topology not in topologies:
            topologies[topology] = _TOPOLOGY.decode(topology)
        if rank_map not in rank_maps:
            rank_maps[rank_map] = _RANK_MAP.decode(rank_map)
        trial.topology, trial.rank_map = topologies[topology], rank_maps[rank_map]
    return evidence
