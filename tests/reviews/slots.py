"""A board with one slot of every kind: in force, ending soon, stale, waived, in an emergency, in review, given up."""

import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from planner.times import time_text
from reviews.models import Decision, Revision
from reviews.services.closing import decision_withdraw
from reviews.services.identity_reports import identity_report
from tests.reviews.factories import Cast, Pair, contract_tree, documents, evidence_tree, example_pair, planned, sign
from tests.reviews.rules.board import TRACE, countersign, propose
from tests.reviews.rules.test_rule_10_activation import activate, approved
from tests.reviews.rules.test_rule_11_validity import live

SOON, LATER = 5, 90
"""Days until a decision ends."""
PRICED = "chat/eu-north"
ENDING, STALE, WAIVED, EMERGENCY = "own/ends-soon", "own/stale", "own/waived", "own/emergency"
REVIEWED, WITHDRAWN = "own/in-review", "own/withdrawn"


def ending(slot: str, days: int, **fleet: Any) -> Pair:
    """Documents of a slot whose decision ends so many days after it is put into force."""
    contract = contract_tree(slot=slot) | {"validity": {"decision_expires_after_s": days * 86_400}}
    contract |= {"fleet": fleet} if fleet else {}
    return Pair(json.dumps(contract).encode(), json.dumps(evidence_tree(contract)).encode())


def in_force(people: Cast, pair: Pair) -> Revision:
    """A revision that was approved and put into force."""
    revision = approved(people, pair=pair)
    activate(people, revision)
    return revision


def every_kind(people: Cast) -> None:
    """Fill a board (``tests.reviews.rules.board``) with a slot of every kind; the sweep has not run since."""
    in_force(people, example_pair("blast-radius"))
    in_force(people, ending(ENDING, SOON))
    stale = in_force(people, ending(STALE, LATER, usd_per_device_hour={"accel-80g": 2.5}))
    report(people, STALE, live(stale, model__revision="r2", stack__engine__version=None))
    waived(people)
    emergency(people)
    planned(people, pair=documents(slot=REVIEWED))
    left = planned(people, pair=documents(slot=WITHDRAWN))
    decision_withdraw(
        actor=people.alice,
        workspace=people.workspace,
        number=left.decision.number,
        reason="Asked for on another slot.",
        trace=TRACE,
    )


def waived(people: Cast) -> Decision:
    """A decision in force though a gate fails, under a waiver of 30 days."""
    revision = planned(people, pair=documents(slot=WAIVED, floor=600))
    number = revision.decision.number
    ends = time_text(timezone.now() + timedelta(days=30))
    body = {"trial": "t-1", "gate": "throughput", "ends_at": ends}
    countersign(people, propose(people, "waiver", "bob", body, number=number), "erin")
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    activate(people, revision)
    return revision.decision


def emergency(people: Cast) -> Decision:
    """A decision in an emergency of a day."""
    revision = planned(people, pair=documents(slot=EMERGENCY, floor=600))
    body = {"trial": "t-1", "incident": "INC-7", "failing_gates": ["throughput"], "hours": 24}
    countersign(people, propose(people, "emergency", "ivan", body, number=revision.decision.number), "bob")
    return revision.decision


def report(people: Cast, slot: str, tree: dict[str, Any]) -> None:
    """Report what runs in a slot, as bob."""
    identity_report(actor=people.bob, workspace=people.workspace, slot=slot, live=tree, trace=TRACE)
