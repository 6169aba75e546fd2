"""How long a decision stays in force, and whether what runs is what was decided on. Pure; asked at every read.

Rules kept: valid until the first of the policy's age, the contract's expiry and each counted trial's own limit; every
identity key that the contract binds is compared, the selected rank map's digest is one of them; a key that is missing
or unknown is no match; with ``requalify_on`` only keys below its pointers count, the rank map always.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from planner.identity_check import BoundKey, KeyDifference, bound_keys, differing_keys
from planner.pointers import steps
from reviews.policies.document import PolicyDocument, identity_owner

PLACEMENT_OWNER = "/hardware"
"""Whose team answers for a rank that was moved, where the policy names nobody for the placement itself."""


def valid_until(
    at: datetime, *, policy_max_age_s: int | None, expires_after_s: int | None, evidence_until: datetime | None
) -> datetime | None:
    """Return until when a decision put into force at ``at`` stays so; None where nothing limits it."""
    ages = [timedelta(seconds=age) for age in (policy_max_age_s, expires_after_s) if age is not None]
    ends = [*(at + age for age in ages), *([evidence_until] if evidence_until is not None else [])]
    return min(ends, default=None)


@dataclass(frozen=True, slots=True)
class Difference:
    """A key of the decided identity that the slot does not show; ``key`` is a JSON pointer below ``/identity``."""

    key: str
    how: Literal["differs", "missing", "unknown"]
    expected: Any
    found: Any
    team: str


def differences(
    bound: Mapping[str, Any],
    live: Mapping[str, Any],
    *,
    rank_map_digest: str,
    document: PolicyDocument,
    requalify_on: Sequence[str] | None = None,
) -> tuple[Difference, ...]:
    """Compare the identity of a whole slot with the decided one, in document order, the rank map last.

    ``live`` has the shape of a contract's ``identity``, with ``placement.rank_map_digest`` or ``placement.rank_map``
    beside its sections. ``requalify_on`` are contract pointers (``/identity/stack``), every key where it is None.
    """
    keys = bound_keys(bound, requalify_on)
    return differences_from(keys, live, rank_map_digest=rank_map_digest, document=document)


def differences_from(
    keys: Sequence[BoundKey], live: Mapping[str, Any], *, rank_map_digest: str, document: PolicyDocument
) -> tuple[Difference, ...]:
    """Compare with keys that were taken out of the decided identity before; see ``differences``."""
    return tuple(owned(document, one) for one in differing_keys(keys, live, rank_map_digest=rank_map_digest))


def owned(document: PolicyDocument, one: KeyDifference) -> Difference:
    """Return a difference with the team that owns its key."""
    return Difference(one.key, one.how, one.expected, one.found, key_owner(document, one.key))


KEYS_TOLD = 20


def also_text(differences: Sequence[Difference]) -> str:
    """Name what differs beside the first key, each with its team; empty where nothing does."""
    others = [f"{one.key} ({one.team})" for one in differences[1:KEYS_TOLD]]
    more = f" and {len(differences) - KEYS_TOLD} more" if len(differences) > KEYS_TOLD else ""
    return f" Also {', '.join(others)}{more}." if others else ""


def key_owner(document: PolicyDocument, key: str) -> str:
    """Return the team that owns a key of the identity, or a place of a rank."""
    is_placement = steps(key)[:1] == ("placement",) and not any(
        pointer.startswith("/placement") for pointer in document.identity_owners
    )
    return identity_owner(document, PLACEMENT_OWNER if is_placement else key)


@dataclass(frozen=True, slots=True)
class StateNow:
    """A decision's state as of now: what is stored, or what followed since and no entry says yet.

    ``until`` is when it ends by itself, while it is in force and something limits it.
    """

    state: str
    since: datetime
    because: str = ""
    keys: tuple[str, ...] = ()
    until: datetime | None = None


def state_now(
    state: str,
    since: datetime,
    *,
    now: datetime,
    ends_at: datetime | None = None,
    lapsed: Sequence[tuple[str, datetime]] = (),
) -> StateNow:
    """Return the state as of now.

    ``ends_at`` is until when the activation holds; ``lapsed`` are names of waivers that it rests on and that ran out.
    """
    if state == "EFFECTIVE" and lapsed:
        names = tuple(name for name, _ in lapsed)
        return StateNow("STALE", min(at for _, at in lapsed), f"Waiver lapsed: {', '.join(names)}.", names)
    if ends_at is not None and now > ends_at:
        if state == "EFFECTIVE":
            return StateNow("EXPIRED", ends_at, "It was valid until then.")
        if state == "EMERGENCY":
            return StateNow("REVOKED", ends_at, "The emergency ran out before the review was done.")
    return StateNow(state, since, until=ends_at)
