"""Revisions as rows."""

from django.db.models import QuerySet

from reviews.asked_once import once
from reviews.facts import SubjectParts
from reviews.models import Decision, Plan, PlanJob, Revision
from reviews.selectors.rows import JobRow, PlanRow, RevisionRow
from reviews.selectors.thread_blockers import with_blocks


def with_digests(revisions: QuerySet[Revision]) -> QuerySet[Revision]:
    """Fetch what a revision row needs in the same query; document and plan bytes stay where they are."""
    return revisions.select_related("decision", "author", "contract", "evidence", "policy", "job", "planned__plan")


@once
def revisions_of(decision_ids: tuple[int, ...]) -> tuple[Revision, ...]:
    """Return every revision of some decisions with its digests, in order of their numbers; one query."""
    return _in_order(Revision.objects.filter(decision_id__in=decision_ids))


def revisions_within(decisions: QuerySet[Decision]) -> tuple[Revision, ...]:
    """Return the same of decisions that the database finds in this query."""
    return _in_order(Revision.objects.filter(decision__in=decisions))


def _in_order(revisions: QuerySet[Revision]) -> tuple[Revision, ...]:
    return tuple(sorted(with_blocks(with_digests(revisions)).order_by(), key=lambda row: row.number))


def revision_row(revision: Revision) -> RevisionRow:
    """Return a revision fetched by ``with_digests`` as a row."""
    planned = getattr(revision, "planned", None)
    return RevisionRow(
        id=revision.pk,
        number=revision.number,
        author=revision.author.display_name,
        made_at=revision.made_at,
        as_of=revision.as_of,
        contract=revision.contract.content_id,
        contract_file_sha256=revision.contract.file_sha256,
        evidence=revision.evidence.content_id,
        evidence_file_sha256=revision.evidence.file_sha256,
        identity=revision.identity,
        policy=revision.policy.content_id,
        policy_version=revision.policy.version,
        planner_version=revision.planner_version,
        plan=_plan_row(planned.plan) if planned else None,
        subject=planned.subject if planned else None,
        planned_at=planned.planned_at if planned else None,
        job=_job_row(revision.job),
    )


def _plan_row(plan: Plan) -> PlanRow:
    return PlanRow(
        plan_id=plan.plan_id,
        decision_word=plan.decision_word,
        selected_trial=plan.selected_trial,
        selected_topology=plan.selected_topology,
        eligible=plan.eligible_count,
        rejected=plan.rejected_count,
        inconclusive=plan.inconclusive_count,
    )


def _job_row(job: PlanJob) -> JobRow:
    return JobRow(
        state=job.state,
        candidates_done=job.candidates_done,
        candidates_total=job.candidates_total,
        attempts=job.attempts,
        error_code=job.error_code,
        error_detail=job.error_detail,
    )


def row_parts(row: RevisionRow) -> SubjectParts:
    """Return what the row's subject is made of."""
    return SubjectParts(
        contract=row.contract,
        evidence=row.evidence,
        identity=row.identity,
        policy=row.policy,
        planner_version=row.planner_version,
        plan=row.plan.plan_id if row.plan else None,
    )
