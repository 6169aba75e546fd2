"""What a thread is anchored to: finding the item in a revision, and where it stands in a newer one.

Rules kept: an anchor is a kind and a stable name; what was commented on stays as it was then, by its digest; on a newer
revision the item is SAME, CHANGED or GONE, computed whenever it is asked. A thread never decides whether something was
reviewed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from planner.canonical import canonical_bytes, file_sha256
from planner.pointers import steps
from planner.whole_numbers import whole_number
from reviews.policies.document import PolicyDocument, gate_owner, identity_owner

Place = Literal["SAME", "CHANGED", "GONE"]
KINDS = ("gate", "trial", "rank", "candidate", "identity", "contract")
PART = "~"
"""Parts the members of a name; no id of a document holds it."""
CANDIDATE_PARTS = ("topology", "layout", "state", "failing", "unknown", "rank_map_digest", "charged_devices")
TRIAL_PARTS = ("trial_content_id", "topology", "layout")
OWNED_KINDS = ("gate", "identity")
"""Kinds of items that the policy gives to a team; of the others whoever comments names the team."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """One item of a decision. ``name`` by kind: ``trial~gate~limit``, trial, ``trial~rank``, trial, JSON pointer.

    The pointer of an identity key stands below ``/identity``.
    """

    kind: str
    name: str

    @property
    def words(self) -> str:
        """Name the item as people do."""
        parts = self.name.split(PART)
        if self.kind == "gate" and len(parts) == 3:
            limit = "" if parts[2] == "always" else f" {parts[2]}"
            return f"{parts[1]}{limit} of {parts[0]}"
        if self.kind == "rank" and len(parts) == 2:
            return f"rank {parts[1]} of {parts[0]}"
        if self.kind == "identity":
            return f"identity{self.name.replace('/', '.')}"
        return f"{self.kind} {self.name}" if self.kind in ("trial", "candidate") else self.name


@dataclass(frozen=True, slots=True)
class Item:
    """An item that is there; ``value`` is its JSON value, which may be null."""

    value: Any

    @property
    def raw(self) -> bytes:
        """Its canonical bytes."""
        return canonical_bytes(self.value)

    @property
    def digest(self) -> str:
        """The digest of its canonical bytes."""
        return file_sha256(self.raw)


@dataclass(frozen=True, slots=True)
class Content:
    """What a planned revision holds, as plain JSON values.

    ``rank_map`` returns the rank map of a trial of the evidence, None where there is no such trial; the evidence may be
    large, so it is read only when an anchor asks for a rank.
    """

    contract: Mapping[str, Any]
    plan: Mapping[str, Any]
    rank_map: Callable[[str], list[Any] | None]


def find(anchor: Anchor, content: Content) -> Item | None:
    """Return an anchor's item; None where the revision has none."""
    finder = FINDERS.get(anchor.kind)
    return finder(anchor.name, content) if finder else None


def settled(anchor: Anchor, content: Content) -> Anchor:
    """Return the anchor under which an item is kept: a key of the identity is no mere field of the contract."""
    if anchor.kind != "contract" or not anchor.name.startswith("/identity/"):
        return anchor
    key = Anchor("identity", anchor.name.removeprefix("/identity"))
    return key if find(key, content) else anchor


def _gate(name: str, content: Content) -> Item | None:
    trial, gate, limit = (*name.split(PART, 2), "", "")[:3]
    return _below(content.plan["candidates"], (trial, "gates", gate, "limits", limit))


def _candidate(name: str, content: Content) -> Item | None:
    candidate = content.plan["candidates"].get(name)
    return None if candidate is None else Item({part: candidate.get(part) for part in CANDIDATE_PARTS})


def _trial(name: str, content: Content) -> Item | None:
    candidate = content.plan["candidates"].get(name)
    return None if candidate is None else Item({part: candidate.get(part) for part in TRIAL_PARTS})


def _rank(name: str, content: Content) -> Item | None:
    trial, _, rank = name.rpartition(PART)
    places = content.rank_map(trial) or ()
    return next((Item(place) for place in places if str(place.get("rank")) == rank), None)


def _identity(name: str, content: Content) -> Item | None:
    found = _below(content.contract.get("identity"), steps(name)) if steps(name) else None
    is_leaf = found is not None and not (isinstance(found.value, Mapping) and found.value)
    return found if is_leaf else None


def _contract(name: str, content: Content) -> Item | None:
    return _below(content.contract, steps(name)) if steps(name) else None


def _below(value: Any, path: tuple[str, ...]) -> Item | None:
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and (at := whole_number(step)) is not None and at < len(value):
            value = value[at]
        else:
            return None
    return Item(value)


FINDERS: Mapping[str, Callable[[str, Content], Item | None]] = {
    "gate": _gate,
    "trial": _trial,
    "rank": _rank,
    "candidate": _candidate,
    "identity": _identity,
    "contract": _contract,
}


def place(digest: str, now: Item | None) -> Place:
    """Say where an item stands whose digest was ``digest`` when it was commented on."""
    if now is None:
        return "GONE"
    return "SAME" if now.digest == digest else "CHANGED"


def owner(anchor: Anchor, content: Content, document: PolicyDocument) -> str:
    """Return the team that the policy gives an item to; empty for kinds that no team owns."""
    if anchor.kind == "gate":
        trial, gate, _ = anchor.name.split(PART, 2)
        return gate_owner(document, content.plan["candidates"][trial]["gates"][gate]["family"])
    return identity_owner(document, anchor.name) if anchor.kind == "identity" else ""
