"""What a decision would be under other limits or readings: worked out when it is asked for, never stored.

Rules kept: stored bytes passed intake when they were uploaded, so they are decoded without being judged again; who
would win depends on every trial, so evidence beyond the bounds is not answered here but on the command line, which
has no web process to hold up; nothing that is overridden is stored, so nothing of it can be signed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.documents import ContractDocument, EvidenceDocument
from planner.errors import DocumentRefusedError, Problem
from planner.intake import read_contract
from planner.intake.stored import decoded_evidence
from planner.overrides import CODE, Reading, Setting, overridden_of_stored
from planner.overrides.text import read_reading, read_setting
from planner.records.overrides import Overridden
from planner.records.plan import Plan
from reviews.models import Person, Workspace
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import revision_bytes
from reviews.selectors.rows import DecisionPage

MOST_OVERRIDES = 12
MOST_TRIALS = 500
MOST_RANKS = 32_000
"""Of all candidates together, as judging one grows with its ranks; each is judged twice, about 1 s in all."""
MOST_BYTES = 16 * 2**20
"""Evidence decoded for one answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Overrides as they are written in addresses and on the command line."""

    sets: tuple[str, ...] = ()
    withouts: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.sets) + len(self.withouts) + len(self.readings)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfView:
    """A decision's page with an answer, or with what is wrong with the overrides.

    ``plan`` and ``contract`` are None before there is a plan. ``too_large`` says why evidence is not answered here;
    then, with problems, and where nothing is asked, there is no answer.
    """

    page: DecisionPage
    plan: Plan | None = None
    contract: ContractDocument | None = None
    answer: Overridden | None = None
    problems: tuple[Problem, ...] = ()
    too_large: Problem | None = None


def what_if_view(
    *, actor: Person, workspace: Workspace, number: int, revision: int | None = None, asked: Asked
) -> WhatIfView:
    """Return the decision before and after all overrides together.

    Raises:
        NotFoundError: no such decision or revision, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=revision)
    plan = page.plan()
    if plan is None:
        return WhatIfView(page=page)
    raw = revision_bytes(actor=actor, workspace=workspace, revision_id=page.shown.id)
    contract = read_contract(raw.contract)
    too_large = _too_large(plan, len(raw.evidence))
    settings, readings, problems = _read(asked)
    if too_large or not (settings or readings) or len(asked) > MOST_OVERRIDES:
        return WhatIfView(page=page, plan=plan, contract=contract, problems=problems, too_large=too_large)
    ids = {trial: candidate.trial_content_id for trial, candidate in plan.candidates.items()}
    evidence = EvidenceDocument(
        decoded_evidence(raw.evidence), page.shown.evidence, page.shown.evidence_file_sha256, ids
    )
    try:
        answer = overridden_of_stored(contract, evidence, plan.as_of, settings=settings, readings=readings)
    except DocumentRefusedError as refused:
        return WhatIfView(page=page, plan=plan, contract=contract, problems=(*problems, *refused.problems))
    if problems:
        return WhatIfView(page=page, plan=plan, contract=contract, problems=problems)
    return WhatIfView(page=page, plan=plan, contract=contract, answer=answer)


def _read(asked: Asked) -> tuple[Sequence[Setting], Sequence[Reading], tuple[Problem, ...]]:
    sets = [read_setting(text) for text in asked.sets]
    readings = [read_reading(text) for text in asked.readings]
    problems = [each for each in (*sets, *readings) if isinstance(each, Problem)]
    if len(asked) > MOST_OVERRIDES:
        problems.append(Problem(CODE, "", f"at most {MOST_OVERRIDES} overrides", f"{len(asked)}"))
    settings = [each for each in sets if isinstance(each, Setting)]
    settings += [Setting(at=at, removes=True) for at in asked.withouts]
    return settings, [each for each in readings if isinstance(each, Reading)], tuple(problems)


def _too_large(plan: Plan, size: int) -> Problem | None:
    """Name the first bound that is passed."""
    ranks = sum(candidate.ranks for candidate in plan.candidates.values())
    bounds = (
        (len(plan.candidates), MOST_TRIALS, "trials"),
        (ranks, MOST_RANKS, "ranks in all trials"),
        (size, MOST_BYTES, "bytes of evidence"),
    )
    passed = ((found, most, what) for found, most, what in bounds if found > most)
    return next((Problem(CODE, "", f"at most {most:,} {what}", f"{found:,}") for found, most, what in passed), None)
