"""Acts that no form and no request leads to: the shell's, and what the product does by itself."""

from collections.abc import Callable, Iterator
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
from reviews.services.proposal_ends import proposals_sweep
from reviews.services.restores import log_check, log_restored
from reviews.services.sweeps import decisions_sweep
from reviews.services.verification_runs import verification_run
from reviews.services.verifications import verification_request
from reviews.transparency.keys import new_key
from tests.reviews.drafts import begun
from tests.reviews.factories import POLICY, Cast, documents, planned, submitted
from tests.reviews.observing import lapsed, scraped
from tests.reviews.rules.board import BOARD, countersign, propose
from tests.reviews.rules.test_rule_11_validity import pass_time


def by_itself(people: Cast) -> Iterator[Callable[[], Any]]:
    """Yield what no form and no request leads to."""
    yield lambda: workspace_create(slug="other", title="Other", policy=POLICY)
    yield lambda: policy_set(workspace=people.workspace, policy=BOARD | {"max_age_s": 3600})
    yield lambda: person_erase(login=leaver(people))
    yield lambda: seat_take(seat=people.bob.memberships.get().seats.get())
    yield lambda: given_up(people)
    yield lambda: ran_out(people)
    yield lambda: out_of_date(people)
    yield lambda: verified(people)
    yield lambda: exported(people)
    yield lambda: log_restored(log_check(people.workspace, []))
    yield lambda: signed(people)
    yield lambda: expired(people)
    yield lambda: scraped(people)
    yield lambda: lapsed(people)


def leaver(people: Cast) -> str:
    people.alice.memberships.all().delete()
    return str(people.alice.login)


def given_up(people: Cast) -> None:
    job = submitted(people, pair=documents(tokens=170001)).job
    PlanJob.objects.filter(pk=job.pk).update(attempts=settings.PLAN_MAX_ATTEMPTS)
    job_give_up(job.pk)


def ran_out(people: Cast) -> None:
    number = planned(people, pair=documents(floor=600)).decision.number
    countersign(people, propose(people, "emergency", "ivan", emergency_of(1), number=number), "bob")
    pass_time(days=2)
    decisions_sweep()


def out_of_date(people: Cast) -> None:
    decision = planned(people, pair=documents(floor=600)).decision
    propose(people, "emergency", "ivan", emergency_of(1), number=decision.number)
    planned(people, pair=documents(floor=601), decision=decision)
    proposals_sweep()


def emergency_of(hours: int) -> dict[str, Any]:
    return {"trial": "t-1", "incident": "INC-1", "failing_gates": ["throughput"], "hours": hours}


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
