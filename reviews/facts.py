"""Plain values that selectors fetch, policies judge and services act on. Nothing here reads or writes anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

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
    """How the person showed who they are, and how many whole seconds ago (None: not known).

    ``method``: ``passkey``, ``totp``, ``password``, ``recovery_code``, ``oidc``, ``token`` or ``none``.
    """

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
    """Somebody who may sign for a team, as far as signing asks.

    ``in_place_of`` is the person whose seat they sign from under a delegation, None for their own seat.
    """

    person_id: int
    login: str
    name: str
    team: str
    is_active: bool
    is_lead: bool
    in_place_of: int | None = None


@dataclass(frozen=True, slots=True)
class ScopeFact:
    """What a team owns in a planned revision, as far as judging asks."""

    team: str
    digest: str
    is_touched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOffFact:
    """A sign-off as the rules see it.

    ``is_latest``: no later turn of the same person for the team on the revision. ``is_replaced``: a later sign-off of
    theirs for the team on a later revision. ``carried_scope``: the scope with which an entry of the log carries it to
    the newest revision, None where none does. ``giver_id``: in whose place it was given under a delegation.
    ``is_signer_able``: the signer still belongs to the workspace with a role that signs, and may log in.
    ``open_conditions``: conditions that are not met yet.
    """

    id: int
    revision: int
    team: str
    person_id: int
    person: str
    meaning: str
    signed: SubjectParts
    signed_at: datetime
    is_latest: bool
    is_withdrawn: bool
    is_signer_able: bool = True
    is_replaced: bool = False
    is_re_review_asked: bool = False
    carried_scope: str | None = None
    carried_at: datetime | None = None
    giver_id: int | None = None
    waivers: str = ""
    open_conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Newest:
    """The newest revision of a decision as the rules see it. Times are UTC.

    ``scopes`` is None while there is no plan. ``policy_in_force`` is the content id of the workspace's policy now, None
    where the decision is past its review. ``waivers`` is the digest of the waivers in force, empty without any.
    ``is_past_review``: it was put into force or ended, so who may sign now takes back nothing that was signed then.
    """

    parts: SubjectParts
    author: str
    since: datetime
    now: datetime
    scopes: Mapping[str, ScopeFact] | None
    evidence_until: datetime | None = None
    policy_in_force: str | None = None
    waivers: str = ""
    is_past_review: bool = False


@dataclass(frozen=True, slots=True)
class Blocker:
    """Something that keeps a team's requirement from being satisfied, besides missing approvals."""

    because: str
    owed_by: tuple[str, ...]
    since: datetime
