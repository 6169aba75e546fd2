import re

import pytest

from reviews.models import Decision, DecisionState
from reviews.services.people import policy_set
from tests.reviews.factories import Cast, documents, planned, sign, submitted
from tests.reviews.rules.board import BOARD
from tests.web.conftest import Visit


def text(people: Cast, visit: Visit, who: str = "bob", query: str = "") -> str:
    return visit(getattr(people, who)).get(f"/w/lab/{query}").content.decode()


def test_a_workspace_without_decisions_says_how_to_get_one(people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    assert ("No decision yet" in page, "Upload a contract and the evidence" in page) == (True, True)


def test_what_only_i_can_do_stands_first_with_the_verb(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    assert "<b>Sign for serving.</b> tp4-pp2-ep2-dp1 selected: 1 eligible, 0 inconclusive, 2 rejected." in page
    assert 'aria-label="1 need you"' in page
    assert 'id="waiting"' not in page


def test_what_others_owe_is_named(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "alice")
    assert ("Nothing needs you" in page, "1 decision waits on others." in page) == (True, True)
    assert "Serving owes 1 approval: Bob or Dave." in page
    assert 'id="mine"' not in page


def test_after_a_change_of_the_policy_the_next_revision_is_the_authors_turn(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    policy_set(workspace=people.workspace, policy=BOARD)
    page = text(people, visit, "alice")
    mine = page.split('id="mine"')[1].split("</section>")[0]
    assert (
        "<b>Make a new revision.</b> The policy changed since this revision was made. A new revision is judged by it."
        in mine
    )
    assert 'aria-label="1 need you"' in page
    assert 'id="mine"' not in text(people, visit, "bob")


def test_of_a_revision_under_the_newest_policy_nothing_is_asked_of_the_author(people: Cast, visit: Visit) -> None:
    decision = planned(people).decision
    policy_set(workspace=people.workspace, policy=BOARD)
    planned(people, pair=documents(tokens=200_000), decision=decision)
    assert 'id="mine"' not in text(people, visit, "alice")


@pytest.mark.parametrize(
    ("meaning", "did", "word"),
    [("reject", "rejected", "Rejected"), ("request_changes", "requested changes on", "Changes requested")],
)
def test_what_a_reviewer_is_against_is_the_authors_turn(
    meaning: str, did: str, word: str, worked: Decision, people: Cast, visit: Visit
) -> None:
    sign(people, worked.revisions.get(), meaning=meaning, statement="Measure node-b too.")
    mine = text(people, visit, "alice").split('id="mine"')[1].split("</section>")[0]
    assert f"<b>Answer with a new revision.</b> Bob {did} r1 for serving. “Measure node-b too.”" in mine
    assert f"{word}</span>" in mine


def test_an_answer_that_is_owed_counts_for_the_author_alone(worked: Decision, people: Cast, visit: Visit) -> None:
    sign(people, worked.revisions.get(), meaning="reject")
    assert 'aria-label="1 need you"' in text(people, visit, "alice")
    for who in ("bob", "dave"):
        page = text(people, visit, who)
        assert ("need you" in page, "Serving: Rejected by Bob." in page) == (False, True)


def test_a_rejected_team_is_not_the_one_that_is_waited_on(worked: Decision, people: Cast, visit: Visit) -> None:
    sign(people, worked.revisions.get(), meaning="reject")
    assert "D-0001" not in text(people, visit, query="?team=serving")
    assert "D-0001" in text(people, visit, query="?team=networking")


def test_once_signed_a_decision_waits_on_others(worked: Decision, people: Cast, visit: Visit) -> None:
    sign(people, worked.revisions.get())
    page = text(people, visit)
    assert ("Nothing needs you" in page, "1 of 2 requirements" in page) == (True, True)


def test_only_what_is_asked_of_a_team_is_counted(people: Cast, visit: Visit) -> None:
    policy_set(workspace=people.workspace, policy=BOARD)
    planned(people)
    assert "0 of 2 requirements" in text(people, visit)


def test_planning_is_said_in_the_list(people: Cast, visit: Visit) -> None:
    submitted(people)
    page = text(people, visit)
    assert ("Planning" in page, "Waiting for a worker." in page) == (True, True)


def test_an_approved_decision_is_not_called_a_review(worked: Decision, people: Cast, visit: Visit) -> None:
    revision = worked.revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    mine = text(people, visit).split('id="mine"')[1].split("</section>")[0]
    assert ("Put it into force." in mine, "Approved</span>" in mine, "In review</span>" in mine) == (True, True, False)
    waiting = text(people, visit, "alice").split('id="waiting"')[1].split("</section>")[0]
    assert "Networking or Serving puts it into force." in waiting


def test_closed_decisions_are_decided(worked: Decision, people: Cast, visit: Visit) -> None:
    worked.state = DecisionState.WITHDRAWN
    worked.save(update_fields=["state"])
    assert 'id="decided"' in text(people, visit)


@pytest.mark.parametrize(("who", "is_offered"), [("alice", True), ("bob", False), ("audrey", False)])
def test_only_who_may_submit_is_offered_a_new_decision(
    who: str, is_offered: bool, worked: Decision, people: Cast, visit: Visit
) -> None:
    assert ('href="/w/lab/decisions/new"' in text(people, visit, who)) == is_offered


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("?q=one+dev", True),
        ("?q=eu-west", True),
        ("?q=tp4-pp2", True),
        ("?slot=chat/eu-west&state=IN_REVIEW", True),
        ("?team=networking", True),
        ("?engine=closed-demo-engine&model=example/synthetic-moe-64b", True),
        ("?engine=vllm", False),
        ("?team=finance", False),
        ("?q=nothing", False),
        ("?slot=chat", False),
        ("?state=REJECTED", False),
    ],
)
def test_filters(query: str, is_found: bool, worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, query=query)
    assert ("D-0001" in page, "Nothing fits these filters" in page) == (is_found, not is_found)


def test_what_is_typed_is_kept_and_escaped(people: Cast, visit: Visit) -> None:
    page = text(people, visit, query="?q=%22%3E%3Cscript%3E")
    assert ('value="&quot;&gt;&lt;script&gt;"' in page, '"><script>' in page) == (True, False)


def test_titles_from_outside_are_text(people: Cast, visit: Visit) -> None:
    decision = planned(people).decision
    decision.title = "<img src=x onerror=alert(1)>"
    decision.save(update_fields=["title"])
    page = text(people, visit)
    assert ("<img src=x" in page, "&lt;img src=x onerror=alert(1)&gt;" in page) == (False, True)


def test_other_pages_are_a_link_away(people: Cast, visit: Visit) -> None:
    for at in range(26):
        submitted(people, pair=documents(slot=f"own/slot-{at}"))
    page = text(people, visit)
    assert ("D-0017" in page, "D-0016" in page, ">Show all 26</a>" in page) == (True, False, True)
    first = text(people, visit, query="?list=waiting")
    assert "Page 1 of 2, 26 decisions" in first
    assert '<a href="?list=waiting&amp;page=2">Next page</a>' in first
    second = text(people, visit, query="?list=waiting&page=2")
    assert ("D-0001" in second, "D-0002" in second) == (True, False)
    assert '<a href="?list=waiting">Previous page</a>' in second


def test_my_turn_stands_on_the_first_page_however_old_it_is(people: Cast, visit: Visit) -> None:
    planned(people)
    for at in range(26):
        submitted(people, pair=documents(slot=f"own/slot-{at}"))
    page = text(people, visit)
    assert "D-0001" in page.split('id="mine"')[1].split("</section>")[0]


def test_the_filters_offer_what_occurs(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    assert re.findall(r'<option value="([^"]+)"', page) == [
        "networking",
        "serving",
        "IN_REVIEW",
        "closed-demo-engine",
        "example/synthetic-moe-64b",
    ]


def test_a_filter_of_an_address_stays_chosen_though_nothing_fits(people: Cast, visit: Visit) -> None:
    assert '<option value="REVOKED" selected>Revoked' in text(people, visit, query="?state=REVOKED")


@pytest.mark.parametrize(
    "address", ["", "audit/", "decisions/new", "decisions/1/", "decisions/1/map/", "decisions/77/"]
)
def test_the_bar_of_every_page_says_how_many_need_me(
    address: str, worked: Decision, people: Cast, visit: Visit
) -> None:
    page = visit(people.bob).get(f"/w/lab/{address}").content.decode()
    assert ('aria-label="1 need you"' in page) == (address != "decisions/77/")
