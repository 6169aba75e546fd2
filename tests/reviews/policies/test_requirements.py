"""Requirements and approval, judged from plain values. Sign-offs are judged in ``test_signoff_status``."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from reviews.facts import Blocker, Member, Newest, ScopeFact, SignOffFact, SubjectParts
from reviews.policies.requirements import Approval, Case, Requirement, judge_approval, judge_requirements, overridden
from reviews.policies.signoff_status import JudgedSignOff

PARTS = SubjectParts(contract="c1", evidence="e1", identity="i1", policy="p1", planner_version="1.0.0", plan="n1")
PLANNED_AT = datetime(2026, 9, 21, 12, tzinfo=UTC)
SIGNED_AT = datetime(2026, 9, 21, 13, tzinfo=UTC)
BOB, CAROL, DAVE, ERIN = 2, 3, 4, 5
MEMBERS = (
    Member(CAROL, "carol", "Carol", "networking", is_active=True, is_lead=False),
    Member(BOB, "bob", "Bob", "serving", is_active=True, is_lead=False),
    Member(DAVE, "dave", "Dave", "serving", is_active=True, is_lead=False),
)
NEWEST = Newest(
    parts=PARTS,
    author="Alice",
    since=PLANNED_AT,
    now=datetime(2026, 9, 22, tzinfo=UTC),
    scopes={"serving": ScopeFact("serving", "s1", True), "networking": ScopeFact("networking", "w1", True)},
)
NAMES = {BOB: "Bob", CAROL: "Carol", DAVE: "Dave", ERIN: "Erin for Bob"}


def fact(person: int = BOB, team: str = "serving", meaning: str = "approve", **changes: Any) -> SignOffFact:
    plain = SignOffFact(
        id=1,
        revision=1,
        team=team,
        person_id=person,
        person=NAMES[person],
        meaning=meaning,
        signed=PARTS,
        signed_at=SIGNED_AT,
        is_latest=True,
        is_withdrawn=False,
    )
    return replace(plain, **changes)


def judged(*facts: SignOffFact) -> list[JudgedSignOff]:
    return [JudgedSignOff(one, "CURRENT") for one in facts]


def requirement(*facts: SignOffFact, quorum: int = 1, **changes: Any) -> Requirement:
    case: dict[str, Any] = {
        "quorums": {"serving": quorum},
        "newest": NEWEST,
        "judged": judged(*facts),
        "members": MEMBERS,
        "author_ids": frozenset(),
        "admins": ("Ada",),
    }
    return judge_requirements(Case(**(case | changes)))[0]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            requirement(),
            Requirement("serving", 1, 0, "UNSATISFIED", "0 of 1 approval given.", ("Bob", "Dave"), PLANNED_AT),
            id="nobody yet",
        ),
        pytest.param(
            requirement(fact(BOB)),
            Requirement("serving", 1, 1, "SATISFIED", "Bob approved.", (), SIGNED_AT),
            id="one of one",
        ),
        pytest.param(
            requirement(fact(BOB, meaning="accept_risk")),
            Requirement("serving", 1, 1, "SATISFIED", "Bob approved.", (), SIGNED_AT),
            id="who accepts the risk fills a seat",
        ),
        pytest.param(
            requirement(fact(BOB), quorum=2),
            Requirement("serving", 2, 1, "UNSATISFIED", "1 of 2 approvals given.", ("Dave",), PLANNED_AT),
            id="one of two",
        ),
        pytest.param(
            requirement(fact(BOB), fact(BOB), quorum=2),
            Requirement("serving", 2, 1, "UNSATISFIED", "1 of 2 approvals given.", ("Dave",), PLANNED_AT),
            id="one person counts once",
        ),
        pytest.param(
            requirement(fact(BOB), fact(DAVE), quorum=2),
            Requirement("serving", 2, 2, "SATISFIED", "Bob, Dave approved.", (), SIGNED_AT),
            id="two of two",
        ),
        pytest.param(
            requirement(fact(BOB), fact(DAVE, meaning="reject")),
            Requirement(
                "serving", 1, 1, "UNSATISFIED", "Rejected by Dave.", ("Alice",), SIGNED_AT, is_answered_by_author=True
            ),
            id="a rejection outweighs",
        ),
        pytest.param(
            requirement(fact(DAVE, meaning="request_changes")),
            Requirement(
                "serving",
                1,
                0,
                "UNSATISFIED",
                "Changes requested by Dave.",
                ("Alice",),
                SIGNED_AT,
                is_answered_by_author=True,
            ),
            id="changes requested",
        ),
        pytest.param(
            requirement(fact(BOB), fact(DAVE, meaning="object")),
            Requirement(
                "serving", 1, 1, "UNSATISFIED", "Dave objects. It stays until it is lifted.", ("Dave",), SIGNED_AT
            ),
            id="an objection",
        ),
        pytest.param(
            requirement(fact(BOB, meaning="approve_with_conditions", open_conditions=("Rerun the soak.",))),
            Requirement(
                "serving", 1, 1, "UNSATISFIED", "Condition of Bob not met: Rerun the soak.", ("Bob",), SIGNED_AT
            ),
            id="a condition that is not met",
        ),
        pytest.param(
            requirement(fact(BOB), blockers={"serving": [Blocker("Blocking thread 3.", ("Dave",), PLANNED_AT)]}),
            Requirement("serving", 1, 1, "UNSATISFIED", "Blocking thread 3.", ("Dave",), PLANNED_AT),
            id="something else blocks",
        ),
        pytest.param(
            requirement(fact(BOB), newest=replace(NEWEST, policy_in_force="p2")),
            Requirement(
                "serving",
                1,
                0,
                "UNSATISFIED",
                "The policy changed since this revision was made. A new revision is judged by it.",
                ("Alice",),
                PLANNED_AT,
                is_answered_by_author=True,
            ),
            id="the policy changed",
        ),
    ],
)
def test_what_a_team_owes(found: Requirement, expected: Requirement) -> None:
    assert found == expected


def test_stale_signoffs_count_for_nothing() -> None:
    stale = JudgedSignOff(fact(), "STALE", "SUBJECT_CHANGED", ("evidence",))
    assert requirement(judged=[stale]).status == "UNSATISFIED"


def test_carried_signoffs_count_from_when_they_were_carried() -> None:
    carried_at = datetime(2026, 9, 21, 15, tzinfo=UTC)
    found = requirement(judged=[JudgedSignOff(fact(carried_at=carried_at), "CARRIED")])
    assert (found.status, found.since) == ("SATISFIED", carried_at)


def test_a_delegation_lets_one_more_person_sign_but_adds_no_seat() -> None:
    delegated = Member(ERIN, "erin", "Erin for Bob", "serving", is_active=True, is_lead=False, in_place_of=BOB)
    members = (*MEMBERS, delegated)
    assert requirement(members=members).owed_by == ("Bob", "Dave", "Erin for Bob")
    assert requirement(members=members, quorum=3).status == "UNSATISFIABLE"
    taken = requirement(fact(ERIN, giver_id=BOB), members=members, quorum=2)
    assert (taken.approvals, taken.owed_by) == (1, ("Dave",))


def test_an_emergency_shows_what_blocks_as_overridden_and_hides_no_error() -> None:
    rows = [requirement(), requirement(fact(BOB)), replace(requirement(), status="ERROR")]
    shown = overridden(rows, incident="INC-7", until="2026-09-24 12:00 UTC")
    assert [row.status for row in shown] == ["OVERRIDDEN", "SATISFIED", "ERROR"]
    assert shown[0].because == (
        "Overridden by emergency INC-7 until 2026-09-24 12:00 UTC. Review owed: 0 of 1 approval given."
    )


DONE = Requirement("serving", 1, 1, "SATISFIED", "")
OWED = Requirement("networking", 1, 0, "UNSATISFIED", "")
ABSENT = Requirement("kernel", 1, 0, "NOT_APPLICABLE", "")
BOTH = judged(fact(BOB), fact(CAROL, "networking"))
NO_TEAM = Approval(False, "The policy asks no team. Without a requirement nothing is approved.")


@pytest.mark.parametrize(
    ("requirements", "signoffs", "word", "expected"),
    [
        pytest.param(
            [DONE, ABSENT], BOTH, "SELECT_TOPOLOGY", Approval(True, "Every team approved this revision."), id="approved"
        ),
        pytest.param([DONE], BOTH, None, Approval(False, "There is no plan yet."), id="no plan"),
        pytest.param([], BOTH, "SELECT_TOPOLOGY", NO_TEAM, id="empty policy"),
        pytest.param([ABSENT], BOTH, "SELECT_TOPOLOGY", NO_TEAM, id="nobody is touched"),
        pytest.param(
            [DONE, OWED], BOTH, "SELECT_TOPOLOGY", Approval(False, "Waiting on networking."), id="a team owes"
        ),
        pytest.param(
            [DONE],
            BOTH[:1],
            "SELECT_TOPOLOGY",
            Approval(False, "1 person approved. At least 2 people have to agree."),
            id="one person alone",
        ),
        pytest.param(
            [DONE],
            BOTH,
            "INCONCLUSIVE",
            Approval(
                False,
                "Every team agrees that nothing is selected. "
                "To select a topology, measure what is missing and submit a new revision.",
            ),
            id="nothing selected",
        ),
    ],
)
def test_when_a_revision_is_approved(
    requirements: list[Requirement], signoffs: list[JudgedSignOff], word: str | None, expected: Approval
) -> None:
    assert judge_approval(requirements, signoffs, decision_word=word) == expected
