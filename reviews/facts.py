"""Plain values that selectors fetch, policies judge and services act on. Nothing here reads or writes anything."""

from dataclasses import dataclass

SUBJECT_PARTS = ("contract", "evidence", "identity", "policy", "planner_version", "plan")
"""What a subject is made of, in the order in which people are told about it."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Who somebody is in one workspace. ``role`` is a ``Role`` value; ``teams`` holds team slugs."""

    person_id: int
    token: str
    name: str
    workspace_id: int
    role: str
    teams: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Authentication:
    """How the person showed who they are: ``password`` or ``token``, and how many seconds ago (None: not known)."""

    method: str = "password"
    age_s: int | None = None


@dataclass(frozen=True, slots=True)
class SubjectParts:
    """The digests that a subject is made of. ``plan`` is None while there is no plan."""

    contract: str
    evidence: str
    identity: str
    policy: str
    planner_version: str
    plan: str | None

    def moved_from(self, earlier: "SubjectParts") -> tuple[str, ...]:
        """Return the parts that differ from an earlier subject; a plan still to come counts as different."""
        return tuple(part for part in SUBJECT_PARTS if getattr(self, part) != getattr(earlier, part))


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody with a seat in a team, as far as signing asks."""

    person_id: int
    login: str
    name: str
    team: str
    is_active: bool
    is_lead: bool


@dataclass(frozen=True, slots=True)
class SignOffFact:
    """A sign-off as the rules see it. ``is_latest``: no later turn of the same person for the team on the revision."""

    id: int
    revision: int
    team: str
    person_id: int
    meaning: str
    signed: SubjectParts
    is_latest: bool
    is_withdrawn: bool
