"""Every method of the API that may change something: what one request writes in the log, and that none is left out.

The methods come from the views behind the API's own addresses. Each row is carried out for real, and taken back before
the next.
"""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.utils import timezone

from planner.times import time_text
from reviews.api.urls import urlpatterns
from reviews.models import AuditEntry, Draft, SignOff
from reviews.services.delegations import delegation_make
from tests.api.test_acts import HERE, SIGNED, SPACE, WHY, browser, change, post, waiver
from tests.reviews.drafts import ANSWERS, added, answered, begun, tool_file
from tests.reviews.factories import Cast, documents, evidence_tree, open_all, planned, sign
from tests.reviews.late_ranks import TRACE as RANKS
from tests.reviews.observing import a_tree
from tests.reviews.rules.board import TRACE, board
from tests.reviews.rules.test_rule_14_threads import about, publish
from tests.web.contract_drafts import CONFIG

pytestmark = pytest.mark.django_db

Row = tuple[Callable[[Cast], Any], tuple[str, ...]]
UNSAFE = {"post", "put", "patch", "delete"}
CONTRACT: dict[str, Any] = json.loads(documents().contract)
OTHER: dict[str, Any] = evidence_tree(CONTRACT, tokens=170000)
LIVE = {"slot": "own/one-device", "identity": {"model": {"name": "own/dense-8b"}}}


@pytest.fixture
def people(db: None) -> Cast:
    """A board with one decision in review."""
    people = board()
    planned(people)
    return people


def activated(people: Cast) -> Any:
    revision = people.workspace.decisions.get(number=1).revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    sent = {"statement": "Rolled out.", "rollback": "none"}
    return lambda: post("dave", f"{HERE}/activation", sent, match=revision.planned.subject)


def signed_with(then: Callable[[SignOff], tuple[str, dict[str, str]]] | None) -> Callable[[Cast], Any]:
    """Sign as bob, or do then what follows for his sign-off."""

    def prepare(people: Cast) -> Any:
        revision = people.workspace.decisions.get(number=1).revisions.get()
        if then is not None:
            path, sent = then(sign(people, revision, meaning="approve_with_conditions", conditions=("Rerun.",)))
            return lambda: post("bob", f"{SPACE}/{path}", sent)
        open_all(revision, people.bob, "serving")
        return lambda: post("bob", f"{HERE}/signoffs", SIGNED, match=revision.planned.subject)

    return prepare


def ended(act: str, meaning: str, who: str) -> Callable[[Cast], Any]:
    """End the review of a decision whose only trial fails."""

    def prepare(people: Cast) -> Any:
        revision = planned(people, pair=documents(floor=600))
        sign(people, revision, meaning=meaning)
        sign(people, revision, people.carol, team="networking", meaning=meaning)
        return lambda: post(who, f"{SPACE}/decisions/{revision.decision.number}/{act}", WHY)

    return prepare


def waived(people: Cast) -> Any:
    number = planned(people, pair=documents(floor=600)).decision.number
    return lambda: post("bob", f"{SPACE}/decisions/{number}/proposals", waiver())


def proposed(act: str, who: str) -> Callable[[Cast], Any]:
    def prepare(people: Cast) -> Any:
        made = post("ada", f"{SPACE}/proposals", change()).json()["id"]
        return lambda: post(who, f"{SPACE}/proposals/{made}/{act}", None if act == "confirmation" else WHY)

    return prepare


def lent(people: Cast) -> Any:
    now = timezone.now()
    made = delegation_make(
        actor=people.bob,
        workspace=people.workspace,
        team="serving",
        taker="erin",
        starts_at=now,
        ends_at=now + timedelta(days=2),
        reason="Away.",
        trace=TRACE,
    )
    return lambda: post("bob", f"{SPACE}/delegations/{made.pk}/end")


def lending(people: Cast) -> Any:
    now = timezone.now()
    times = {"starts_at": time_text(now), "ends_at": time_text(now + timedelta(days=7))}
    return lambda: post("bob", f"{SPACE}/delegations", WHY | times | {"team": "serving", "taker": "erin"})


def observing(people: Cast) -> Any:
    activated(people)()
    return lambda: post("bob", f"{SPACE}/observations", {"observations": a_tree(slot="own/one-device")})


def retracted(people: Cast) -> Any:
    faulty = people.workspace.decisions.get(number=1).revisions.get().evidence.content_id
    return lambda: post("bob", f"{SPACE}/retractions", {"content_id": faulty, "reason": "The clock was wrong."})


def resolved(people: Cast) -> Any:
    publish(people, about())
    return lambda: post("bob", f"{HERE}/threads/1/resolution", {"reason": "Rerun."})


def draft(people: Cast, *, is_answered: bool = False) -> Draft:
    made = begun(people)
    added(people, made, tool_file(tensor_parallel_size=1))
    return answered(people, made) if is_answered else Draft.objects.get(pk=made.pk)


def drafted(path: str, parts: dict[str, Any] | None = None, *, is_answered: bool = False) -> Callable[[Cast], Any]:
    def prepare(people: Cast) -> Any:
        made = draft(people, is_answered=is_answered)
        return lambda: post("alice", f"{SPACE}/evidence-drafts/{made.pk}{path}", parts)

    return prepare


def written_draft(path: str, parts: dict[str, Any] | None) -> Callable[[Cast], Any]:
    """A request about a contract that somebody writes; without parts it is deleted."""

    def prepare(people: Cast) -> Any:
        made = post("alice", f"{SPACE}/contract-drafts", {"document": CONTRACT}).json()["id"]
        address = f"{SPACE}/contract-drafts/{made}{path}"
        return lambda: browser("alice").delete(address) if parts is None else post("alice", address, parts)

    return prepare


def sent_files(people: Cast) -> Any:
    made = draft(people)
    files = {"files": [SimpleUploadedFile("notes.txt", b"a walk\n")]}
    return lambda: browser("alice").post(f"{SPACE}/evidence-drafts/{made.pk}/files", files)


def traced(people: Cast) -> Any:
    return lambda: browser("bob").post(f"{HERE}/diagnoses", {"files": [SimpleUploadedFile("trace.csv", RANKS)]})


def deleted(of_file: bool) -> Callable[[Cast], Any]:
    def prepare(people: Cast) -> Any:
        made = draft(people)
        file = f"/files/{made.files.get().sha256}" if of_file else ""
        return lambda: browser("alice").delete(f"{SPACE}/evidence-drafts/{made.pk}{file}")

    return prepare


def plain(who: str, path: str, parts: dict[str, Any] | None = None) -> Callable[[Cast], Any]:
    """A request that stands as it is."""
    return lambda people: lambda: post(who, path, parts)


SAID = {"comments": {"comments": [{"text": "Rerun?", "kind": "trial", "name": "t-1"}]}}
LAYERS = {"changes": {"changes": [{"do": "set", "at": "/identity/model/layers", "value": 33}]}}
ANSWER = {"changes": {"changes": [{"do": "answer", "at": at, "value": value} for at, value in ANSWERS.items()]}}
PAIR = {"contract": CONTRACT, "evidence": OTHER}
AGAIN = WHY | {"teams": "serving"}

ROWS: dict[tuple[str, str], Row] = {
    ("api-decisions", "post"): (plain("alice", f"{SPACE}/decisions", PAIR | {"title": "Next"}), ("revision.created",)),
    ("api-revisions", "post"): (plain("alice", f"{HERE}/revisions", {"evidence": OTHER}), ("revision.created",)),
    ("api-threads", "post"): (plain("bob", f"{HERE}/threads", SAID), ("comments.published",)),
    ("api-thread-resolution", "post"): (resolved, ("thread.resolved",)),
    ("api-decision-proposals", "post"): (waived, ("proposal.made",)),
    ("api-signoffs", "post"): (signed_with(None), ("signoff.given",)),
    ("api-signoff-withdrawal", "post"): (
        signed_with(lambda given: (f"signoffs/{given.pk}/withdrawal", WHY)),
        ("signoff.withdrawn",),
    ),
    ("api-point-settlement", "post"): (
        signed_with(lambda given: (f"points/{given.points.get().pk}/settlement", {"note": "Reran."})),
        ("point.settled",),
    ),
    ("api-activation", "post"): (activated, ("decision.activated",)),
    ("api-withdrawal", "post"): (ended("withdrawal", "approve", "alice"), ("decision.withdrawn",)),
    ("api-rejection", "post"): (ended("rejection", "reject", "dave"), ("decision.rejected",)),
    ("api-closing", "post"): (ended("closing", "approve", "dave"), ("decision.closed",)),
    ("api-re-reviews", "post"): (plain("alice", f"{HERE}/re-reviews", AGAIN), ("re_review.asked",)),
    ("api-reproductions", "post"): (plain("bob", f"{HERE}/revisions/1/reproductions"), ("revision.reproduced",)),
    ("api-proposals", "post"): (lambda people: lambda: post("ada", f"{SPACE}/proposals", change()), ("proposal.made",)),
    # Two facts: somebody agreed, and what was agreed on holds.
    ("api-proposal-confirmation", "post"): (
        proposed("confirmation", "abel"),
        ("proposal.countersigned", "policy.set"),
    ),
    ("api-proposal-decline", "post"): (proposed("decline", "abel"), ("proposal.declined",)),
    ("api-proposal-withdrawal", "post"): (proposed("withdrawal", "ada"), ("proposal.withdrawn",)),
    ("api-delegations", "post"): (lending, ("delegation.made",)),
    ("api-delegation-end", "post"): (lent, ("delegation.ended",)),
    ("api-retractions", "post"): (retracted, ("evidence.retracted",)),
    ("api-diagnoses", "post"): (traced, ("diagnosis.made",)),
    ("api-identity-reports", "post"): (plain("bob", f"{SPACE}/identity-reports", LIVE), ("identity.reported",)),
    ("api-observations", "post"): (observing, ("observations.began",)),
    ("api-evidence-drafts", "post"): (
        plain("alice", f"{SPACE}/evidence-drafts", {"contract": CONTRACT, "name": "May"}),
        ("draft.created",),
    ),
    ("api-evidence-draft", "delete"): (deleted(of_file=False), ("draft.deleted",)),
    ("api-evidence-draft-files", "post"): (sent_files, ("draft.files_added",)),
    ("api-evidence-draft-file", "delete"): (deleted(of_file=True), ("draft.file_removed",)),
    ("api-evidence-draft-changes", "post"): (drafted("/changes", ANSWER), ("draft.changed",)),
    ("api-evidence-draft-evidence", "post"): (drafted("/evidence", is_answered=True), ("draft.finished",)),
    ("api-contract-drafts", "post"): (
        plain("alice", f"{SPACE}/contract-drafts", {"document": CONTRACT}),
        ("draft.created",),
    ),
    ("api-contract-draft", "delete"): (written_draft("", None), ("draft.deleted",)),
    ("api-contract-draft-changes", "post"): (written_draft("/changes", LAYERS), ("draft.changed",)),
    ("api-contract-draft-files", "post"): (written_draft("/files", {"config": CONFIG}), ("draft.changed",)),
    ("api-exports", "post"): (plain("audrey", f"{SPACE}/exports"), ("export.requested",)),
    ("api-verifications", "post"): (plain("audrey", f"{SPACE}/verifications"), ("verification.requested",)),
    # They answer a question and change nothing.
    ("api-validate", "post"): (plain("alice", f"{SPACE}/validate", PAIR), ()),
    ("api-requalification", "post"): (
        plain("bob", f"{SPACE}/decisions/1/requalification", {"contract": CONTRACT}),
        (),
    ),
    ("api-check", "post"): (plain("bob", f"{SPACE}/check", LIVE), ()),
    # A cosignature that made an entry would have to be cosigned in its turn (test_log_proofs).
    ("api-log-witnesses", "post"): (plain("bob", "/api/v1/logs/none/checkpoints/1/witnesses"), ()),
}
"""Address and method -> a request of somebody who may, and the actions of the entries that it writes."""


def test_every_method_that_may_change_something_is_in_the_table_of_this_file() -> None:
    offered = {
        (str(pattern.name), method)
        for pattern in urlpatterns
        for method in UNSAFE
        if hasattr(getattr(pattern.callback, "cls", None), method) and pattern.name != "api-absent"
    }
    assert (offered - ROWS.keys(), ROWS.keys() - offered) == (set(), set())


def written(people: Cast, key: tuple[str, str]) -> tuple[str, ...]:
    """Carry out a row, take it back, and return the actions of the entries that its request wrote."""
    with transaction.atomic():
        ask = ROWS[key][0](people)
        before = AuditEntry.objects.latest("pk").pk
        answer = ask()
        found = tuple(AuditEntry.objects.filter(pk__gt=before).order_by("pk").values_list("action", flat=True))
        assert answer.status_code < 300 or not found or found[0].endswith("refused"), key
        transaction.set_rollback(True)
    return found


def test_every_request_writes_its_entry_and_no_other(people: Cast) -> None:
    assert {key: written(people, key) for key in ROWS} == {key: actions for key, (_, actions) in ROWS.items()}
