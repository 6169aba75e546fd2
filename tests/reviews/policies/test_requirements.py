"""Sign-offs, requirements and approval, judged from plain values."""

from dataclasses import replace

import pytest

from reviews.facts import Member, SignOffFact, SubjectParts
from reviews.policies.requirements import (
    Approval,
    JudgedSignOff,
    Requirement,
    judge_approval,
    judge_requirements,
    judge_signoff,
)

PARTS = SubjectParts(contract="c1", evidence="e1", identity="i1", policy="p1", planner_version="1.0.0", plan="n1")
BOB, CAROL, DAVE = 2, 3, 4
MEMBERS = (
    Member(CAROL, "carol", "Carol", "networking", is_active=True, is_lead=False),
    Member(BOB, "bob", "Bob", "serving", is_active=True, is_lead=False),
    Member(DAVE, "dave", "Dave", "serving", is_active=True, is_lead=False),
)


def fact(person: int = BOB, team: str = "serving", meaning: str = "approve", **changes: object) -> SignOffFact:
    plain = SignOffFact(
        id=1,
        revision=1,
        team=team,
        person_id=person,
        meaning=meaning,
        signed=PARTS,
        is_latest=True,
        is_withdrawn=False,
    )
    return replace(plain, **changes)  # type: ignore[arg-type] # a table of keyword arguments


@pytest.mark.parametrize(
    ("signed", "newest", "status", "reason", "keys"),
    [
        pytest.param(fact(), PARTS, "CURRENT", "", (), id="same subject"),
        pytest.param(
            fact(),
            replace(PARTS, evidence="e2", plan="n2"),
            "STALE",
            "SUBJECT_CHANGED",
            ("evidence", "plan"),
            id="new evidence",
        ),
        pytest.param(
            fact(),
            replace(PARTS, evidence="e2", plan=None),
            "STALE",
            "SUBJECT_CHANGED",
            ("evidence", "plan"),
            id="new evidence, plan to come",
        ),
        pytest.param(
            fact(),
            replace(PARTS, contract="c2", identity="i2"),
            "STALE",
            "SUBJECT_CHANGED",
            ("contract", "identity"),
            id="new contract",
        ),
        pytest.param(fact(), replace(PARTS, policy="p2"), "STALE", "SUBJECT_CHANGED", ("policy",), id="another policy"),
        pytest.param(
            fact(),
            replace(PARTS, planner_version="1.1.0"),
            "STALE",
            "SUBJECT_CHANGED",
            ("planner_version",),
            id="another planner",
        ),
        pytest.param(fact(is_withdrawn=True), PARTS, "WITHDRAWN", "", (), id="withdrawn"),
        pytest.param(fact(is_latest=False), PARTS, "VOID", "REPLACED", (), id="replaced by a later one"),
        pytest.param(fact(person=9), PARTS, "VOID", "SIGNER_INELIGIBLE", (), id="left the team"),
        pytest.param(fact(team="networking"), PARTS, "VOID", "SIGNER_INELIGIBLE", (), id="changed team"),
    ],
)
def test_a_signoff_counts_only_for_what_was_signed(
    signed: SignOffFact, newest: SubjectParts, status: str, reason: str, keys: tuple[str, ...]
) -> None:
    judged = judge_signoff(signed, newest=newest, members=MEMBERS, author_ids=set())
    assert (judged.status, judged.reason, judged.keys) == (status, reason, keys)


def test_a_signer_who_became_an_author_no_longer_counts() -> None:
    judged = judge_signoff(fact(), newest=PARTS, members=MEMBERS, author_ids={BOB})
    assert (judged.status, judged.reason) == ("VOID", "SIGNER_BECAME_AUTHOR")


def test_somebody_switched_off_no_longer_counts() -> None:
    members = (replace(MEMBERS[1], is_active=False),)
    judged = judge_signoff(fact(), newest=PARTS, members=members, author_ids=set())
    assert (judged.status, judged.reason) == ("VOID", "SIGNER_INELIGIBLE")


def requirement(*facts: SignOffFact, quorum: int = 1, authors: frozenset[int] = frozenset()) -> Requirement:
    judged = [JudgedSignOff(one, "CURRENT") for one in facts]
    return judge_requirements({"serving": quorum}, judged, members=MEMBERS, author_ids=authors, author="Alice")[0]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            requirement(),
            Requirement("serving", 1, 0, "UNSATISFIED", "0 of 1 approval given.", ("Bob", "Dave")),
            id="nobody yet",
        ),
        pytest.param(
            requirement(fact(BOB)), Requirement("serving", 1, 1, "SATISFIED", "Bob approved.", ()), id="one of one"
        ),
        pytest.param(
            requirement(fact(BOB), quorum=2),
            Requirement("serving", 2, 1, "UNSATISFIED", "1 of 2 approvals given.", ("Dave",)),
            id="one of two",
        ),
        pytest.param(
            requirement(fact(BOB), fact(BOB), quorum=2),
            Requirement("serving", 2, 1, "UNSATISFIED", "1 of 2 approvals given.", ("Dave",)),
            id="one person counts once",
        ),
        pytest.param(
            requirement(fact(BOB), fact(DAVE), quorum=2),
            Requirement("serving", 2, 2, "SATISFIED", "Bob, Dave approved.", ()),
            id="two of two",
        ),
        pytest.param(
            requirement(fact(BOB), fact(DAVE, meaning="reject")),
            Requirement("serving", 1, 1, "UNSATISFIED", "Rejected by Dave.", ("Alice",), True),
            id="a rejection outweighs",
        ),
        pytest.param(
            requirement(fact(DAVE, meaning="request_changes")),
            Requirement("serving", 1, 0, "UNSATISFIED", "Changes requested by Dave.", ("Alice",), True),
            id="changes requested",
        ),
        pytest.param(
            requirement(quorum=3),
            Requirement(
                "serving", 3, 0, "UNSATISFIABLE", "serving has 2 eligible members of 3. An admin adds members.", ()
            ),
            id="too few members",
        ),
        pytest.param(
            requirement(quorum=2, authors=frozenset({BOB})),
            Requirement(
                "serving", 2, 0, "UNSATISFIABLE", "serving has 1 eligible member of 2. An admin adds members.", ()
            ),
            id="too few who are no author",
        ),
    ],
)
def test_what_a_team_owes(found: Requirement, expected: Requirement) -> None:
    assert found == expected


def test_stale_signoffs_count_for_nothing() -> None:
    stale = JudgedSignOff(fact(), "STALE", "SUBJECT_CHANGED", ("evidence",))
    found = judge_requirements({"serving": 1}, [stale], members=MEMBERS, author_ids=set(), author="Alice")
    assert found[0].status == "UNSATISFIED"


DONE = Requirement("serving", 1, 1, "SATISFIED", "", ())
OWED = Requirement("networking", 1, 0, "UNSATISFIED", "", ())
BOTH = [JudgedSignOff(fact(BOB), "CURRENT"), JudgedSignOff(fact(CAROL, "networking"), "CURRENT")]


@pytest.mark.parametrize(
    ("requirements", "judged", "word", "expected"),
    [
        pytest.param(
            [DONE], BOTH, "SELECT_TOPOLOGY", Approval(True, "Every team approved this revision."), id="approved"
        ),
        pytest.param([DONE], BOTH, None, Approval(False, "There is no plan yet."), id="no plan"),
        pytest.param(
            [],
            BOTH,
            "SELECT_TOPOLOGY",
            Approval(False, "The policy asks no team. Without a requirement nothing is approved."),
            id="empty policy",
        ),
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
    requirements: list[Requirement], judged: list[JudgedSignOff], word: str | None, expected: Approval
) -> None:
    assert judge_approval(requirements, judged, decision_word=word) == expected
