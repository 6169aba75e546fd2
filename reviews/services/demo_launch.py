"""The demo's example that can be launched: signed, in force, and observed, so that *Operate* has something to show.

Kept rules: everything goes through the services, by the demo's people, and is in the log; what is there already is not
done again, so a start that was killed is put right by the next one; what somebody went on with is left alone.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from reviews.clock import database_now
from reviews.errors import ReviewError
from reviews.facts import Authentication
from reviews.models import (
    Activation,
    Decision,
    DecisionState,
    Diagnosis,
    ObservationSource,
    Person,
    PlannedRevision,
    Revision,
    SignOff,
)
from reviews.selectors.decided import decided_by
from reviews.selectors.envelopes import qualified_of
from reviews.selectors.in_force import activations_of
from reviews.selectors.openings import openings_of
from reviews.services.activation import decision_activate
from reviews.services.demo_documents import LEAK_HOURS, SOURCE, HourOfDemo, batch_file, host_report, trace_file
from reviews.services.diagnoses import Asked, diagnosis_make
from reviews.services.draft_files import Given
from reviews.services.host_reports import identity_reports_take
from reviews.services.jobs import job_run
from reviews.services.observations import observations_take
from reviews.services.openings import item_open
from reviews.services.people import Trace
from reviews.services.signoffs import signoff_give

EXAMPLE = "dense-two-nodes"
SIGNERS = {"serving": "reviewer-serving", "networking": "reviewer-networking"}
"""Team -> who signs for it; the first one also puts it into force."""
REPORTER = "author"
ROLLBACK = "t-four-stages"
STATEMENT = "Signed as the demo starts, so that there is something to operate. It ran as a canary for a day."
NOTE = "Steps look uneven since the memory of rank 5 grows."
HOUR = timedelta(hours=1)
HOURS = 24
# The demo made this person's password a moment ago.
TRACE = Trace("demo", Authentication("password", 0))


def demo_launch(revision: Revision) -> str:
    """Bring the example into force and report what runs, as far as that is missing; return why it is not, or "".

    Nothing is done once somebody else signed it, revised it, or ended it.
    """
    try:
        if _is_untouched(Decision.objects.get(pk=revision.decision_id)):
            _put_into_force(revision)
        activation = activations_of([revision.decision_id]).get(revision.decision_id)
        if activation is not None and _holds(activation):
            _report(activation)
    except ReviewError as error:
        return error.message
    return ""


def _is_untouched(decision: Decision) -> bool:
    """Whether it waits for review and nobody but the demo said anything of it."""
    said = SignOff.objects.filter(revision__decision=decision)
    others = said.exclude(statement=STATEMENT) | said.filter(withdrawal__isnull=False)
    return (
        decision.state in (DecisionState.EVALUATING, DecisionState.IN_REVIEW)
        and decision.revisions.count() == 1
        and not others.exists()
    )


def _put_into_force(revision: Revision) -> None:
    job_run(revision.job_id)
    planned = PlannedRevision.objects.filter(revision=revision).first()
    if planned is None:
        return  # somebody else plans it now; the next start goes on
    workspace, number = revision.decision.workspace, revision.decision.number
    signers = {team: Person.objects.get(login=login) for team, login in SIGNERS.items()}
    for team, person in signers.items():
        for item in openings_of(revision, person_id=person.pk, team=team, now=database_now()).missing:
            item_open(actor=person, workspace=workspace, number=number, team=team, item=item.id)
        signoff_give(
            actor=person,
            decision_number=number,
            workspace=workspace,
            team=team,
            meaning="approve",
            statement=STATEMENT,
            seen_subject=planned.subject,
            rollback=ROLLBACK,
            request_id=TRACE.request_id or "",
            authentication=TRACE.authentication,
        )
    decision_activate(
        actor=next(iter(signers.values())),
        workspace=workspace,
        number=number,
        statement=STATEMENT,
        seen_subject=planned.subject,
        rollback=ROLLBACK,
        trace=TRACE,
    )


def _holds(activation: Activation) -> bool:
    """Whether what the demo put into force is in force still, with nothing newer beside it."""
    decision = Decision.objects.get(pk=activation.revision.decision_id)
    is_over = activation.valid_until is not None and activation.valid_until <= database_now()
    return (
        decision.state == DecisionState.EFFECTIVE
        and decision.revisions.count() == 1
        and activation.statement == STATEMENT
        and not is_over
    )


def _report(activation: Activation) -> None:
    """Send what the machines would have sent since the last start."""
    revision, workspace = activation.revision, activation.revision.decision.workspace
    reporter = Person.objects.get(login=REPORTER)
    slot, number = revision.decision.slot, revision.decision.number
    decided = decided_by(activation)
    # A report of the second in which it came into force would be from before that.
    collected_at = max(database_now(), activation.activated_at + timedelta(seconds=1)).replace(microsecond=0)
    nodes = sorted({str(place["node"]) for place in decided.ranks})
    reports = [host_report(decided, node, collected_at) for node in nodes]
    identity_reports_take(actor=reporter, workspace=workspace, slot=slot, documents=reports, trace=TRACE)
    found = qualified_of(revision, activation.trial)
    for hour in _hours(activation, database_now().replace(microsecond=0)):
        observations_take(actor=reporter, workspace=workspace, raw=batch_file(found, hour), trace=TRACE)
    if not Diagnosis.objects.filter(decision=revision.decision).exists():
        data = trace_file(found.places)
        asked = Asked(files=[Given("trace.csv", len(data), lambda: [data])], note=NOTE)
        diagnosis_make(actor=reporter, workspace=workspace, number=number, asked=asked, trace=TRACE)


def _hours(activation: Activation, now: datetime) -> Iterator[HourOfDemo]:
    """Yield the whole hours of the last day that were not reported yet; the last one ends within this hour."""
    source = ObservationSource.objects.filter(
        feed__revision=activation.revision, feed__trial=activation.trial, name=SOURCE
    ).first()
    ends_at = max(now - HOURS * HOUR, source.ended_at) if source else now - HOURS * HOUR
    while (ends_at := ends_at + HOUR) <= now:
        leaked = LEAK_HOURS - (activation.activated_at - ends_at) // HOUR
        yield HourOfDemo(
            slot=activation.revision.decision.slot,
            subject=activation.subject,
            ends_at=ends_at,
            leaked_h=min(max(leaked, 0), LEAK_HOURS),
        )
