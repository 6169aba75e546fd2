"""Whether a slot runs what was decided: the decision in force, as of now, against the identity of what runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from planner.identity_check import BoundKey, bound_keys
from planner.records.contract import Identity
from planner.strict_json import MAX_BYTES, MAX_DEPTH, nesting
from reviews.asked_once import moment
from reviews.blobs import blobs_read
from reviews.clock import when
from reviews.errors import Finding, InvalidRequestError, printable
from reviews.kept_values import Kept
from reviews.models import Activation, ActivationKind, Decision, DecisionState, Emergency, Person, Revision, Workspace
from reviews.planning import contract_tree
from reviews.policies.document import PolicyDocument, read_policy
from reviews.policies.validity import Difference, differences_from
from reviews.selectors.in_force import slot_in_force, states_now
from reviews.selectors.people import workspace_of_member

SLOT_LENGTH = 128
REPORT = "topogate.identity/"
SECTIONS = frozenset({*Identity.__struct_fields__, "placement"})
"""What an identity has some of: the sections of a contract's, and where ranks run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotCheck:
    """The answer for one slot. ``matches`` only where a decision is in force, holds, and every key matches.

    ``because`` says why not, or what holds; ``differences`` are in the order of the contract, the rank map last.
    ``incident`` and ``failing_gates`` are given in an emergency.
    """

    slot: str
    matches: bool
    because: str
    decision: Decision | None = None
    activation: Activation | None = None
    state: str = ""
    valid_until: datetime | None = None
    differences: tuple[Difference, ...] = ()
    incident: str = ""
    failing_gates: tuple[str, ...] = ()


def live_identity(raw: bytes, at: str = "identity") -> dict[str, Any]:
    """Read the identity of a whole slot: an object in the shape of a contract's ``identity``, or one that has it as
    a field.

    ``at`` is the part of a request that it came in.

    Raises:
        InvalidRequestError: it is none, has no section of one, or is a document of another kind.
    """
    if len(raw) > MAX_BYTES:
        raise _unread(at, f"at most {MAX_BYTES:,} bytes", f"{len(raw):,} bytes")
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and nesting(raw) > MAX_DEPTH:
        raise _unread(at, f"nesting of at most {MAX_DEPTH}", "deeper nesting")
    try:
        tree = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unread(at, "a JSON object", f"{error}"[:120]) from error
    if isinstance(tree, dict) and "schema" in tree and not str(tree["schema"]).startswith(REPORT):
        # A contract has an identity too. Sent in the place of a report it would end what is in force.
        raise _unread(at, "a report, or an object in the shape of a contract's identity", f"{tree['schema']}"[:120])
    if isinstance(tree, dict) and isinstance(tree.get("identity"), dict):
        tree = {**tree["identity"], **({"placement": tree["placement"]} if "placement" in tree else {})}
    if not isinstance(tree, dict) or not tree:
        raise _unread(at, "an object in the shape of a contract's identity", type(tree).__name__ if tree else "nothing")
    if not tree.keys() & SECTIONS:
        # Taken for a slot it would say nothing of any key, which ends what is in force.
        raise _unread(at, f"an identity with one of {', '.join(sorted(SECTIONS))}", printable(", ".join(tree), 120))
    return tree


def _unread(at: str, expected: str, found: str) -> InvalidRequestError:
    return InvalidRequestError((Finding("request", "request/identity", at, expected, found),))


def slot_check(*, actor: Person, workspace: Workspace, slot: str, live: Mapping[str, Any]) -> SlotCheck:
    """Say whether the decision in force for a slot matches what runs as it is now. Nothing is written.

    An emergency comes before the decision that it overrides for its time.

    Raises:
        NotFoundError: the actor is no member of the workspace.
        TamperedError: stored bytes that the answer rests on were changed.
    """
    workspace_of_member(actor, workspace.slug)
    return checked_slot(workspace, slot, live, moment())


def checked_slot(workspace: Workspace, slot: str, live: Mapping[str, Any], now: datetime) -> SlotCheck:
    """Check without asking who asks; see ``slot_check``."""
    held = slot_in_force(workspace, slot, now)
    if held is None:
        return SlotCheck(slot=slot, matches=False, because=why_none(workspace, slot, now))
    activation = held.activation
    decision, revision = activation.revision.decision, activation.revision
    bound = bound_of(revision)
    found = differences_from(bound.keys, live, rank_map_digest=activation.rank_map_digest, document=bound.document)
    emergency = activation.emergency if activation.kind == ActivationKind.EMERGENCY else None
    name = f"{decision.label} r{revision.number} ({activation.topology})"
    first = found[0] if found else None
    return SlotCheck(
        slot=decision.slot,
        matches=first is None,
        because=f"{name} is in force and matches." if first is None else f"{name}: {difference_text(first)}",
        decision=decision,
        activation=activation,
        state=decision.state,
        valid_until=activation.valid_until,
        differences=found,
        incident=emergency.incident if emergency else "",
        failing_gates=gates_past(emergency) if emergency else (),
    )


def gates_past(emergency: Emergency) -> tuple[str, ...]:
    """Return the gates that an emergency went past."""
    return msgspec.json.decode(emergency.failing_gates, type=tuple[str, ...])


def why_none(workspace: Workspace, slot: str, now: datetime) -> str:
    """Say why nothing holds in a slot: what became of the decision that did last."""
    last = Activation.objects.filter(revision__decision__workspace=workspace, revision__decision__slot=slot)
    newest = last.select_related("revision__decision").order_by("-pk").first()
    if newest is None:
        is_decided = Decision.objects.filter(workspace=workspace, slot=slot).exists()
        return f"No decision was ever in force for {slot}." if is_decided else f"There is no decision for {slot}."
    decision = newest.revision.decision
    state = states_now([decision], now)[decision.pk]
    label = DecisionState(state.state).label.lower()
    return f"{decision.label} is {label} since {when(state.since)} UTC. {state.because}".strip()


@dataclass(frozen=True, slots=True)
class Bound:
    """What a revision binds what runs to: the keys of its contract that count, and the policy that owns them."""

    keys: tuple[BoundKey, ...]
    document: PolicyDocument


def bound_of(revision: Revision) -> Bound:
    """Return what a revision binds what runs to, from its stored bytes; kept in the process by their digests.

    Raises:
        TamperedError: the bytes are not what was stored, as of ``CHECK_AGAIN_SECONDS`` ago at most.
    """
    wanted = {revision.contract.blob_id: "contract", revision.policy.blob_id: "policy"}
    return BOUND.value(tuple(wanted), lambda: blobs_read(wanted))


def _bound(stored: Mapping[str, bytes]) -> Bound:
    contract, policy = map(stored.__getitem__, stored)
    tree = contract_tree(contract)
    return Bound(bound_keys(tree["identity"], tree.get("validity", {}).get("requalify_on")), read_policy(policy))


BOUND = Kept(_bound)


def difference_text(difference: Difference) -> str:
    """Say one difference in a sentence: the key, what was decided, what runs, who owns it."""
    found = {"missing": "nothing", "unknown": "unknown"}.get(difference.how, _shown(difference.found))
    return f"{difference.key}: decided {_shown(difference.expected)}, found {found}. Owned by {difference.team}."


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else f"{text[:77]}..."
