"""A decision in force that an engine can start: the example of vLLM on two nodes, approved and activated."""

import json
from typing import Any

from reviews.models import Revision
from reviews.services.identity_reports import identity_report
from tests.reviews.factories import Cast, Pair, documents, example_pair, planned, sign
from tests.reviews.rules.test_rule_10_activation import activate, approved

EXAMPLE = "dense-two-nodes"


def launchable(people: Cast, **choices: Any) -> Revision:
    """Plan the example and have it signed; nothing is in force yet."""
    revision = planned(people, pair=example_pair(EXAMPLE), **choices)
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    return revision


def launched(people: Cast) -> Revision:
    """Put it into force."""
    revision = launchable(people)
    activate(people, revision)
    return revision


def stale(people: Cast) -> Revision:
    """Put the smallest decision into force, and report a machine with another model and nothing else."""
    slot = "own/stale"
    revision = approved(people, pair=documents(slot=slot))
    activate(people, revision)
    identity_report(actor=people.alice, workspace=people.workspace, slot=slot, live={"model": {"name": "own/other"}})
    return revision


def parted(people: Cast) -> Revision:
    """Put the example with four stages into force, the middle ones on each other's node: no engine starts it."""
    pair = example_pair(EXAMPLE)
    evidence = json.loads(pair.evidence)
    del evidence["trials"]["t-stage-a-node"]
    seats = evidence["trials"]["t-four-stages"]["rank_map"]
    for rank, other in ((2, 4), (3, 5)):
        seats[rank], seats[other] = {**seats[other], "rank": rank}, {**seats[rank], "rank": other}
    revision = approved(people, pair=Pair(pair.contract, json.dumps(evidence).encode()))
    activate(people, revision)
    return revision
