"""What a team signs for: the part of a revision that it owns, item by item and as one digest.

Two revisions with equal scope digests show the team the same identity values, outcomes, margins and readings under the
same policy and planner with the same selected topology and rank map. The digests of whole documents are no part of it:
they change with every upload and nothing could ever be found equal.

A scope is a map of item to digest; its own digest is over that map. Items are named by what they are about:
``identity:/stack/engine/version``, ``gate:t-1:ttft``, ``trial:t-1``, ``selected``, ``decision``, ``policy`` and
``planner``.

Age is what an as-of time makes of evidence. Where the contract limits it, its reading and margin are items like all
others; where it does not, age decides nothing and what is signed for is the time that was read, which stays.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Raw, Struct

from planner.canonical import content_id, file_sha256
from planner.identity import leaves
from planner.pointers import joined
from planner.times import parsed_time, time_text
from reviews.policies.document import PolicyDocument, gate_owner, identity_owner

IDENTITY, GATE, TRIAL = "identity:", "gate:", "trial:"
SELECTED = "selected"
AGE_GATE = "freshness"
"""The gate whose reading moves with the as-of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one team owns in a revision. ``items`` is item -> digest of its value."""

    team: str
    items: Mapping[str, str]
    identity_keys: int
    gates: int

    @property
    def digest(self) -> str:
        """The digest of all of it."""
        return content_id({"team": self.team, "items": dict(self.items)})

    @property
    def is_touched(self) -> bool:
        """Whether the team owns anything that is decided: an identity key, or a gate that the contract declares."""
        return self.identity_keys + self.gates > 0


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """How a scope differs from an earlier one: items that are new, gone, or have another value."""

    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """All of them, in order of their names."""
        return tuple(sorted({*self.new, *self.gone, *self.changed}))

    @property
    def reason(self) -> str:
        """The reason for which a sign-off on the earlier scope is stale: the gravest one."""
        if self.new:
            return "NEW_ITEM"
        if any(key.startswith(IDENTITY) for key in self.keys):
            return "IDENTITY_CHANGED"
        return "SCOPE_CHANGED"


class _Judged(Struct):
    """As much of a gate's outcome as tells who owns it."""

    family: str
    outcome: str


class _Candidate(Struct):
    gates: dict[str, Raw]


class _Selected(Struct):
    topology: str
    rank_map_digest: str
    rank_map: Raw


class _Plan(Struct):
    """A plan with its outcomes as the bytes that they are: canonical, so that their digest is their content id."""

    as_of: str
    planner_version: str
    decision: str
    selected: _Selected | None
    candidates: dict[str, _Candidate]


def team_scopes(
    *, document: PolicyDocument, policy_id: str, identity: Mapping[str, Any], plan: bytes
) -> tuple[Scope, ...]:
    """Return the scope of every team of the policy, in order of their names.

    ``identity`` is the contract's identity as plain JSON values, ``plan`` the plan's canonical bytes.
    """
    read = msgspec.json.decode(plan, type=_Plan)
    shared = _shared(policy_id, read)
    identities, gates = _owned_identity(document, identity), _owned_gates(document, read)
    scopes = []
    for team in sorted(document.teams):
        mine, judged = identities.get(team, {}), gates.get(team, {})
        scopes.append(
            Scope(
                team=team,
                items={**shared, **mine, **judged},
                identity_keys=len(mine),
                gates=len({item.rpartition(":")[2] for item in judged}),
            )
        )
    return tuple(scopes)


def _shared(policy_id: str, plan: _Plan) -> dict[str, str]:
    """Return the items that are in every team's scope."""
    values: dict[str, Any] = {
        "policy": policy_id,
        "planner": plan.planner_version,
        "decision": plan.decision,
        SELECTED: plan.selected
        and {
            "topology": plan.selected.topology,
            "rank_map_digest": plan.selected.rank_map_digest,
            "rank_map": plan.selected.rank_map,
        },
        **{f"{TRIAL}{trial}": True for trial in plan.candidates},
    }
    return {item: content_id(value) for item, value in values.items()}


def _owned_identity(document: PolicyDocument, identity: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    owned: dict[str, dict[str, str]] = {}
    for path, value in leaves(identity):
        pointer = joined(path)
        owned.setdefault(identity_owner(document, pointer), {})[f"{IDENTITY}{pointer}"] = content_id(value)
    return owned


def _owned_gates(document: PolicyDocument, plan: _Plan) -> dict[str, dict[str, str]]:
    """Return the outcomes by owner. A gate that is not declared judges nothing, so nobody signs for it."""
    owned: dict[str, dict[str, str]] = {}
    for trial, candidate in plan.candidates.items():
        for gate, outcome in candidate.gates.items():
            judged = msgspec.json.decode(outcome, type=_Judged)
            if judged.outcome != "NOT_DECLARED":
                owner = owned.setdefault(gate_owner(document, judged.family), {})
                owner[f"{GATE}{trial}:{gate}"] = (
                    _aged_digest(outcome, plan.as_of) if gate == AGE_GATE else file_sha256(outcome)
                )
    return owned


def _aged_digest(outcome: Raw, as_of: str) -> str:
    """Return the digest of an outcome in which an age that nothing limits is told by the time that was read.

    The sentence of a pass says the same age once more; any other says what is wrong with a window, and stays.
    """
    found, moment = msgspec.json.decode(outcome), parsed_time(as_of)
    for limit in found["limits"].values():
        if moment is not None and limit["limit"] is None and limit["measured"] is not None:
            limit["measured"] = time_text(moment - timedelta(seconds=limit["measured"]))
            if limit["outcome"] == "PASS":
                del limit["sentence"]
    return content_id(found)


def scope_change(earlier: Mapping[str, str], later: Mapping[str, str]) -> ScopeChange:
    """Compare two scopes of one team, item by item."""
    return ScopeChange(
        new=tuple(sorted(later.keys() - earlier.keys())),
        gone=tuple(sorted(earlier.keys() - later.keys())),
        changed=tuple(sorted(item for item in earlier.keys() & later.keys() if earlier[item] != later[item])),
    )


def evidence_until(plan: Mapping[str, Any]) -> datetime | None:
    """Return until when the trials that the plan rests on are young enough; None where no maximum age is declared.

    These are the eligible trials, whose order was decided; where none is eligible, all of them. Each trial's own limit
    is the age at which its oldest window that is read passes the contract's maximum.
    """
    as_of = parsed_time(plan["as_of"])
    trials = [row["trial"] for row in plan["eligible"]] or list(plan["candidates"])
    left = list(_seconds_left(plan["candidates"][trial] for trial in trials))
    if as_of is None or not left:
        return None
    return as_of + timedelta(seconds=min(left))


def _seconds_left(candidates: Iterable[Mapping[str, Any]]) -> Iterable[int]:
    for candidate in candidates:
        for limit in candidate["gates"].get(AGE_GATE, {}).get("limits", {}).values():
            margin = limit.get("margin")
            if isinstance(margin, int | float):
                yield int(margin)
