"""Drafts of evidence for tests, and files of tools to put into them."""

import io
import json
from collections.abc import Iterator
from typing import Any

from reviews.draft_changes import AnswerQuestion
from reviews.models import Draft, Person, StoredDocument
from reviews.services.draft_files import Given, Outcome, files_add
from reviews.services.evidence_drafts import evidence_draft_begin, evidence_draft_change, evidence_make
from tests.planner.importers.samples import vllm_run
from tests.reviews.factories import Cast, documents


def tool_file(name: str = "c16.json", **changed: Any) -> tuple[str, bytes]:
    """A result of a load generator: 16 requests in flight."""
    return name, json.dumps(vllm_run(**{"max_concurrency": 16, **changed})).encode()


def given(name: str, raw: bytes, *, block: int = 2**16) -> Given:
    """A file as it is sent."""

    def blocks() -> Iterator[bytes]:
        handle = io.BytesIO(raw)
        while piece := handle.read(block):
            yield piece

    return Given(name, len(raw), blocks)


def begun(people: Cast, actor: Person | None = None, **changes: Any) -> Draft:
    """A draft of alice's for the smallest contract."""
    asked = {"contract": documents().contract, "name": "Measured in May", **changes}
    return evidence_draft_begin(actor=actor or people.alice, workspace=people.workspace, **asked)


def added(people: Cast, draft: Draft, *files: tuple[str, bytes], seen: int | None = None) -> tuple[Outcome, ...]:
    """Put files into a draft of alice's."""
    return files_add(
        actor=people.alice,
        workspace=people.workspace,
        draft_id=draft.pk,
        files=[given(*file) for file in files],
        seen_version=seen,
    )


ANSWERS: dict[str, Any] = {
    "/provenance/collected_by": "pilot team",
    "/provenance/collected_at": "2026-09-20T10:00:00Z",
    "/provenance/tool/version": "1.0",
    "/trials/*/same_run": True,
    "/trials/*/topology/layout": "closed",
    "/trials/*/topology/instances": [{"tp": 1, "pp": 1, "ep": 1, "dp": 1, "world_size": 1}],
    "/trials/*/rank_map": [{"rank": 0, "node": "node-a", "device": "a0"}],
    "/trials/*/windows/*/purpose": "counted",
    "/trials/*/windows/*/start": "2026-09-20T09:40:00Z",
    "/trials/*/windows/*/end": "2026-09-20T09:40:10Z",
    "/identities/*/model/revision": "r1",
}
"""What a person says of one run of the smallest contract: pointer -> answer."""


def answers() -> tuple[AnswerQuestion, ...]:
    """Everything that has to be said of a draft with one run."""
    return tuple(AnswerQuestion(at=at, value=value) for at, value in ANSWERS.items())


def answered(people: Cast, draft: Draft) -> Draft:
    """Say everything that has to be said."""
    return evidence_draft_change(
        actor=people.alice, workspace=people.workspace, draft_id=draft.pk, changes=answers(), seen_version=None
    )


def made(people: Cast) -> StoredDocument:
    """Evidence that alice made of one file."""
    draft = begun(people)
    added(people, draft, tool_file(tensor_parallel_size=1))
    answered(people, draft)
    return evidence_make(actor=people.alice, workspace=people.workspace, draft_id=draft.pk, seen_version=None)
