"""A decision of ``examples/late-rank``, and files of what it runs, for tests of diagnoses."""

import json
from typing import Any

from reviews.models import Decision, Diagnosis, Person
from reviews.services.diagnoses import Asked, diagnosis_make
from reviews.services.draft_files import Given
from tests.planner.importers.test_nccl_ras import answer
from tests.planner.observations.late_traces import late, log_file, trace_file
from tests.reviews.factories import Cast, example_pair, planned

TRACE = trace_file(late(1))
LOG = log_file(0)
RAS = json.dumps(answer(5, 5, 4, missing=1)).encode()


def late_decision(people: Cast) -> Decision:
    """Plan the example of a late rank."""
    return planned(people, pair=example_pair("late-rank"), as_of="2026-10-01T00:00:00Z").decision


def given(name: str, data: bytes) -> Given:
    """Return a file as the services take it."""

    return Given(name, len(data), lambda: [data])


def diagnosed(people: Cast, *files: tuple[str, bytes], by: Person | None = None, **asked: Any) -> Diagnosis:
    """Make a diagnosis of the first decision; by default of a trace in which rank 1 is late and rank 0 reports."""
    sent = files or (("trace.csv", TRACE), ("engine.log", LOG))
    return diagnosis_make(
        actor=by or people.bob,
        workspace=people.workspace,
        number=1,
        asked=Asked(files=[given(name, data) for name, data in sent], **asked),
    )
