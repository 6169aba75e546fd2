"""The newest revision of a decision with its plan, policy and authors, for acts that rest on all of them."""

from dataclasses import dataclass

from planner.records.plan import Plan
from reviews.blobs import blob_read
from reviews.errors import ConflictError
from reviews.models import Decision, Revision
from reviews.planning import decode_plan
from reviews.policies.document import PolicyDocument, read_policy
from reviews.selectors.judgement import author_ids
from reviews.selectors.revisions import with_digests


@dataclass(frozen=True, slots=True)
class PlannedNewest:
    """A planned newest revision."""

    revision: Revision
    plan: Plan
    document: PolicyDocument
    author_ids: frozenset[int]


def planned_newest(decision: Decision) -> PlannedNewest:
    """Return the newest revision with what it was planned to.

    Raises:
        ConflictError: it has no plan.
        TamperedError: plan or policy are not what was stored.
    """
    rows = with_digests(Revision.objects.filter(decision=decision)).select_related("planned__basis")
    revision = rows.order_by("-number")[0]
    if not hasattr(revision, "planned"):
        raise ConflictError(f"{decision.label} r{revision.number} has no plan yet.")
    return PlannedNewest(
        revision=revision,
        plan=decode_plan(blob_read(revision.planned.plan.blob_id, "plan")),
        document=read_policy(blob_read(revision.policy.blob_id, "policy")),
        author_ids=author_ids(decision),
    )
