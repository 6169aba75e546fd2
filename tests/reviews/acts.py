"""The public functions of the services: acts with the entries that they write, and all others by what they are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from reviews.models import Draft, PlanJob
from reviews.services.checkpoints import checkpoint_sign
from reviews.services.drafts import drafts_expire
from reviews.services.erasure import person_erase
from reviews.services.export_runs import export_run
from reviews.services.exports import export_fetch, export_request
from reviews.services.jobs import job_give_up
from reviews.services.people import policy_set, seat_take, workspace_create
from reviews.services.restores import log_check, log_restored
from reviews.services.sweeps import decisions_sweep
from reviews.services.verification_runs import verification_run
from reviews.services.verifications import verification_request
from reviews.transparency.keys import new_key
from tests.reviews.drafts import begun
from tests.reviews.factories import POLICY, Cast, documents, planned, submitted
from tests.reviews.rules.board import BOARD, countersign, propose
from tests.reviews.rules.test_rule_11_validity import pass_time

Actions = tuple[str, ...]


@dataclass(frozen=True)
class Act:
    """What a call writes, and the one entry of somebody who may not; without that, such a person learns of nothing."""

    writes: tuple[Actions, ...]
    refused: str = ""


def one(*actions: str, refused: str = "") -> Act:
    """An act that writes one entry, of one of the actions."""
    return Act(tuple((action,) for action in actions), refused)


ROSTER = "roster.refused"
DRAFT = "draft.refused"
ACTS: dict[str, Act] = {
    "activation.decision_activate": one("decision.activated", refused="activation.refused"),
    "checkpoints.checkpoint_sign": one("log.key_set"),
    "closing.decision_close": one("decision.closed", refused="closing.refused"),
    "closing.decision_reject": one("decision.rejected", refused="rejection.refused"),
    "closing.decision_withdraw": one("decision.withdrawn", refused="withdrawal.refused"),
    "contract_drafts.contract_draft_change": one("draft.changed", refused="draft.refused"),
    "contract_drafts.contract_draft_create": one("draft.created", refused="draft.refused"),
    "contract_drafts.contract_draft_save": one("draft.changed", refused="draft.refused"),
    "delegations.delegation_end": one("delegation.ended", refused="delegation.end_refused"),
    "delegations.delegation_make": one("delegation.made", refused="delegation.refused"),
    "diagnoses.diagnosis_make": one("diagnosis.made", refused="diagnosis.refused"),
    "draft_files.file_remove": one("draft.file_removed", refused="draft.refused"),
    "draft_files.files_add": one("draft.files_added", refused="draft.refused"),
    "drafts.draft_delete": one("draft.deleted"),
    "drafts.drafts_expire": one("draft.expired"),
    "erasure.member_erase": one("person.erased", refused="roster.refused"),
    "erasure.person_erase": one("person.erased"),
    "evidence_drafts.evidence_draft_begin": one("draft.created", refused="draft.refused"),
    "evidence_drafts.evidence_draft_change": one("draft.changed", refused="draft.refused"),
    "evidence_drafts.evidence_make": one("draft.finished", refused="draft.refused"),
    "exports.export_fetch": one("export.downloaded"),
    "exports.export_request": one("export.requested"),
    "host_reports.identity_reports_take": one("identity.reported", refused="identity.report_refused"),
    "jobs.job_give_up": one("revision.not_planned"),
    "jobs.job_run": one("revision.planned"),
    "people.member_add": one("roster.role_set"),
    "people.policy_set": one("policy.set"),
    "people.seat_give": one("roster.seat_given"),
    "people.seat_take": one("roster.seat_taken"),
    "people.workspace_create": Act((("workspace.created", "policy.set"),)),
    "people_accounts.other_login_remove": one("account.changed"),
    "people_accounts.person_rename": one("account.changed"),
    "people_invitations.invitation_make": one("roster.link_made"),
    "people_invitations.invitation_use": one("roster.link_used"),
    "people_roster.account_close": one("roster.account_closed", refused="roster.refused"),
    "people_roster.account_open": one("roster.account_opened", refused="roster.refused"),
    "people_roster.link_make": one("roster.link_made", refused="roster.refused"),
    "people_roster.member_invite": Act((("roster.role_set", "roster.link_made"),), "roster.refused"),
    "people_roster.member_remove": one("roster.removed", refused="roster.refused"),
    "people_roster.member_role_set": one("roster.role_set", refused="roster.refused"),
    "people_roster.seats_set": one("roster.seat_given", refused="roster.refused"),
    "re_reviews.re_review_ask": one("re_review.asked", refused="re_review.refused"),
    "reproductions.revision_reproduce": one("revision.reproduced", refused="reproduction.refused"),
    "restores.log_restored": one("log.restored"),
    "retractions.evidence_retract": one("evidence.retracted", refused="retraction.refused"),
    "revisions.revision_create": one("revision.created", refused="submission.refused"),
    "signoffs.signoff_give": one("signoff.given", refused="signoff.refused"),
    "submissions.submission_create": one("revision.created", refused="submission.refused"),
    "sweeps.decisions_sweep": one("decision.ran_out"),
    "threads.comments_publish": one("comments.published", refused="comments.refused"),
    "threads.draft_save": one("comments.published", refused="comments.refused"),
    "threads.drafts_publish": one("comments.published", refused="comments.refused"),
    "threads.thread_resolve": one("thread.resolved", refused="thread.resolution_refused"),
    "tokens.token_create": one("token.created", refused="token.refused"),
    "tokens.token_revoke": one("token.revoked"),
    "two_persons.proposal_countersign": Act(
        (("proposal.countersigned", "policy.set"), ("proposal.countersigned", "emergency.declared")),
        "countersignature.refused",
    ),
    "two_persons.proposal_make": one("proposal.made", refused="proposal.refused"),
    "two_persons.proposal_withdraw": one("proposal.withdrawn", refused="proposal.withdrawal_refused"),
    "verification_runs.verification_run": one("verification.finished"),
    "verifications.verification_request": one("verification.requested"),
    "webhooks.webhook_add": one("webhook.added", refused="webhook.refused"),
    "webhooks.webhook_remove": one("webhook.removed", refused="webhook.refused"),
    "withdrawals.point_settle": one("point.settled", refused="point.refused"),
    "withdrawals.signoff_withdraw": one("signoff.withdrawn", refused="signoff.withdrawal_refused"),
}

NO_ACTS: set[str] = {
    # They are asked for an answer, or say what would be refused; nothing is stored by them.
    "acting.not_what_was_seen",
    "acting.require",
    "acting.require_person",
    "acting.require_proof",
    "acting.require_prose",
    "activation.activation_record",
    "activation.release_until",
    "activation.requirements_record",
    "comment_checks.ready_to_publish",
    "evidence_drafts.label_of",
    "identity_reports.require_slot",
    "leases.in_seconds",
    "messages.digest_message",
    "messages.notice_message",
    "messages.what_text",
    "notices.next_digest",
    "people.roster_act",
    "people_accounts.require_name",
    "people_invitations.invitation_made",
    "people_invitations.invitation_open",
    "people_roster.account_touched",
    "people_roster.places_of",
    "planned.is_newest",
    "planned.require_newest",
    "planned.subject_parts",
    "publications.published_before",
    "policy_changes.policy_tree",
    "restores.blobs_check",
    "restores.log_check",
    "revisions.revision_check",
    "signing.delegation_to",
    "signing.require_shown",
    "signing.require_signing",
    "signoffs.require_untouched",
    "signoffs.scope_digest",
    "signoffs.signoff_payload",
    "submission_entries.revision_act",
    "submissions.key_findings",
    "submissions.require_key",
    "submissions.require_submitting",
    "submissions.submission_check",
    "submissions.submission_draft",
    "threads.as_written",
    "two_persons.holder_of",
    "two_persons.holder_of_any_seat",
    "two_persons.proposal_named",
    "two_persons.seat_of",
    "two_persons.wrong",
    "webhook_messages.notice_body",
    "webhook_messages.signature",
    "withdrawals.signoff_named",
    # Parts of an act: they run inside its transaction, and it writes the entry, or they do for what it sets off.
    "acting.acting",
    "activation.activation_state",
    "activation.supersede_older",
    "bases.basis_create",
    "publications.published",
    "carries.signoffs_carry",
    "drafts.draft_changing",
    "drafts.draft_create",
    "exports.write_bundle",
    "footprints.footprint_keep",
    "host_places.place_keep",
    "host_places.place_refuse",
    "identity_reports.identity_report",
    "people_accounts.account_changing",
    "people_roster.administering",
    "planned.revision_fail",
    "planned.revision_take_plan",
    "states.decision_move",
    "states.decision_resubmit",
    "sweeps.decision_to_act_on",
    "sweeps.decisions_settle",
    "withdrawals.signoff_take_back",
    # Preferences, sessions, and what nobody else sees yet (auditor guide).
    "notice_preferences.notice_preference_set",
    "openings.item_open",
    "people_accounts.session_finish",
    "people_accounts.sessions_finish",
    "saved_views.saved_view_delete",
    "saved_views.saved_view_make",
    "saved_views.saved_view_rename",
    "threads.draft_delete",
    "tokens.token_use",
    # The product at work on what was asked for: it wakes, leases, reads, tells and prunes.
    "checkpoints.checkpoints_sign",
    "cosignatures.cosignature_keep",
    "deliveries.deliveries_sweep",
    "deliveries.delivery_send",
    "draft_reading.draft_file_read",
    "draft_reading.draft_files_sweep",
    "draft_reading.files_wake_after_commit",
    "export_runs.export_run",
    "export_runs.exports_sweep",
    "host_places.places_prune",
    "jobs.job_fail",
    "jobs.job_finish",
    "jobs.job_release",
    "jobs.job_restart",
    "jobs.job_wake",
    "jobs.job_wake_after_commit",
    "jobs.jobs_sweep",
    "leases.beating",
    "leases.claim",
    "leases.job_claim",
    "leases.lease_end",
    "leases.lease_progress",
    "leases.lease_renew",
    "leases.waiting_wake",
    "notices.notices_prune",
    "notices.notices_sweep",
    "verification_runs.verifications_sweep",
    "webhook_messages.webhook_tell",
    # They only call the others: the demo.
    "demo.demo_logins",
    "demo.demo_submit",
    # They refuse, which is an entry by itself.
    "drafts.drafting_require",
    "host_reports.identity_report_refuse",
    "submissions.submission_refuse",
}


def by_itself(people: Cast) -> Iterator[Callable[[], Any]]:
    """Yield what no form and no request leads to."""
    yield lambda: workspace_create(slug="other", title="Other", policy=POLICY)
    yield lambda: policy_set(workspace=people.workspace, policy=BOARD | {"max_age_s": 3600})
    yield lambda: person_erase(login=leaver(people))
    yield lambda: seat_take(seat=people.bob.memberships.get().seats.get())
    yield lambda: given_up(people)
    yield lambda: ran_out(people)
    yield lambda: verified(people)
    yield lambda: exported(people)
    yield lambda: log_restored(log_check(people.workspace, []))
    yield lambda: signed(people)
    yield lambda: expired(people)


def leaver(people: Cast) -> str:
    people.alice.memberships.all().delete()
    return str(people.alice.login)


def given_up(people: Cast) -> None:
    job = submitted(people, pair=documents(tokens=170001)).job
    PlanJob.objects.filter(pk=job.pk).update(attempts=settings.PLAN_MAX_ATTEMPTS)
    job_give_up(job.pk)


def ran_out(people: Cast) -> None:
    number = planned(people, pair=documents(floor=600)).decision.number
    body = {"trial": "t-1", "incident": "INC-1", "failing_gates": ["throughput"], "hours": 1}
    countersign(people, propose(people, "emergency", "ivan", body, number=number), "bob")
    pass_time(days=2)
    decisions_sweep()


def verified(people: Cast) -> None:
    made = verification_request(actor=people.audrey, workspace=people.workspace)
    verification_run(made.pk)


def exported(people: Cast) -> None:
    kept = settings.LOG_SIGNING_KEY
    settings.LOG_SIGNING_KEY = new_key()
    checkpoint_sign(people.workspace)
    made = export_request(actor=people.audrey, workspace=people.workspace)
    export_run(made.pk)
    export_fetch(actor=people.audrey, workspace=people.workspace, export_id=made.pk)
    settings.LOG_SIGNING_KEY = kept


def signed(people: Cast) -> None:
    kept = settings.LOG_SIGNING_KEY
    settings.LOG_SIGNING_KEY = new_key()
    checkpoint_sign(people.workspace)
    settings.LOG_SIGNING_KEY = kept


def expired(people: Cast) -> None:
    Draft.objects.filter(pk=begun(people).pk).update(expires_at=timezone.now() - timedelta(days=1))
    drafts_expire()
