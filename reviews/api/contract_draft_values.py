"""Drafts of contracts as the API's values, with links."""

from typing import Any

from planner.contract_builder.draft import ContractDraft
from planner.contract_builder.questions import questions
from planner.contract_builder.rendered import judged
from planner.contract_builder.steps import STEPS
from reviews.api.errors import finding_json
from reviews.api.rows import Links
from reviews.errors import Finding
from reviews.models import Draft
from reviews.selectors.drafts import DraftRow


def contract_row_value(row: DraftRow | Draft, links: Links) -> dict[str, Any]:
    """Return a draft in short."""
    number = row.id if isinstance(row, DraftRow) else row.pk
    return {
        "id": number,
        "name": row.name,
        "slot": row.slot,
        "version": row.version,
        "changed_at": row.changed_at,
        "expires_at": row.expires_at,
        "url": links.to("api-contract-draft", number),
        "page": links.to("contract-draft", number, STEPS[0].id),
    }


def contract_state_value(stored: Draft, draft: ContractDraft, links: Links) -> dict[str, Any]:
    """Return a draft with its tree, its problems, and what is to be asked of its hardware."""
    found = judged(draft.tree)
    return {
        **contract_row_value(stored, links),
        "based_on": draft.based_on,
        "content_id": found.document.content_id if found.document else None,
        "document": draft.tree,
        "problems": [
            {**finding_json(Finding.of(problem, "contract")), "is_lacking": problem.is_lacking}
            for problem in found.problems
        ],
        "questions": [
            {"pointer": one.pointer, "question": one.text, "ids": list(one.ids), "needed": one.is_needed}
            for one in questions(draft.tree)
        ],
        "origins": draft.origins,
        "notes": list(draft.notes),
    }
