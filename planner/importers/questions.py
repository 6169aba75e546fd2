"""What no file of a benchmark says, or this one did not: questions to a person, as data."""

from collections.abc import Container, Iterator
from dataclasses import dataclass

from planner.importers.model import Asked

__all__ = ["asked_of"]

_WINDOW = "/trials/<id>/windows/<id>"
_IDENTITY = "/identities/<id>"


@dataclass(frozen=True, slots=True)
class _Question:
    """``name`` is a quantity that answers it where it was read; "" for what no file answers."""

    name: str
    document: str
    field: str
    question: str


_QUESTIONS = (
    _Question("model_revision", "evidence", f"{_IDENTITY}/model/revision", "Which revision (commit) of the model?"),
    _Question("engine_name", "evidence", f"{_IDENTITY}/stack/engine/name", "Which engine served?"),
    _Question("engine_version", "evidence", f"{_IDENTITY}/stack/engine/version", "Which version of the engine?"),
    _Question("tp", "evidence", "/trials/<id>/topology/instances", "Which degrees (tp, pp, ep, dp) per instance?"),
    _Question("", "evidence", "/trials/<id>/rank_map", "Which device of which node did each rank use?"),
    _Question("precision_weights", "evidence", f"{_IDENTITY}/precision", "In which number formats did it run?"),
    _Question("", "evidence", f"{_WINDOW}/purpose", "Was this the warm-up or a counted window; which repeat?"),
    _Question("started_at", "evidence", f"{_WINDOW}/start", "When did it start and end, in UTC?"),
    _Question("prefix_cache", "evidence", f"{_IDENTITY}/workload/prefix_cache", "Was the prefix cache on, and warm?"),
    _Question("", "contract", "/gates", "Which percentile is promised, and which limit?"),
    _Question("", "evidence", "/provenance/files", "Which other files belong to the same run and machine?"),
    _Question("driver_version", "evidence", f"{_IDENTITY}/stack/driver/version", "Which driver and NCCL version?"),
    _Question(
        "device_used_peak_bytes",
        "evidence",
        f"{_WINDOW}/per_rank/device_used_peak_bytes",
        "Which peak memory had every rank during the window, sampled how?",
    ),
)


def asked_of(names: Container[str]) -> Iterator[Asked]:
    """Yield the questions that the quantities of a run leave open."""
    for question in _QUESTIONS:
        if question.name not in names:
            yield Asked(
                name=question.name, document=question.document, field=question.field, question=question.question
            )
