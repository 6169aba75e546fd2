"""The policy document (``topogate.policy/v1``): teams, quorum, and which team owns what.

``identity_owners`` maps a JSON pointer below ``/identity`` to a team; the longest matching pointer wins.
``gate_owners`` maps a gate family to a team. What nobody owns falls to ``fallback_owner``.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

TeamSlug = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}(?![\s\S])")]
Pointer = Annotated[str, Meta(pattern=r"^(/[^/]+)+(?![\s\S])")]


class PolicyTeam(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A team. ``quorum``: how many of its members must approve; 0 asks for none.

    ``hard_veto``: a rejection by this team alone lets a decision be closed as rejected; of others it takes two.
    """

    title: Annotated[str, Meta(min_length=1, max_length=120)]
    quorum: Annotated[int, Meta(ge=0, le=20)]
    hard_veto: bool = False


class PolicyDuties(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which teams do what beside reviewing.

    ``release``: whose members put decisions into force, all teams where it is empty. ``emergency`` declares one with
    the owner of a failing gate, ``waiver`` countersigns every waiver, ``revocation`` revokes: one person of each team.
    """

    release: tuple[TeamSlug, ...] = ()
    emergency: TeamSlug = "incident-response"
    waiver: TeamSlug = "capacity"
    revocation: tuple[TeamSlug, TeamSlug] = ("capacity", "incident-response")


class PolicyDocument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole policy. ``max_age_s``: how long a decision stays in force at most, seconds; no limit where left out.

    ``second_factor``: signing, and every other act that takes a proof, takes a passkey or a code of an app. An
    installation can demand that everywhere; no policy takes it back.
    """

    schema: Literal["topogate.policy/v1"]
    teams: dict[TeamSlug, PolicyTeam]
    identity_owners: dict[Pointer, TeamSlug]
    gate_owners: dict[Annotated[str, Meta(min_length=1, max_length=64)], TeamSlug]
    fallback_owner: TeamSlug
    max_age_s: Annotated[int, Meta(ge=60, le=10 * 366 * 86400)] | None = None
    duties: PolicyDuties = PolicyDuties()
    second_factor: bool = False


DEFAULT_POLICY: dict[str, Any] = {
    "schema": "topogate.policy/v1",
    "teams": {
        "capacity": {"title": "Capacity", "quorum": 2},
        "incident-response": {"title": "Incident response", "quorum": 1},
        "kernel": {"title": "Kernel", "quorum": 1},
        "model": {"title": "Model", "quorum": 1},
        "networking": {"title": "Networking", "quorum": 1},
        "serving": {"title": "Serving", "quorum": 1},
    },
    "identity_owners": {
        "/model": "model",
        "/precision": "kernel",
        "/workload": "serving",
        "/stack": "kernel",
        "/stack/engine": "serving",
        "/stack/scheduler": "serving",
        "/stack/router": "serving",
        "/stack/kv": "serving",
        "/stack/collective_library": "networking",
        "/hardware": "capacity",
        "/hardware/nics": "networking",
        "/hardware/links": "networking",
        "/hardware/islands": "networking",
        "/telemetry": "incident-response",
    },
    "gate_owners": {
        "shape": "model",
        "fabric": "networking",
        "evidence": "serving",
        "memory": "kernel",
        "slo": "serving",
        "failure": "incident-response",
        "cost": "capacity",
    },
    "fallback_owner": "serving",
    "max_age_s": 90 * 86400,
}
"""What a new workspace starts with."""


def team_title(slug: str) -> str:
    """Write a team's slug as a name."""
    return slug.replace("-", " ").capitalize()


def read_policy(raw: bytes) -> PolicyDocument:
    """Read a policy document.

    Raises:
        ValueError: it is not one, or an owner is no team of it.
    """
    try:
        document = msgspec.json.decode(raw, type=PolicyDocument, strict=True)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ValueError(f"not a policy: {error}") from error
    owners = {
        *document.identity_owners.values(),
        *document.gate_owners.values(),
        *document.duties.release,
        document.fallback_owner,
    }
    strangers = sorted(owners - set(document.teams))
    if strangers:
        raise ValueError(f"owners that are no team of the policy: {', '.join(strangers)}")
    return document


def gate_owner(document: PolicyDocument, family: str) -> str:
    """Return the team that owns a gate family."""
    return document.gate_owners.get(family, document.fallback_owner)


def identity_owner(document: PolicyDocument, pointer: str) -> str:
    """Return the team that owns an identity key; ``pointer`` is below ``/identity`` (``/stack/driver/digest``)."""
    parts = pointer.split("/")
    for length in range(len(parts), 1, -1):
        owner = document.identity_owners.get("/".join(parts[:length]))
        if owner is not None:
            return owner
    return document.fallback_owner


def quorums(document: PolicyDocument) -> dict[str, int]:
    """Return team -> quorum, in order of the teams' names; a team with quorum 0 is asked for nothing."""
    return {slug: team.quorum for slug, team in sorted(document.teams.items())}


def releasing_teams(document: PolicyDocument) -> frozenset[str]:
    """Return the teams whose members may put a decision into force."""
    return frozenset(document.duties.release or document.teams)
