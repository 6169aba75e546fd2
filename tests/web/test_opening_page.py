"""What is to be opened before approving, on the page: plain forms, a meter, what moved; and settling a condition."""

import re

import pytest
from django.urls import reverse

from reviews.models import Decision, ItemOpening, PointSettlement, SignOff, SignOffPoint
from tests.reviews.factories import Cast, documents, planned, sign
from tests.reviews.logins import prove
from tests.web.conftest import Visit
from tests.web.test_decision_page import PAGE, posted, text
from tests.web.test_signoff_pages import panel


def opened(client: object, item: str) -> str:
    """Open an item with the form's own button; return where it leads."""
    answer = client.post(f"{PAGE}open", {"team": "serving", "item": item})  # type: ignore[attr-defined] # a Client
    assert answer.status_code == 302
    return str(answer["Location"])


def test_the_panel_lists_what_is_to_be_opened_and_approving_is_off(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    shown = panel(text(visit(people.bob)))
    assert "Opened 0 of 12 items</h3>" in shown
    assert 'value="gate:t-one-node:memory_headroom">memory_headroom × t-one-node</button>' in shown
    assert shown.count('class="meter-off"') == 12
    named = re.findall(r'<button class="link mono tiny"[^>]*>([^<]*)</button><span>([^<]*)', shown)
    assert len(set(named)) == len(named) == 12
    assert ("ttft saturated_p95 × t-base-16", "limit flip, none is left") in named
    assert "Approve for serving" in shown
    assert shown.count("To approve, open 12 more items first.") == 1
    approve = shown.split('value="approve"')[1].split(">")[0]
    changes = shown.split('value="request_changes"')[1].split(">")[0]
    assert ("disabled" in approve, "disabled" in changes) == (True, False)


@pytest.mark.parametrize(
    ("item", "place"),
    [
        pytest.param(
            "gate:t-one-node:throughput",
            f"{PAGE}?team=serving&cell=t-one-node~throughput~saturated#cell",
            id="a gate leads to its cell",
        ),
        pytest.param(
            "flip:limit:ttft:saturated_p95:t-base-16:NONE_LEFT:",
            f"{PAGE}?team=serving#h-flip",
            id="a flip to the flips",
        ),
    ],
)
def test_opening_an_item_leads_to_where_it_stands(
    worked: Decision, people: Cast, visit: Visit, item: str, place: str
) -> None:
    client = visit(people.bob)
    assert opened(client, item) == place
    assert ItemOpening.objects.get().item == item
    assert "Opened 1 of 12 items</h3>" in panel(text(client))


def test_once_everything_was_opened_the_approval_is_taken(worked: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    refused = client.post(
        f"{PAGE}sign", posted(client, worked, meaning="reject") | {"meaning": "approve", "statement": "Kept words."}
    )
    assert refused.status_code == 409
    assert "items are not opened yet" in refused.content.decode()
    assert "Kept words." in refused.content.decode()
    shown = panel(text(client))
    for item in {part.split('"')[0] for part in shown.split('name="item" value="')[1:]}:
        opened(client, item)
    assert "more items first" not in panel(text(client))
    assert client.post(f"{PAGE}sign", posted(client, worked)).status_code == 302
    assert SignOff.objects.get().opened_id


def test_what_moved_in_the_scope_is_shown_with_before_and_after(people: Cast, visit: Visit) -> None:
    first = planned(people)
    sign(people, first)
    planned(people, pair=documents(tokens=170000), decision=first.decision)
    shown = panel(text(visit(people.bob)))
    assert "Changed in your scope since r1</h3>" in shown
    moved = shown.split('id="moved"')[1].split('id="opening"')[0]
    assert "throughput</span>" in moved
    assert 'class="was">Pass.' in moved
    assert 'value="change:gate:throughput">throughput</button>' in shown


def test_a_reading_that_moved_by_less_than_is_shown_is_told_by_its_digits(people: Cast, visit: Visit) -> None:
    first = planned(people)
    sign(people, first)
    planned(people, pair=documents(tokens=163841), decision=first.decision)
    moved = panel(text(visit(people.bob))).split('id="moved"')[1].split('id="opening"')[0]
    assert "less than is shown, from 546.133333333 to 546.136666667:</b> Pass. Output rate" in moved
    assert 'class="was"' not in moved


def test_conditions_and_follow_ups_are_lines_and_stand_under_the_requirement(
    decided: Decision, people: Cast, visit: Visit
) -> None:
    client = visit(people.bob)
    form = posted(
        client,
        decided,
        meaning="approve_with_conditions",
        conditions="Rerun the soak.\n\n  Pin the driver. ",
        follow_ups="Write the runbook.",
    )
    assert client.post(f"{PAGE}sign", form).status_code == 302
    assert list(SignOffPoint.objects.values_list("kind", "text")) == [
        ("condition", "Rerun the soak."),
        ("condition", "Pin the driver."),
        ("follow_up", "Write the runbook."),
    ]
    requirements = text(client).split('id="requirements"')[1]
    assert "Condition: Rerun the soak. <b>Not met</b>" in requirements
    assert "Follow-up: Write the runbook. <b>Open</b>" in requirements


def test_a_condition_is_settled_on_a_page_of_its_own(decided: Decision, people: Cast, visit: Visit) -> None:
    sign(people, decided.revisions.get(), meaning="approve_with_conditions", conditions=("Rerun the soak.",))
    client = visit(people.dave)
    page = f"{PAGE}points/{SignOffPoint.objects.get().pk}/settle"
    assert "Rerun the soak." in client.get(page).content.decode()
    refused = client.post(page, {"note": " "})
    assert (refused.status_code, PointSettlement.objects.count()) == (422, 0)
    assert client.post(page, {"note": "Soak attached."}).status_code == 302
    assert "<b>Done, Dave: Soak attached.</b>" in text(client)
    assert client.get(page).status_code == 404


def test_a_carried_sign_off_says_from_where_and_leads_to_revision_and_entry(people: Cast, visit: Visit) -> None:
    first = planned(people)
    sign(people, first, people.carol, team="networking")
    planned(people, pair=documents(tokens=170000), decision=first.decision)
    requirements = text(visit(people.bob)).split('id="requirements"')[1]
    assert "<b>Carried from r1: scope and topology are byte-equal</b>" in requirements
    assert '<a href="?revision=1">r1</a>' in requirements
    assert re.search(r"/w/lab/audit/\d+/\">entry", requirements)
    assert 'class="struck"' not in requirements


def test_an_old_proof_leads_to_a_confirmation_and_keeps_what_was_typed(
    decided: Decision, people: Cast, visit: Visit
) -> None:
    client = visit(people.bob)
    form = posted(client, decided, statement="Words to keep.")
    prove(client, people.bob, method="password", age_s=301)
    asked = client.post(f"{PAGE}sign", form)
    assert (asked.status_code, asked["Location"].startswith(reverse("account_reauthenticate"))) == (302, True)
    assert not SignOff.objects.exists()
    assert "Words to keep." in panel(text(client))
