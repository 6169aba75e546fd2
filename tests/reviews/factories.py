"""Documents, people and decisions for tests: functions with defaults.

The cast: alice is the author, bob signs for serving, carol for networking, dave for serving as well, audrey is the
auditor, charlie belongs to nothing.
"""

import copy
import json
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from planner.canonical import content_id
from reviews.errors import printable
from reviews.facts import Authentication
from reviews.models import AuditEntry, Decision, ItemOpening, Person, Revision, Role, SignOff, Workspace
from reviews.policies.signoff_status import APPROVING
from reviews.selectors.decision_page import decision_page
from reviews.selectors.openings import openings_of
from reviews.services.jobs import job_run
from reviews.services.people import member_add, seat_give, workspace_create
from reviews.services.signoffs import signoff_give
from reviews.services.submissions import submission_create
from tests.shared import ROOT

AS_OF = "2026-09-21T12:00:00Z"

POLICY: dict[str, Any] = {
    "schema": "topogate.policy/v1",
    "teams": {
        "networking": {"title": "Networking", "quorum": 1},
        "serving": {"title": "Serving", "quorum": 1},
    },
    "identity_owners": {"/hardware": "networking"},
    "gate_owners": {"fabric": "networking", "failure": "networking"},
    "fallback_owner": "serving",
}

IDENTITY: dict[str, Any] = {
    "model": {
        "name": "own/dense-8b",
        "revision": "r1",
        "architecture": "dense",
        "layers": 32,
        "attention_heads": 32,
        "kv_heads": 8,
    },
    "precision": {"weights": "bf16", "activations": "bf16", "kv_cache": "bf16"},
    "workload": {"name": "chat", "load_points": {"saturated": {"arrival": "closed", "concurrent_requests": 16}}},
    "stack": {"engine": {"name": "closed-engine", "version": "1.0.0"}},
    "hardware": {
        "nodes": {"node-a": {}},
        "devices": {"a0": {"node": "node-a", "type": "accel-80g", "memory_bytes": 85899345920}},
    },
}


def contract_tree(*, slot: str = "own/one-device", floor: int = 500) -> dict[str, Any]:
    """A contract with one device and one limit, output tokens/s."""
    return {
        "schema": "topogate.contract/v1",
        "slot": slot,
        "owner": "serving",
        "identity": copy.deepcopy(IDENTITY),
        "gates": {
            "throughput": {
                "floor": {
                    "load_point": "saturated",
                    "min_output_tokens_per_s": floor,
                    "because": "Demand of the pilot.",
                }
            }
        },
        "selection": {"preset": "highest_throughput"},
    }


def evidence_tree(contract: dict[str, Any], *, tokens: int = 163840) -> dict[str, Any]:
    """Evidence of one trial with one counted window of 300 s and so many output tokens."""
    return {
        "schema": "topogate.evidence/v1",
        "contract_content_id": content_id(contract),
        "scope": contract["slot"],
        "provenance": {
            "collected_by": "pilot",
            "collected_at": "2026-09-20T10:00:00Z",
            "tool": {"name": "own-bench", "version": "1"},
        },
        "identities": {"run-1": copy.deepcopy(contract["identity"])},
        "trials": {
            "t-1": {
                "topology": {
                    "layout": "closed",
                    "instances": [{"tp": 1, "pp": 1, "ep": 1, "dp": 1, "world_size": 1}],
                },
                "rank_map": [{"rank": 0, "node": "node-a", "device": "a0"}],
                "identity_id": "run-1",
                "windows": {
                    "w1": {
                        "purpose": "counted",
                        "load_point": "saturated",
                        "start": "2026-09-20T09:40:00Z",
                        "end": "2026-09-20T09:45:00Z",
                        "load": {
                            "duration_s": 300,
                            "requests": {"completed": 640},
                            "output_tokens_total": tokens,
                        },
                    }
                },
            }
        },
    }


@dataclass(frozen=True)
class Pair:
    """Two documents as bytes."""

    contract: bytes
    evidence: bytes


def documents(*, slot: str = "own/one-device", floor: int = 500, tokens: int = 163840) -> Pair:
    """A contract and evidence that belong together."""
    contract = contract_tree(slot=slot, floor=floor)
    return Pair(json.dumps(contract).encode(), json.dumps(evidence_tree(contract, tokens=tokens)).encode())


def example_pair(name: str = "worked") -> Pair:
    """The documents of a shipped example, as they would be uploaded."""
    folder = ROOT / "examples" / name
    return Pair((folder / "contract.json").read_bytes(), (folder / "evidence.json").read_bytes())


@dataclass(frozen=True)
class Cast:
    """A workspace and the people of the tests."""

    workspace: Workspace
    alice: Person
    bob: Person
    carol: Person
    dave: Person
    audrey: Person
    charlie: Person


def cast(*, slug: str = "lab", policy: dict[str, Any] | None = None) -> Cast:
    """Create a workspace and everybody in it; charlie stays outside."""
    workspace = workspace_create(slug=slug, title="Lab", policy=policy or POLICY)
    people = {
        name: Person.objects.create_user(f"{name}-{slug}", display_name=name.title())
        for name in ("alice", "bob", "carol", "dave", "audrey", "charlie")
    }
    for name, role, team in (
        ("alice", Role.AUTHOR, None),
        ("bob", Role.MEMBER, "serving"),
        ("carol", Role.MEMBER, "networking"),
        ("dave", Role.MEMBER, "serving"),
        ("audrey", Role.AUDITOR, None),
    ):
        membership = member_add(workspace=workspace, person=people[name], role=role)
        if team:
            seat_give(membership=membership, team=team)
    return Cast(workspace=workspace, **people)


def submitted(
    people: Cast,
    *,
    pair: Pair | None = None,
    decision: Decision | None = None,
    as_of: str = AS_OF,
    key: str | None = None,
    actor: Person | None = None,
) -> Revision:
    """Submit as alice; nothing is planned yet."""
    pair = pair or documents()
    return submission_create(
        actor=actor or people.alice,
        workspace=people.workspace,
        contract=pair.contract,
        evidence=pair.evidence,
        title="One device",
        as_of=as_of,
        idempotency_key=key,
        decision=decision,
    )


def planned(people: Cast, **choices: Any) -> Revision:
    """Submit and plan; returns the revision read anew."""
    revision = submitted(people, **choices)
    job_run(revision.job_id)
    return Revision.objects.select_related("decision", "planned__plan", "job").get(pk=revision.pk)


PROVEN = Authentication("password", 20)
"""What a session knows of somebody who has just confirmed who they are."""


def open_all(revision: Revision, actor: Person, team: str, *, leave: int = 0) -> None:
    """Open everything that the actor has to open before approving for the team, but for the first ``leave``."""
    found = openings_of(revision, person_id=actor.pk, team=printable(team), now=timezone.now())
    openings = [
        ItemOpening(revision=revision, person=actor, item=item.id, opened_at=timezone.now())
        for item in found.missing[leave:]
    ]
    ItemOpening.objects.bulk_create(openings, ignore_conflicts=True)  # in races several open the same


def sign(people: Cast, revision: Revision, actor: Person | None = None, **changes: Any) -> SignOff:
    """Sign a planned revision: bob for serving, with everything opened, unless said otherwise."""
    request: dict[str, Any] = {
        "actor": actor or people.bob,
        "decision_number": revision.decision.number,
        "workspace": people.workspace,
        "team": "serving",
        "meaning": "approve",
        "statement": "The margins hold.",
        "seen_subject": revision.planned.subject,
        "rollback": "none",
        "request_id": "req-1",
        "authentication": PROVEN,
    } | changes
    if request["meaning"] in APPROVING and changes.get("is_opened", True):
        open_all(revision, request["actor"], request["team"])
    request.pop("is_opened", None)
    return signoff_give(**request)


def last_entry(people: Cast) -> dict[str, Any]:
    """The newest entry of the log as JSON, with its payload decoded."""
    entry = AuditEntry.objects.filter(workspace=people.workspace).order_by("-seq")[0]
    payload = {} if entry.payload is None else json.loads(bytes(entry.payload.data))
    return {**json.loads(bytes(entry.data)), "payload": payload}


def statuses(people: Cast) -> list[tuple[str, str, tuple[str, ...]]]:
    """Status, reason and keys of every sign-off of the first decision, newest first."""
    page = decision_page(actor=people.alice, workspace=people.workspace, number=1)
    return [(row.status, row.judged.reason, row.judged.keys) for row in page.signoffs]
