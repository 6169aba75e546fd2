"""The benchmark matrix of a decision or of a person's draft: worked out when it is asked for, never stored.

Rules kept: stored bytes passed intake when they were uploaded, so they are decoded without being judged again; the
same documents give the same matrix, so a process keeps the last few; evidence beyond the bounds is told on the command
line, which has no web process to hold up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.contract_builder.draft import draft_from
from planner.contract_builder.rendered import judged
from planner.errors import Problem
from planner.intake import read_contract
from planner.matrix import matrix_of_stored
from planner.records.matrix import Matrix
from planner.version import PLANNER_VERSION
from reviews.errors import Finding, InvalidRequestError
from reviews.last_few import LastFew
from reviews.models import DocumentKind, Draft, Person, Workspace
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import evidence_by_name, revision_bytes
from reviews.selectors.drafts import draft_of_owner
from reviews.selectors.rows import DecisionPage

__all__ = ["BenchmarkView", "DraftBenchmark", "benchmark_view", "draft_benchmark"]

MOST_CONTRACT_BYTES = 8 * 2**20
MOST_TRIALS = 2_000
MOST_BYTES = 16 * 2**20
"""Evidence whose coverage one answer tells."""
MOST_KEPT = 4
"""A matrix of the largest fleet takes some megabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkView:
    """A decision's page with its matrix; ``too_large`` says why coverage is not told here."""

    page: DecisionPage
    matrix: Matrix
    too_large: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftBenchmark:
    """A draft of a contract with its matrix; without one, what intake would say of the contract, which is ``tree``."""

    stored: Draft
    tree: Mapping[str, Any]
    matrix: Matrix | None
    problems: tuple[Problem, ...]


_KEPT: LastFew[Matrix] = LastFew(MOST_KEPT)


def benchmark_view(*, actor: Person, workspace: Workspace, number: int, revision: int | None = None) -> BenchmarkView:
    """Return the matrix of a revision's contract with the coverage of its evidence; no plan is needed.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
        InvalidRequestError: the contract is too large for a web process.
        TamperedError: stored bytes are not the ones that were stored.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=revision, read_plan=False)
    shown = page.shown
    raw = revision_bytes(actor=actor, workspace=workspace, revision_id=shown.id)
    _require_bounded(len(raw.contract))
    contract = read_contract(raw.contract)
    too_large = _too_large(shown.job.candidates_total, len(raw.evidence))
    if too_large:
        key: tuple[str, ...] = (PLANNER_VERSION, shown.contract)
        return BenchmarkView(page=page, matrix=_KEPT.get(key, lambda: matrix_of_stored(contract)), too_large=too_large)

    def made() -> Matrix:
        return matrix_of_stored(contract, evidence_by_name(shown, raw))

    return BenchmarkView(page=page, matrix=_KEPT.get((PLANNER_VERSION, shown.contract, shown.evidence), made))


def draft_benchmark(*, actor: Person, workspace: Workspace, draft_id: int) -> DraftBenchmark:
    """Return the matrix of a contract that is being written, as it would be submitted now.

    Raises:
        NotFoundError: the actor is no member of the workspace, or has no such draft of a contract in it.
        InvalidRequestError: the contract is too large for a web process.
    """
    stored = draft_of_owner(actor=actor, workspace=workspace, draft_id=draft_id, kind=DocumentKind.CONTRACT)
    draft = draft_from(bytes(stored.body))
    _require_bounded(len(stored.body))
    found = judged(draft.tree)
    document = found.document
    if document is None:
        return DraftBenchmark(stored=stored, tree=draft.tree, matrix=None, problems=found.problems)
    matrix = _KEPT.get((PLANNER_VERSION, document.content_id), lambda: matrix_of_stored(document))
    return DraftBenchmark(stored=stored, tree=draft.tree, matrix=matrix, problems=())


def _require_bounded(size: int) -> None:
    """Refuse a contract whose matrix would hold a web process up; a fleet of 16,384 devices is within the bound.

    Raises:
        InvalidRequestError: it is larger; the command line writes its matrix.
    """
    if size > MOST_CONTRACT_BYTES:
        most = f"at most {MOST_CONTRACT_BYTES:,} bytes; `topogate matrix CONTRACT` writes the matrix of a larger one"
        raise InvalidRequestError((Finding("contract", "request/file_size", "", most, f"{size:,} bytes"),))


def _too_large(trials: int, size: int) -> str:
    """Name the first bound that is passed; how many trials there are is known once planning began."""
    if trials > MOST_TRIALS:
        return f"{trials:,} trials; at most {MOST_TRIALS:,} are told here."
    if size > MOST_BYTES:
        return f"{size:,} bytes of evidence; at most {MOST_BYTES:,} are told here."
    return ""
