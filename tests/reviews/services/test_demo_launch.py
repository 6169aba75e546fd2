"""The example that the demo puts into force: signed, reported, observed; once, also after a start that was killed."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from reviews.clock import database_now
from reviews.models import (
    AuditEntry,
    Decision,
    Diagnosis,
    ObservationBatch,
    ObservationFinding,
    Person,
    Revision,
    SignOff,
    TeamSeat,
    Workspace,
)
from reviews.selectors.live_identity import live_slot
from reviews.services import demo_launch as module
from reviews.services.demo import WORKSPACE, demo_logins, demo_submit
from reviews.services.demo_launch import EXAMPLE, HOURS, REPORTER, demo_launch
from reviews.services.identity_reports import identity_report
from reviews.services.withdrawals import signoff_withdraw
from reviews.verification import verify
from tests.reviews.factories import PROVEN
from tests.shared import ROOT

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


class Killed(BaseException):
    """The process ends here."""


def killed(monkeypatch: pytest.MonkeyPatch, submitted: Revision, act: str, calls: int) -> None:
    """Let a start end where it calls an act of the services once more than so often."""
    real, left = getattr(module, act), iter(range(calls))

    def killed_after_some(*args: Any, **values: Any) -> Any:
        if next(left, None) is None:
            raise Killed
        return real(*args, **values)

    with monkeypatch.context() as patched:
        patched.setattr(module, act, killed_after_some)
        with pytest.raises(Killed):
            demo_launch(submitted)


@pytest.fixture
def submitted(db: None) -> Revision:
    """The examples, submitted; the worker has planned none."""
    demo_logins()
    return demo_submit(ROOT / "examples").revisions[EXAMPLE]


def actions() -> list[str]:
    """The log from the sign-offs on."""
    found = list(AuditEntry.objects.order_by("seq").values_list("action", flat=True))
    return found[found.index("revision.planned") + 1 :]


WHOLE = [
    "signoff.given",
    "signoff.given",
    "decision.activated",
    "identity.reported",
    "observations.began",
    "observations.breached",
    "diagnosis.made",
]


def state(revision: Revision) -> str:
    return Decision.objects.get(pk=revision.decision_id).state


def test_the_example_is_signed_and_in_force_and_every_act_is_in_the_log(submitted: Revision) -> None:
    assert demo_launch(submitted) == ""
    assert state(submitted) == "EFFECTIVE"
    signed = SignOff.objects.order_by("pk").values_list("team__slug", "person__login", "meaning")
    assert list(signed) == [
        ("serving", "reviewer-serving", "approve"),
        ("networking", "reviewer-networking", "approve"),
    ]
    assert actions() == WHOLE
    assert verify(Workspace.objects.get(slug=WORKSPACE)).holds


def test_the_others_stay_in_review(submitted: Revision) -> None:
    demo_launch(submitted)
    others = Decision.objects.exclude(pk=submitted.decision_id)
    assert (others.count(), {row.state for row in others}) == (6, {"EVALUATING"})


def test_both_hosts_report_what_was_decided(submitted: Revision) -> None:
    demo_launch(submitted)
    found = live_slot(Workspace.objects.get(slug=WORKSPACE), submitted.decision.slot, timezone.now())
    assert ([row.place for row in found.hosts], found.matches) == (["node-a", "node-b"], True)


def test_one_rank_is_above_its_limit_and_nothing_else_is_out(submitted: Revision) -> None:
    demo_launch(submitted)
    found = ObservationFinding.objects.values_list("metric", "statistic", "rank", "state")
    assert list(found) == [("device_used_bytes", "max", 5, "BREACH")]
    assert ObservationBatch.objects.count() == HOURS


def test_the_diagnosis_names_the_rank_that_fills_up(submitted: Revision) -> None:
    demo_launch(submitted)
    assert Diagnosis.objects.values_list("pattern", "points_at").get() == ("one_rank", "rank 5, node-b b1")


def test_a_second_start_does_nothing_again(submitted: Revision) -> None:
    demo_launch(submitted)
    demo_launch(submitted)
    assert actions() == WHOLE
    assert (ObservationBatch.objects.count(), Diagnosis.objects.count()) == (HOURS, 1)


def test_a_later_start_reports_the_hours_since(submitted: Revision, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(module, "database_now", lambda: database_now() - timedelta(hours=3))
        demo_launch(submitted)
    assert (ObservationBatch.objects.count(), ObservationFinding.objects.count()) == (HOURS, 0)
    demo_launch(submitted)
    assert (ObservationBatch.objects.count(), ObservationFinding.objects.count()) == (HOURS + 3, 1)


@pytest.mark.parametrize(
    ("act", "calls"),
    [
        pytest.param("job_run", 0, id="before it is planned"),
        pytest.param("item_open", 5, id="while items are opened"),
        pytest.param("signoff_give", 1, id="between the sign-offs"),
        pytest.param("decision_activate", 0, id="before it is in force"),
        pytest.param("identity_reports_take", 0, id="before hosts report"),
        pytest.param("observations_take", 7, id="while batches are sent"),
        pytest.param("diagnosis_make", 0, id="before the diagnosis"),
    ],
)
def test_a_start_that_was_killed_is_put_right_by_the_next(
    submitted: Revision, monkeypatch: pytest.MonkeyPatch, act: str, calls: int
) -> None:
    killed(monkeypatch, submitted, act, calls)
    assert demo_launch(submitted) == ""
    assert (state(submitted), actions()) == ("EFFECTIVE", WHOLE)
    assert (ObservationBatch.objects.count(), Diagnosis.objects.count()) == (HOURS, 1)


def test_what_somebody_took_back_is_left_alone(submitted: Revision, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(monkeypatch, submitted, "decision_activate", 0)
    signoff_withdraw(
        actor=Person.objects.get(login="reviewer-serving"),
        workspace=submitted.decision.workspace,
        signoff_id=SignOff.objects.get(team__slug="serving").pk,
        reason="I want to read it first.",
        authentication=PROVEN,
    )
    before = actions()
    assert demo_launch(submitted) == ""
    assert (state(submitted), actions()) == ("IN_REVIEW", before)


def test_what_somebody_reported_otherwise_is_left_alone(submitted: Revision) -> None:
    demo_launch(submitted)
    identity_report(
        actor=Person.objects.get(login=REPORTER),
        workspace=submitted.decision.workspace,
        slot=submitted.decision.slot,
        live={"model": {"name": "own/other"}},
    )
    before = actions()
    assert demo_launch(submitted) == ""
    assert (state(submitted), actions()) == ("STALE", before)


def test_a_refusal_is_returned_and_ends_no_start(submitted: Revision) -> None:
    TeamSeat.objects.filter(team__slug="networking").delete()
    assert "networking" in demo_launch(submitted)
    assert state(submitted) == "IN_REVIEW"
