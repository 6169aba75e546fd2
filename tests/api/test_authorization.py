"""Who reaches what: every address of the API, every kind of caller, every status written down."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from reviews.api.urls import urlpatterns
from reviews.blobs import blob_keep
from reviews.models import Delegation, Export, Membership, Person, Proposal, Revision, Team
from reviews.services.jobs import job_run
from tests.api.asking import API, Caller, problem, token_of
from tests.api.callers import CALLERS, token
from tests.api.sent import SENT
from tests.reviews.factories import Cast, cast, documents, sign, submitted

pytestmark = pytest.mark.both_databases

UNKNOWN = (401, 401, 404, 404)
ENDED = (401, 401, 401, 404)
OPEN = (200,) * len(CALLERS)
READ = (*UNKNOWN, 200, 200, *ENDED)
NO_TOKEN = (*UNKNOWN, 403, 403, *ENDED)
"""Acts that bind a person, or that an author does not do; who does them with a login is in test_acts."""
UNSIGNED = (*UNKNOWN, 404, 404, *ENDED)
"""Members are told that no checkpoint was signed, that nothing was reported, or that there is no such thing."""
EXPECTED: dict[tuple[str, str], tuple[int, ...]] = {
    ("api-decisions", "GET"): READ,
    ("api-decisions", "POST"): (*UNKNOWN, 403, 201, *ENDED),
    ("api-decision", "GET"): READ,
    ("api-revisions", "GET"): READ,
    ("api-revisions", "POST"): (*UNKNOWN, 403, 201, *ENDED),
    ("api-revision", "GET"): READ,
    ("api-plan", "GET"): READ,
    ("api-contract", "GET"): READ,
    ("api-evidence", "GET"): READ,
    ("api-stress", "GET"): READ,
    ("api-benchmark", "GET"): READ,
    ("api-compare", "GET"): READ,
    ("api-what-if", "GET"): READ,
    ("api-requalification", "GET"): READ,
    ("api-requalification", "POST"): READ,
    ("api-launch", "GET"): (*UNKNOWN, 409, 409, *ENDED),
    ("api-launch-file", "GET"): (*UNKNOWN, 409, 409, *ENDED),
    ("api-threads", "GET"): READ,
    ("api-threads", "POST"): (*UNKNOWN, 403, 201, *ENDED),
    ("api-thread-resolution", "POST"): (*UNKNOWN, 403, 200, *ENDED),
    ("api-validate", "POST"): (*UNKNOWN, 403, 200, *ENDED),
    ("api-check", "POST"): READ,
    ("api-metrics", "GET"): READ,
    ("api-slot-validity", "GET"): READ,
    ("api-slots", "GET"): READ,
    ("api-slot", "GET"): READ,
    ("api-slot-ends", "GET"): READ,
    ("api-shared-evidence", "GET"): READ,
    ("api-decision-validity", "GET"): READ,
    ("api-decision-record", "GET"): READ,
    ("api-identity-reports", "GET"): READ,
    ("api-identity-reports", "POST"): (*UNKNOWN, 403, 200, *ENDED),
    ("api-decision-observations", "GET"): UNSIGNED,
    ("api-decision-findings", "GET"): READ,
    ("api-decision-batches", "GET"): READ,
    ("api-diagnoses", "GET"): READ,
    ("api-diagnoses", "POST"): (*UNKNOWN, 403, 201, *ENDED),
    ("api-observations", "POST"): (*UNKNOWN, 403, 422, *ENDED),
    ("api-audit", "GET"): READ,
    ("api-audit-entry", "GET"): READ,
    ("api-audit-entry-raw", "GET"): READ,
    ("api-audit-entry-proof", "GET"): UNSIGNED,
    ("api-exports", "GET"): READ,
    ("api-exports", "POST"): (*UNKNOWN, 202, 202, *ENDED),
    ("api-export", "GET"): READ,
    ("api-export-bundle", "GET"): (*UNKNOWN, 409, 409, *ENDED),
    ("api-checkpoints", "GET"): READ,
    ("api-checkpoint", "GET"): UNSIGNED,
    ("api-consistency", "GET"): UNSIGNED,
    ("api-verifications", "GET"): READ,
    ("api-verifications", "POST"): (*UNKNOWN, 202, 202, *ENDED),
    ("api-verification", "GET"): UNSIGNED,
    ("api-log-checkpoint", "GET"): (404,) * len(CALLERS),
    ("api-log-update", "GET"): (404,) * len(CALLERS),
    ("api-log-witnesses", "POST"): (415,) * len(CALLERS),
    ("api-policy", "GET"): READ,
    ("api-proposals", "GET"): READ,
    ("api-proposals", "POST"): NO_TOKEN,
    ("api-decision-proposals", "GET"): READ,
    ("api-decision-proposals", "POST"): NO_TOKEN,
    ("api-proposal", "GET"): READ,
    ("api-proposal-confirmation", "POST"): NO_TOKEN,
    ("api-proposal-decline", "POST"): NO_TOKEN,
    ("api-proposal-withdrawal", "POST"): NO_TOKEN,
    ("api-delegations", "GET"): READ,
    ("api-delegations", "POST"): NO_TOKEN,
    ("api-delegation-end", "POST"): NO_TOKEN,
    ("api-retractions", "POST"): NO_TOKEN,
    ("api-signoffs", "POST"): NO_TOKEN,
    ("api-signoff-withdrawal", "POST"): NO_TOKEN,
    ("api-point-settlement", "POST"): NO_TOKEN,
    ("api-activation", "POST"): NO_TOKEN,
    ("api-rejection", "POST"): NO_TOKEN,
    ("api-closing", "POST"): NO_TOKEN,
    ("api-reproductions", "POST"): NO_TOKEN,
    ("api-re-reviews", "POST"): (*UNKNOWN, 403, 200, *ENDED),
    ("api-withdrawal", "POST"): (*UNKNOWN, 403, 200, *ENDED),
    ("api-schema", "GET"): OPEN,
    ("api-openapi", "GET"): OPEN,
    ("api-docs", "GET"): OPEN,
    ("api-absent", "GET"): (404,) * len(CALLERS),
}
PATHS = {
    "api-decisions": "workspaces/lab/decisions",
    "api-decision": "workspaces/lab/decisions/1",
    "api-revisions": "workspaces/lab/decisions/1/revisions",
    "api-revision": "workspaces/lab/decisions/1/revisions/1",
    "api-plan": "workspaces/lab/decisions/1/revisions/1/plan",
    "api-contract": "workspaces/lab/decisions/1/revisions/1/contract",
    "api-evidence": "workspaces/lab/decisions/1/revisions/1/evidence",
    "api-stress": "workspaces/lab/decisions/1/revisions/1/stress",
    "api-benchmark": "workspaces/lab/decisions/1/revisions/1/benchmark",
    "api-compare": "workspaces/lab/decisions/1/revisions/1/compare",
    "api-what-if": "workspaces/lab/decisions/1/revisions/1/what-if"
    "?set=/gates/throughput/floor/min_output_tokens_per_s=1",
    "api-requalification": "workspaces/lab/decisions/1/requalification",
    "api-launch": "workspaces/lab/decisions/1/launch",
    "api-launch-file": "workspaces/lab/decisions/1/launch/files/launch.sh",
    "api-threads": "workspaces/lab/decisions/1/threads",
    "api-thread-resolution": "workspaces/lab/decisions/1/threads/1/resolution",
    "api-validate": "workspaces/lab/validate",
    "api-check": "workspaces/lab/check",
    "api-metrics": "workspaces/lab/metrics",
    "api-slots": "workspaces/lab/slots",
    "api-slot": "workspaces/lab/slots/one?slot=own/one-device",
    "api-slot-ends": "workspaces/lab/slots/ends",
    "api-shared-evidence": "workspaces/lab/slots/shared-evidence",
    "api-slot-validity": "workspaces/lab/validity?slot=own/one-device",
    "api-decision-record": "workspaces/lab/decisions/1/record",
    "api-decision-validity": "workspaces/lab/decisions/1/validity",
    "api-identity-reports": "workspaces/lab/identity-reports?slot=own/one-device",
    "api-decision-observations": "workspaces/lab/decisions/1/observations",
    "api-decision-findings": "workspaces/lab/decisions/1/findings",
    "api-decision-batches": "workspaces/lab/decisions/1/observations/batches",
    "api-diagnoses": "workspaces/lab/decisions/1/diagnoses",
    "api-observations": "workspaces/lab/observations",
    "api-audit": "workspaces/lab/audit",
    "api-audit-entry": "workspaces/lab/audit/1",
    "api-audit-entry-raw": "workspaces/lab/audit/1/raw",
    "api-audit-entry-proof": "workspaces/lab/audit/1/proof",
    "api-exports": "workspaces/lab/exports",
    "api-export": "workspaces/lab/exports/{export}",
    "api-export-bundle": "workspaces/lab/exports/{export}/bundle",
    "api-checkpoints": "workspaces/lab/checkpoints",
    "api-checkpoint": "workspaces/lab/checkpoints/1",
    "api-consistency": "workspaces/lab/consistency",
    "api-verifications": "workspaces/lab/verifications",
    "api-verification": "workspaces/lab/verifications/9999",
    "api-log-checkpoint": "logs/topogate/none/checkpoint",
    "api-log-update": "logs/topogate/none/update",
    "api-log-witnesses": "logs/topogate/none/checkpoints/1/witnesses",
    "api-policy": "workspaces/lab/policy",
    "api-proposals": "workspaces/lab/proposals",
    "api-decision-proposals": "workspaces/lab/decisions/2/proposals",
    "api-proposal": "workspaces/lab/proposals/{proposal}",
    "api-proposal-confirmation": "workspaces/lab/proposals/{proposal}/confirmation",
    "api-proposal-decline": "workspaces/lab/proposals/{proposal}/decline",
    "api-proposal-withdrawal": "workspaces/lab/proposals/{proposal}/withdrawal",
    "api-delegations": "workspaces/lab/delegations",
    "api-delegation-end": "workspaces/lab/delegations/{delegation}/end",
    "api-retractions": "workspaces/lab/retractions",
    "api-signoffs": "workspaces/lab/decisions/2/signoffs",
    "api-signoff-withdrawal": "workspaces/lab/signoffs/{signoff}/withdrawal",
    "api-point-settlement": "workspaces/lab/points/{point}/settlement",
    "api-activation": "workspaces/lab/decisions/2/activation",
    "api-rejection": "workspaces/lab/decisions/2/rejection",
    "api-closing": "workspaces/lab/decisions/2/closing",
    "api-reproductions": "workspaces/lab/decisions/2/revisions/1/reproductions",
    "api-re-reviews": "workspaces/lab/decisions/2/re-reviews",
    "api-withdrawal": "workspaces/lab/decisions/2/withdrawal",
    "api-schema": "schemas/contract",
    "api-openapi": "openapi.json",
    "api-docs": "docs",
    "api-absent": "workspaces",
}


def stated(people: Cast) -> dict[str, int]:
    """Plan two decisions, and let bob propose something and lend his seat; return the ids of what has no number."""
    for slot in ("own/one-device", "own/second"):
        job_run(submitted(people, pair=documents(slot=slot)).job_id)
    now = timezone.now()
    said = {"workspace": people.workspace, "reason": "Needed."}
    proposal = Proposal.objects.create(
        kind="policy", body_id=blob_keep(b'{"base":"","policy":{}}').sha256, person=people.bob, proposed_at=now, **said
    )
    delegation = Delegation.objects.create(
        team=Team.objects.get(slug="serving"),
        giver=people.bob,
        taker=people.carol,
        starts_at=now,
        ends_at=now + timedelta(days=1),
        made_at=now,
        **said,
    )
    export = Export.objects.create(workspace=people.workspace, person=people.bob, asked_at=now, woken_at=now)
    revision = Revision.objects.get(decision__number=2)
    signoff = sign(people, revision, meaning="approve_with_conditions", conditions=("Rerun.",))
    named = {"signoff": signoff.pk, "point": signoff.points.get().pk}
    return {"proposal": proposal.pk, "delegation": delegation.pk, "export": export.pk, **named}


@pytest.mark.parametrize("kind", CALLERS)
def test_every_address_answers_every_caller_as_written_down(kind: str, people: Cast) -> None:
    ids = stated(people)
    who = Caller(token(people, kind), "lab")
    addresses = {name: f"{API}/{path.format(**ids)}" for name, path in PATHS.items()}
    answers = {
        (name, method): who.get(addresses[name]) if method == "GET" else who.post(addresses[name], SENT[name])
        for name, method in EXPECTED
    }
    column = CALLERS.index(kind)
    assert {key: answer.status_code for key, answer in answers.items()} == {
        key: statuses[column] for key, statuses in EXPECTED.items()
    }
    for answer in answers.values():
        if answer.status_code >= 400:
            problem(answer)
        assert answer.headers.get("WWW-Authenticate") == (
            'Bearer realm="topogate"' if answer.status_code == 401 else None
        )


DIGEST = "sha256:" + "00" * 32
OF_ONE_PERSON = {
    "api-contract-drafts": ("GET", "contract-drafts"),
    "api-contract-draft": ("GET", "contract-drafts/1"),
    "api-contract-draft-changes": ("POST", "contract-drafts/1/changes"),
    "api-contract-draft-files": ("POST", "contract-drafts/1/files"),
    "api-contract-draft-document": ("GET", "contract-drafts/1/document"),
    "api-evidence-drafts": ("GET", "evidence-drafts"),
    "api-evidence-draft": ("GET", "evidence-drafts/1"),
    "api-evidence-draft-files": ("POST", "evidence-drafts/1/files"),
    "api-evidence-draft-file": ("DELETE", f"evidence-drafts/1/files/{DIGEST}"),
    "api-evidence-draft-changes": ("POST", "evidence-drafts/1/changes"),
    "api-evidence-draft-evidence": ("POST", "evidence-drafts/1/evidence"),
    "api-evidence-document": ("GET", f"evidence/{DIGEST}"),
    "api-attachment": ("GET", f"attachments/{DIGEST}"),
    "api-decision-batch": ("GET", f"decisions/1/observations/batches/{DIGEST}"),
    "api-diagnosis": ("GET", "decisions/1/diagnoses/1"),
    "api-diagnosis-file": ("GET", "decisions/1/diagnoses/1/files/1"),
}
"""Addresses of what somebody makes first; what its owner and other members get is in test_drafts."""


def test_no_address_is_missing_from_the_table() -> None:
    known = {name for name, _ in EXPECTED}
    assert known == set(PATHS)
    assert {pattern.name for pattern in urlpatterns} == known | OF_ONE_PERSON.keys()


@pytest.mark.parametrize("name", OF_ONE_PERSON)
def test_what_one_person_makes_is_open_to_no_stranger(name: str, people: Cast) -> None:
    method, path = OF_ONE_PERSON[name]
    found = []
    for kind in ("nobody", "unknown token", "member elsewhere"):
        secret = token(people, kind)
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        found.append(Client().generic(method, f"{API}/workspaces/lab/{path}", headers=headers).status_code)
    assert found == [401, 401, 404]


@pytest.mark.parametrize("name", sorted(PATHS))
def test_an_address_offers_only_the_methods_of_the_table(name: str, people: Cast) -> None:
    offered = {method for other, method in EXPECTED if other == name}
    offered |= {"HEAD"} if "GET" in offered else set()
    secret = token_of(people, people.alice, "submit")
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - offered:
        path = PATHS[name].format(proposal=1, delegation=1, export=1, signoff=1, point=1)
        answer = Client().generic(method, f"{API}/{path}", headers={"Authorization": f"Bearer {secret}"})
        assert (method, answer.status_code) == (method, 404 if name == "api-absent" else 405)


def test_a_workspace_that_is_none_reads_like_one_of_others(people: Cast) -> None:
    other = cast(slug="elsewhere")
    who = Caller(token_of(people, people.alice, "read"), "lab")
    texts = [problem(who.get(f"{API}/workspaces/{slug}/decisions")) for slug in (other.workspace.slug, "nowhere")]
    assert [text["detail"].replace("elsewhere", "nowhere") for text in texts] == [texts[1]["detail"]] * 2


@pytest.mark.parametrize(
    ("person", "standing"),
    [("bob", "You are a team member of serving (role member)."), ("audrey", "Your role is auditor.")],
)
def test_a_token_never_does_more_than_its_person(person: str, standing: str, people: Cast) -> None:
    """Somebody who was an author when the token was made, and is none any more."""
    somebody: Person = getattr(people, person)
    role = Membership.objects.get(person=somebody).role
    Membership.objects.filter(person=somebody).update(role="author")
    who = Caller(token_of(people, somebody, "submit"), "lab")
    Membership.objects.filter(person=somebody).update(role=role)
    assert problem(who.submit())["detail"] == f"{standing} Submitting needs the role author."
