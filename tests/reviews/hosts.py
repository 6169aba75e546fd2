"""A decision for two nodes with one rank each, and what their hosts report."""

import copy
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from planner.times import time_text
from reviews.models import HostReport, Person, ReportedSlot, Revision
from reviews.services.host_reports import Answer, identity_reports_take
from tests.reviews.factories import IDENTITY, Cast, Pair, contract_tree, evidence_tree
from tests.reviews.rules.test_rule_10_activation import activate, approved

SLOT = "own/two-nodes"
DEVICES = {"node-a": "a0", "node-b": "b0"}
RANKS = [{"rank": rank, "node": node, "device": device} for rank, (node, device) in enumerate(DEVICES.items())]


def two_nodes(nics: Mapping[str, str] | None = None, **validity: Any) -> Pair:
    """The documents: one device on each of two nodes, tensor parallel over both; ``nics`` is node -> its NIC."""
    contract = contract_tree(slot=SLOT) | ({"validity": validity} if validity else {})
    device = contract["identity"]["hardware"]["devices"]["a0"]
    contract["identity"]["hardware"] = {
        "nodes": {node: {} for node in DEVICES},
        "devices": {name: device | {"node": node} for node, name in DEVICES.items()},
    }
    ranks: list[dict[str, Any]] = RANKS
    if nics:
        contract["identity"]["hardware"]["nics"] = {name: nic_on(node) for node, name in nics.items()}
        ranks = [place | {"nic": nics[str(place["node"])]} for place in RANKS]
    evidence = evidence_tree(contract)
    trial = evidence["trials"]["t-1"]
    trial["rank_map"] = ranks
    trial["topology"]["instances"] = [{"tp": 2, "pp": 1, "ep": 1, "dp": 1, "world_size": 2}]
    return Pair(json.dumps(contract).encode(), json.dumps(evidence).encode())


def nic_on(node: str) -> dict[str, str]:
    """A NIC of a node, as hardware has it."""
    return {"node": node, "use": "fabric"}


def with_nic(tree: dict[str, Any], name: str) -> dict[str, Any]:
    """A report of a host that has a NIC, and does not say which rank uses it."""
    changed = copy.deepcopy(tree)
    changed["identity"]["hardware"]["nics"] = {name: nic_on(tree["node"])}
    return changed


def running(people: Cast, nics: Mapping[str, str] | None = None, **validity: Any) -> Revision:
    """The decision, put into force."""
    revision = approved(people, pair=two_nodes(nics, **validity))
    activate(people, revision)
    return revision


def stamp(seconds: float = 5) -> str:
    """A time so many seconds from now; what is in force came so before the report."""
    return time_text((timezone.now() + timedelta(seconds=seconds)).replace(microsecond=0))


def report(at: str, /, **changes: Any) -> dict[str, Any]:
    """What ``topogate identity collect`` writes on a host; ``changes`` are fields of the report."""
    identity = copy.deepcopy(IDENTITY)
    identity["hardware"] = {
        "nodes": {at: {}},
        "devices": {DEVICES[at]: IDENTITY["hardware"]["devices"]["a0"] | {"node": at}},
    }
    rank = list(DEVICES).index(at)
    return {
        "schema": "topogate.identity/v1",
        "host": f"gpu-{rank + 17}",
        "node": at,
        "collected_at": stamp(),
        "identity": identity,
        "ranks_seen": {"world_size": 2, "ranks": [RANKS[rank]]},
        "sources": {},
        "conflicts": [],
        "missing": [],
        "environment": {},
    } | changes


def with_engine(tree: dict[str, Any], version: str) -> dict[str, Any]:
    """A report of another engine version."""
    changed = copy.deepcopy(tree)
    changed["identity"]["stack"]["engine"]["version"] = version
    return changed


def rewritten(rows: QuerySet[HostReport], **fields: Any) -> None:
    """Change rows of hosts, with the turn of their slot as whatever writes one does."""
    ReportedSlot.objects.filter(slot=SLOT).update(turn=F("turn") + 1)
    rows.update(**fields, turn=ReportedSlot.objects.get(slot=SLOT).turn)


def post(people: Cast, *trees: Any, actor: Person | None = None, slot: str = SLOT) -> Answer:
    """Send reports as bob, in one request."""
    documents = [tree if isinstance(tree, bytes) else json.dumps(tree).encode() for tree in trees]
    return identity_reports_take(actor=actor or people.bob, workspace=people.workspace, slot=slot, documents=documents)
