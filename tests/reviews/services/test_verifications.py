"""Verifications that people ask for: one at a time, under a lease, with the verifier's own headline and entries."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from planner.canonical import file_sha256
from planner.verifier.verify import verify as verify_bundle
from reviews import queue
from reviews.errors import NotFoundError
from reviews.log_keys import log_signer
from reviews.models import AuditEntry, JobState, Policy, Verification, Workspace
from reviews.models.verifications import BUNDLED, COMPARED
from reviews.services import verification_runs
from reviews.services.exports import write_bundle
from reviews.services.leases import Hold
from reviews.services.verification_runs import verification_run, verifications_sweep
from reviews.services.verifications import verification_request
from reviews.transparency.keys import new_key
from reviews.verification import Verification as Found
from reviews.verification import verify
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, last_entry, planned, sign

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def key(settings: Any) -> None:
    settings.LOG_SIGNING_KEY = new_key()


def asked(people: Cast) -> Verification:
    return verification_request(actor=people.audrey, workspace=people.workspace)


def made(people: Cast) -> Verification:
    row = asked(people)
    assert verification_run(row.pk) == JobState.DONE
    row.refresh_from_db()
    return row


def test_progress_tells_of_comparing_writing_and_verifying(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    sign(people, planned(people))
    told: list[float] = []
    monkeypatch.setattr(Hold, "tell", lambda hold, done: told.append(done))
    made(people)
    most = Verification.objects.get().entries_total
    assert told == sorted(told)
    assert any(COMPARED * most < done < (COMPARED + BUNDLED) * most for done in told), "the bundle is written"
    assert told.count(told[-1]) < len(told) / 2, "and most of what is told is told before the end"
    assert told[-1] >= (COMPARED + BUNDLED) * most - 1


def test_a_log_that_holds_has_the_headline_of_its_bundle(people: Cast) -> None:
    sign(people, planned(people))
    row = made(people)
    assert row.entries is not None
    entry = last_entry(people)
    assert (row.outcome, row.bad_seq, row.entries_done) == ("verified", None, row.entries_total)
    assert row.headline.startswith(f"VERIFIED: {row.entries + 1} entries of {people.workspace.log_origin}")
    assert (entry["action"], entry["actor"], entry["reason"]) == ("verification.finished", None, row.headline)
    assert (entry["payload"]["outcome"], entry["payload"]["head"]) == ("verified", row.head)
    assert (
        len(row.report["checked"]),
        "who is behind a token, whatever name stands there" in row.report["not_checked"],
    ) == (6, True)
    file = io.BytesIO()
    write_bundle(people.workspace, file)
    signer = log_signer(people.workspace)
    assert signer is not None
    code, headline, _, _ = verify_bundle(file, [str(signer.verifier)])
    assert (code, headline.partition(":")[0]) == (0, row.headline.partition(":")[0])


def test_a_broken_log_is_named_with_its_entry(people: Cast) -> None:
    planned(people)
    entry = AuditEntry.objects.get(action="revision.created")
    with lifted():
        data = bytes(entry.data).replace(b'"reason":null', b'"reason":"x"')
        AuditEntry.objects.filter(pk=entry.pk).update(data=data, sha256=file_sha256(data))
    row = made(people)
    assert (row.outcome, row.bad_seq, row.entries) == ("broken", entry.seq + 1, entry.seq + 1)
    assert row.headline.startswith(f"BROKEN at seq {entry.seq + 1}: the entry does not follow")
    assert last_entry(people)["payload"]["bad_seq"] == entry.seq + 1


def test_a_fact_beside_a_log_that_holds_is_broken_too(people: Cast) -> None:
    with lifted():
        Policy.objects.update(version=7)
    assert made(people).headline == "BROKEN at seq 1: no stored policy says what the entry recorded"


def test_without_a_key_it_is_incomplete(people: Cast, settings: Any) -> None:
    settings.LOG_SIGNING_KEY = ""
    row = made(people)
    assert (row.outcome, row.headline) == ("incomplete", "INCOMPLETE: this installation has no key that signs its logs")
    assert len(row.report["checked"]) == 3


def test_one_at_a_time_and_each_is_asked_for_by_an_entry(people: Cast) -> None:
    first = asked(people)
    again = verification_request(actor=people.bob, workspace=people.workspace)
    requests = AuditEntry.objects.filter(action="verification.requested")
    assert (again.pk, requests.count(), requests.get().actor_token) == (first.pk, 1, people.audrey.token)
    verification_run(first.pk)
    assert asked(people).pk != first.pk
    with pytest.raises(NotFoundError):
        verification_request(actor=people.charlie, workspace=people.workspace)


def test_who_holds_the_lease_finishes_it(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    row = asked(people)
    before = AuditEntry.objects.count()

    def overtaken(workspace: Workspace, progress: Any) -> Found:
        monkeypatch.setattr(verification_runs, "verify", verify)
        rows().update(lease_until=timezone.now() - timedelta(hours=1))
        assert verification_run(row.pk) == JobState.DONE
        return verify(workspace, progress)

    monkeypatch.setattr(verification_runs, "verify", overtaken)
    assert verification_run(row.pk) is None
    assert AuditEntry.objects.filter(seq__gte=before, action="verification.finished").count() == 1


def rows() -> QuerySet[Verification]:
    return Verification.objects.all()


def test_what_a_killed_worker_left_is_woken_and_made(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    row = asked(people)
    rows().update(
        state=JobState.RUNNING, attempts=1, lease_token="0" * 32, lease_until=timezone.now() - timedelta(seconds=1)
    )
    woken: list[tuple[int, str]] = []

    def wake(pk: int, task: str) -> bool:
        woken.append((pk, task))
        return True

    monkeypatch.setattr(queue, "wake", wake)
    assert (verifications_sweep(), woken) == ((), [(row.pk, queue.VERIFY_TASK)])
    assert verification_run(row.pk) == JobState.DONE


def test_what_the_broker_takes_no_message_of_is_given_back(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    row = asked(people)
    rows().update(woken_at=timezone.now() - timedelta(hours=1))
    monkeypatch.setattr(queue, "wake", lambda pk, task: False)
    assert verifications_sweep() == (row.pk,)


def test_an_error_gives_it_back_and_three_end_it(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    row = asked(people)

    def fails(*arguments: Any) -> None:
        raise OSError("no space")

    monkeypatch.setattr(verification_runs, "verify", fails)
    for _ in range(3):
        with pytest.raises(OSError, match="no space"):
            verification_run(row.pk)
        assert rows().get().state == JobState.QUEUED
    assert verification_run(row.pk) is None
    verifications_sweep()
    found = rows().get()
    assert (found.state, found.outcome) == (JobState.FAILED, "")
    assert found.error_detail.startswith("It ended 3 times without a result.")
