"""Drafts of evidence for tests, and files of tools to put into them."""

import io
import json
from collections.abc import Iterator
from typing import Any

from reviews.models import Draft, Person
from reviews.services.draft_files import Given, Outcome, files_add
from reviews.services.evidence_drafts import evidence_draft_begin
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
