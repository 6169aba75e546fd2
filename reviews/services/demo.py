"""The demo workspace of the embedded default: a small policy, people named by role, the shipped examples.

Kept rules: everything goes through the same services as real work; a second start adds nothing; passwords are random,
made anew at every start and stored hashed only. It refuses a database that holds other people's work.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.canonical import file_sha256
from reviews.errors import ConflictError, DocumentsRefusedError
from reviews.models import Person, Revision, Role, Team, Workspace
from reviews.services.people import member_add, policy_set, seat_give, workspace_create
from reviews.services.submissions import submission_create

WORKSPACE = "demo"
POLICY: dict[str, Any] = {
    "schema": "topogate.policy/v1",
    "teams": {
        "capacity": {"title": "Capacity", "quorum": 0},
        "incident-response": {"title": "Incident response", "quorum": 0},
        "networking": {"title": "Networking", "quorum": 1},
        "serving": {"title": "Serving", "quorum": 1},
    },
    "identity_owners": {"/hardware": "networking", "/stack/collective_library": "networking"},
    "gate_owners": {"fabric": "networking", "failure": "networking"},
    "fallback_owner": "serving",
}


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """Somebody of the demo; the login is the role."""

    login: str
    name: str
    role: Role
    team: str | None
    does: str


PEOPLE = (
    DemoPerson("author", "Author", Role.AUTHOR, None, "submits contracts and evidence, never signs"),
    DemoPerson("reviewer-serving", "Reviewer (serving)", Role.MEMBER, "serving", "signs for serving"),
    DemoPerson("reviewer-networking", "Reviewer (networking)", Role.MEMBER, "networking", "signs for networking"),
    DemoPerson("capacity", "Capacity", Role.MEMBER, "capacity", "countersigns waivers, revokes with incident response"),
    DemoPerson("incident", "Incident response", Role.MEMBER, "incident-response", "declares emergencies, rolls back"),
    DemoPerson("admin", "Admin", Role.ADMIN, None, "keeps people, proposes a policy"),
    DemoPerson("second-admin", "Second admin", Role.ADMIN, None, "agrees to a policy that another admin proposed"),
    DemoPerson("auditor", "Auditor", Role.AUDITOR, None, "reads and verifies everything, changes nothing"),
)


@dataclass(frozen=True, slots=True)
class DemoLogin:
    """A login that is good until the next start."""

    login: str
    password: str
    does: str


@dataclass(frozen=True, slots=True)
class RefusedExample:
    """An example that intake did not take, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of the examples; ``revisions`` is the folder's name -> the revision that it once became."""

    refused: tuple[RefusedExample, ...]
    revisions: Mapping[str, Revision]


def demo_logins() -> tuple[DemoLogin, ...]:
    """Make sure that workspace and people are there and give everybody a new password.

    Raises:
        ConflictError: the database holds a workspace or people that are not the demo's.
    """
    _require_own_database()
    workspace = Workspace.objects.filter(slug=WORKSPACE).first() or workspace_create(
        slug=WORKSPACE, title="Demo", policy=POLICY
    )
    if Team.objects.filter(workspace=workspace, slug__in=POLICY["teams"]).count() < len(POLICY["teams"]):
        policy_set(workspace=workspace, policy=POLICY)  # a demo of an earlier version, with fewer teams
    return tuple(_login(workspace, person) for person in PEOPLE)


def _require_own_database() -> None:
    others = Workspace.objects.exclude(slug=WORKSPACE).exists()
    # Whom an admin of the demo invited since belongs to it.
    unknown_to_demo = Person.objects.exists() and not Workspace.objects.filter(slug=WORKSPACE).exists()
    if others or unknown_to_demo:
        raise ConflictError("This database holds other work. The demo is loaded into an empty database only.")


def _login(workspace: Workspace, demo: DemoPerson) -> DemoLogin:
    password = secrets.token_urlsafe(12)
    person = Person.objects.filter(login=demo.login).first()
    if person is None:
        person = Person.objects.create_user(demo.login, password, display_name=demo.name)
    else:
        person.set_password(password)
        person.save(update_fields=["password"])
    membership = member_add(workspace=workspace, person=person, role=demo.role)
    if demo.team:
        seat_give(membership=membership, team=demo.team)
    return DemoLogin(demo.login, password, demo.does)


def demo_submit(examples: Path) -> Submitted:
    """Submit every folder with a contract and evidence once, by the demo's author."""
    workspace = Workspace.objects.get(slug=WORKSPACE)
    author = Person.objects.get(login="author")
    refused, revisions = [], {}
    for folder in sorted(path.parent for path in examples.glob("*/contract.json")):
        contract, evidence = (folder / "contract.json").read_bytes(), (folder / "evidence.json").read_bytes()
        try:
            revisions[folder.name] = submission_create(
                actor=author,
                workspace=workspace,
                contract=contract,
                evidence=evidence,
                title=_title(folder),
                as_of=None,
                # By content, so that an example that changed is submitted anew and one that did not is not.
                idempotency_key=f"example-{file_sha256(contract + evidence)}",
            )
        except DocumentsRefusedError as error:
            refused.append(RefusedExample(folder.name, error.message))
    return Submitted(tuple(refused), revisions)


def _title(folder: Path) -> str:
    """Return the heading of the example's own description, or the folder's name."""
    readme = folder / "README.md"
    heading = readme.read_text(encoding="utf-8").splitlines()[0] if readme.exists() else ""
    return heading.removeprefix("#").strip()[:200] or folder.name
