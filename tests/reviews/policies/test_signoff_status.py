"""Whether a sign-off counts, judged from plain values: every status and every reason."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from reviews.facts import Newest, ScopeFact, SignOffFact
from reviews.policies.scope import ScopeChange
from reviews.policies.signoff_status import judge_signoff
from tests.reviews.policies.test_requirements import BOB, DAVE, ERIN, MEMBERS, NEWEST, PARTS, fact

LATER_PARTS = replace(PARTS, evidence="e2", plan="n2")
LATER = replace(NEWEST, parts=LATER_PARTS)
CARRIED = fact(carried_scope="s1")
NOW = datetime(2026, 9, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("signed", "newest", "status", "reason", "keys"),
    [
        pytest.param(fact(), NEWEST, "CURRENT", "", (), id="same subject"),
        pytest.param(CARRIED, LATER, "CARRIED", "", (), id="the scope is the same and an entry says so"),
        pytest.param(
            fact(), LATER, "STALE", "SUBJECT_CHANGED", ("evidence", "plan"), id="the scope is the same without an entry"
        ),
        pytest.param(
            CARRIED,
            replace(LATER, scopes={"serving": ScopeFact("serving", "s2", True)}),
            "STALE",
            "SUBJECT_CHANGED",
            ("evidence", "plan"),
            id="the entry speaks of another scope",
        ),
        pytest.param(
            fact(),
            replace(LATER, parts=replace(LATER_PARTS, plan=None), scopes=None),
            "STALE",
            "SUBJECT_CHANGED",
            ("evidence", "plan"),
            id="new evidence, plan to come",
        ),
        pytest.param(
            CARRIED,
            replace(LATER, parts=replace(LATER_PARTS, policy="p2")),
            "STALE",
            "POLICY_CHANGED",
            ("policy",),
            id="another policy",
        ),
        pytest.param(
            fact(), replace(NEWEST, policy_in_force="p2"), "STALE", "POLICY_CHANGED", ("policy",), id="policy in force"
        ),
        pytest.param(
            CARRIED,
            replace(LATER, parts=replace(LATER_PARTS, planner_version="1.1.0")),
            "STALE",
            "PLANNER_CHANGED",
            ("planner_version",),
            id="another planner",
        ),
        pytest.param(
            fact(),
            replace(NEWEST, evidence_until=datetime(2026, 9, 21, 23, tzinfo=UTC)),
            "STALE",
            "EVIDENCE_EXPIRED",
            ("evidence",),
            id="the evidence grew too old",
        ),
        pytest.param(
            fact(), replace(NEWEST, evidence_until=NOW), "CURRENT", "", (), id="the evidence is just young enough"
        ),
        pytest.param(
            fact(), replace(NEWEST, waivers="w"), "STALE", "SCOPE_CHANGED", ("waivers",), id="a waiver was granted"
        ),
        pytest.param(fact(is_withdrawn=True), NEWEST, "WITHDRAWN", "", (), id="withdrawn"),
        pytest.param(fact(is_latest=False), NEWEST, "VOID", "REPLACED", (), id="replaced by a later one"),
        pytest.param(replace(CARRIED, is_replaced=True), LATER, "VOID", "REPLACED", (), id="signed anew"),
        pytest.param(fact(person=DAVE, team="networking"), NEWEST, "VOID", "SIGNER_INELIGIBLE", (), id="changed team"),
        pytest.param(fact(is_signer_able=False), NEWEST, "VOID", "SIGNER_INELIGIBLE", (), id="switched off"),
        pytest.param(
            replace(CARRIED, is_re_review_asked=True),
            LATER,
            "VOID",
            "RE_REVIEW_REQUESTED",
            (),
            id="a request to review again voids a carried one too",
        ),
        pytest.param(fact(meaning="object"), LATER, "CARRIED", "", (), id="an objection stays over revisions"),
        pytest.param(
            fact(meaning="object", is_signer_able=False), NEWEST, "CURRENT", "", (), id="an objection outlives a seat"
        ),
        pytest.param(
            fact(meaning="object", is_withdrawn=True), LATER, "WITHDRAWN", "", (), id="an objection that was lifted"
        ),
    ],
)
def test_a_signoff_counts_only_for_what_was_signed(
    signed: SignOffFact, newest: Newest, status: str, reason: str, keys: tuple[str, ...]
) -> None:
    judged = judge_signoff(signed, newest=newest, members=MEMBERS, author_ids=set())
    assert (judged.status, judged.reason, judged.keys) == (status, reason, keys)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(ScopeChange(new=("gate:t-2:ttft",), changed=("selected",)), "NEW_ITEM", id="a new gate"),
        pytest.param(ScopeChange(changed=("gate:t-1:ttft", "identity:/stack/engine")), "IDENTITY_CHANGED", id="a key"),
        pytest.param(ScopeChange(gone=("identity:/stack/engine",)), "IDENTITY_CHANGED", id="a key that is gone"),
        pytest.param(ScopeChange(changed=("gate:t-1:ttft", "selected")), "SCOPE_CHANGED", id="a reading"),
    ],
)
def test_a_stale_signoff_names_what_moved_in_the_scope(change: ScopeChange, reason: str) -> None:
    judged = judge_signoff(fact(), newest=LATER, members=MEMBERS, author_ids=set(), change=change)
    assert (judged.status, judged.reason, judged.keys) == ("STALE", reason, change.keys)


@pytest.mark.parametrize(
    ("changes", "author"),
    [
        pytest.param({}, BOB, id="the signer"),
        pytest.param({"person_id": ERIN, "giver_id": BOB}, BOB, id="in whose place it was given"),
    ],
)
def test_a_signer_who_became_an_author_no_longer_counts(changes: dict[str, Any], author: int) -> None:
    judged = judge_signoff(replace(fact(), **changes), newest=NEWEST, members=MEMBERS, author_ids={author})
    assert (judged.status, judged.reason) == ("VOID", "SIGNER_BECAME_AUTHOR")
