"""Rule 9: nobody approves before opening what fails, is unknown, flips soonest or changed; the list is hashed in."""

import json
from typing import Any

import pytest
from django.utils import timezone

from reviews.errors import ConflictError, NotFoundError
from reviews.models import Blob, ItemOpening, Revision
from reviews.selectors.openings import Openings, openings_of
from reviews.services.openings import item_open
from tests.reviews.factories import (
    Cast,
    contract_tree,
    documents,
    evidence_tree,
    example_pair,
    last_entry,
    open_all,
    planned,
    sign,
)
from tests.reviews.factories import Pair as Documents

pytestmark = pytest.mark.django_db


def items(revision: Revision, people: Cast) -> Openings:
    return openings_of(revision, person_id=people.bob.pk, team="serving", now=timezone.now())


def test_the_ten_smallest_flips_and_the_baselines_gates_are_to_be_opened(people: Cast) -> None:
    found = items(planned(people, pair=example_pair()), people)
    assert [item.id for item in found.items if item.kind == "gate"] == [
        "gate:t-one-node:memory_headroom",
        "gate:t-one-node:throughput",
    ]
    flips = [item.id for item in found.items if item.kind == "flip"]
    assert len(flips) == 10
    assert flips[:2] == [
        "flip:reading:link_utilization:inter_node:t-base-16:NONE_LEFT:",
        "flip:limit:ttft:saturated_p95:t-base-16:NONE_LEFT:",
    ]


def test_a_failing_gate_of_the_baseline_is_to_be_opened(people: Cast) -> None:
    contract = contract_tree(floor=600)
    revision = planned(
        people, pair=Documents(*(json.dumps(tree).encode() for tree in (contract, evidence_tree(contract))))
    )
    assert "gate:t-1:throughput" in {item.id for item in items(revision, people).items}


def test_approving_is_refused_until_everything_was_opened(people: Cast) -> None:
    revision = planned(people, pair=documents(floor=600))
    with pytest.raises(ConflictError, match=r"items are not opened yet: throughput of t-1"):
        sign(people, revision, is_opened=False)
    assert last_entry(people)["action"] == "signoff.refused"
    for item in items(revision, people).missing:
        item_open(actor=people.bob, workspace=people.workspace, number=1, team="serving", item=item.id)
    assert sign(people, revision, is_opened=False).meaning == "approve"


@pytest.mark.parametrize("meaning", ["request_changes", "reject", "object"])
def test_who_does_not_approve_need_not_open_anything(people: Cast, meaning: str) -> None:
    assert sign(people, planned(people, pair=documents(floor=600)), meaning=meaning).opened_id is None


def test_what_was_opened_is_hashed_into_the_signoff(people: Cast) -> None:
    revision = planned(people, pair=documents(floor=600))
    signoff = sign(people, revision)
    kept: dict[str, Any] = json.loads(bytes(Blob.objects.get(pk=signoff.opened_id).data))
    assert set(kept["items"]) == {item.id for item in items(revision, people).items}
    assert all(kept["items"].values())
    assert last_entry(people)["payload"]["opened"] == signoff.opened_id


def test_what_changed_in_the_scope_since_the_last_signature_is_to_be_opened(people: Cast) -> None:
    first = planned(people)
    sign(people, first)
    second = planned(people, pair=documents(tokens=170000), decision=first.decision)
    found = items(second, people)
    assert (found.since, [item.id for item in found.items if item.kind == "change"]) == (
        1,
        ["change:gate:throughput"],
    )


def test_openings_of_another_person_or_revision_do_not_count(people: Cast) -> None:
    first = planned(people, pair=documents(floor=600))
    open_all(first, people.dave, "serving")
    assert not items(first, people).opened_at
    open_all(first, people.bob, "serving")
    second = planned(people, pair=documents(floor=601), decision=first.decision)
    assert not items(second, people).opened_at


def test_opening_twice_is_noted_once_and_what_there_is_not_is_not_found(people: Cast) -> None:
    revision = planned(people, pair=documents(floor=600))
    asked: dict[str, Any] = {"actor": people.bob, "workspace": people.workspace, "number": 1, "team": "serving"}
    wanted = items(revision, people).items[0].id
    assert item_open(item=wanted, **asked) == item_open(item=wanted, **asked)
    assert ItemOpening.objects.count() == 1
    with pytest.raises(NotFoundError, match="has nothing of this name to open"):
        item_open(item="gate:t-1:\x00", **asked)
