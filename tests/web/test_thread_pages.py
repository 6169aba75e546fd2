"""The pages of threads: where a thread begins, drafts, publishing, resolving, and what other pages show of them."""

from typing import Any

import pytest
from django.test import Client

from reviews.models import Comment, CommentDraft, Decision, Thread
from reviews.services.threads import draft_save
from tests.queries import cost
from tests.reviews.factories import Cast, planned
from tests.reviews.rules.test_rule_03_carry import pair
from tests.reviews.rules.test_rule_14_threads import GATE, about, at, make_lead, publish
from tests.web.conftest import Visit

HERE = "/w/lab/decisions/1/"
LIST = f"{HERE}threads/"
NEW = f"{LIST}new"


def text(client: Client, path: str = LIST) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def post(client: Client, path: str, **sent: str) -> Any:
    return client.post(path, sent)


def first(**changes: str) -> dict[str, str]:
    return {"kind": "gate", "name": GATE, "revision": "1", "text": "Which window?", "act": "publish"} | changes


LINKS = (
    pytest.param(f"{HERE}?cell={GATE}", f"kind=gate&amp;name={GATE}", id="gate"),
    pytest.param(f"{HERE}?cell={GATE}", "kind=candidate&amp;name=t-1", id="candidate"),
    pytest.param(f"{HERE}?cell={GATE}", "kind=trial&amp;name=t-1", id="trial"),
    pytest.param(f"{HERE}map/?rank=0", "kind=rank&amp;name=t-1~0", id="rank"),
    pytest.param(
        f"{HERE}documents/contract/?at=/identity/stack/engine/version",
        "kind=contract&amp;name=/identity/stack/engine/version",
        id="key of a document",
    ),
)


@pytest.mark.parametrize(("path", "query"), LINKS)
def test_a_thread_begins_where_its_item_stands(
    path: str, query: str, decided: Decision, people: Cast, visit: Visit
) -> None:
    client = visit(people.bob)
    href = f"{NEW}?revision=1&amp;{query}"
    assert f'href="{href}"' in text(client, path)
    assert "New thread</h2>" in text(client, href.replace("&amp;", "&"))


def test_a_key_of_the_identity_names_the_team_that_owns_it(decided: Decision, people: Cast, visit: Visit) -> None:
    form = text(visit(people.bob), f"{NEW}?kind=contract&name=/identity/hardware/devices/a0/type")
    assert "<b>networking</b>, which owns this" in form
    assert "accel-80g" in form


def test_a_published_thread_is_shown_escaped_with_its_line_breaks(
    decided: Decision, people: Cast, visit: Visit
) -> None:
    client = visit(people.bob)
    answer = post(client, NEW, **first(text="First <b>line</b>\nsecond"))
    assert (answer.status_code, answer["Location"]) == (302, f"{LIST}1/")
    page = text(client, f"{LIST}1/")
    assert '<p class="post-body">First &lt;b&gt;line&lt;/b&gt;\nsecond</p>' in page


def test_the_digest_of_an_item_leads_to_its_bytes(decided: Decision, people: Cast, visit: Visit) -> None:
    publish(people, about("contract", "/owner"))
    item, client = Thread.objects.get().item_id, visit(people.bob)
    assert "item of a thread" in text(client, f"/w/lab/digests/{item}/")
    assert client.get(f"/w/lab/digests/{item}/raw").content == b'"serving"'


def test_a_draft_is_kept_until_all_are_published(decided: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    assert post(client, NEW, **first(act="draft"))["Location"] == f"{LIST}#drafts"
    page = text(client)
    assert ("Your drafts" in page, "Publish 1 draft</button>" in page) == (True, True)
    assert "Your drafts" not in text(visit(people.dave))
    assert post(client, f"{LIST}publish").status_code == 302
    assert (Comment.objects.count(), CommentDraft.objects.count()) == (1, 0)


def test_a_refused_text_is_kept_with_the_reason(decided: Decision, people: Cast, visit: Visit) -> None:
    answer = post(visit(people.bob), NEW, **first(text="Right\u202eto left"))
    page = answer.content.decode()
    assert (answer.status_code, "U+202E, which nobody sees" in page, "Right\u202eto left" in page) == (422, True, True)


def test_a_thread_blocks_from_the_form(decided: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    post(client, NEW, **first(blocking="1"))
    post(client, NEW, **first(kind="trial", name="t-1", blocking="1", team="networking"))
    assert list(Thread.objects.values_list("team", "is_blocking")) == [("serving", True), ("networking", True)]
    assert text(client).count("thread-block") == 2


def test_a_draft_is_changed_and_deleted_on_its_page(decided: Decision, people: Cast, visit: Visit) -> None:
    draft_save(**at(people, written=about()))
    path, client = f"{LIST}drafts/{CommentDraft.objects.get().pk}", visit(people.bob)
    assert "Which window is this?" in text(client, path)
    post(client, path, text="Which one?", blocking="1", act="draft")
    assert CommentDraft.objects.values_list("text", "is_blocking").get() == ("Which one?", True)
    post(client, path, act="delete")
    assert CommentDraft.objects.count() == 0
    assert client.get(path).status_code == 404


def test_a_reply_and_a_resolution_come_from_the_threads_page(decided: Decision, people: Cast, visit: Visit) -> None:
    publish(people, about(is_blocking=True))
    alice, bob = visit(people.alice), visit(people.bob)
    post(alice, f"{LIST}1/", text="The steady one.", act="publish")
    assert "The steady one." in text(bob, f"{LIST}1/")
    post(bob, f"{LIST}1/", text="", act="resolve")
    assert "Resolved by Bob" in text(alice, f"{LIST}1/")


def test_who_may_not_resolve_reads_why(decided: Decision, people: Cast, visit: Visit) -> None:
    publish(people, about(is_blocking=True))
    dave = visit(people.dave)
    assert "Only its opener resolves a blocking thread, or the lead of serving" in text(dave, f"{LIST}1/")
    assert post(dave, f"{LIST}1/", act="resolve", text="Done.").status_code == 403
    make_lead(people.dave)
    answer = post(dave, f"{LIST}1/", act="resolve", text="")
    assert (answer.status_code, "reason: expected 1 to 4000 characters" in answer.content.decode()) == (422, True)
    assert post(dave, f"{LIST}1/", act="resolve", text="Answered.").status_code == 302


def test_an_auditor_reads_threads_and_is_offered_no_form(decided: Decision, people: Cast, visit: Visit) -> None:
    publish(people, about())
    audrey = visit(people.audrey)
    for path in (LIST, f"{LIST}1/", f"{NEW}?kind=trial&name=t-1"):
        page = text(audrey, path)
        assert ("Your role is auditor" in page, "<textarea" in page) == (True, False)
    assert post(audrey, NEW, **first()).status_code == 403


def test_what_is_gone_stands_on_top_and_what_changed_shows_both(people: Cast, visit: Visit) -> None:
    revision = planned(people, pair=pair(failure=True))
    publish(people, about(), about("contract", "/gates/failure_domain/node_share"), about("contract", "/owner"))
    planned(people, pair=pair(note="another owner"), decision=revision.decision)
    page = text(visit(people.bob))
    assert page.index("gone from r2, was in r1") < page.index("Open threads")
    assert '<span class="was">serving</span> → <b class="thread-now">another owner</b>' in page
    assert "same as in r1" in page


def test_the_decisions_page_counts_open_threads_where_their_items_stand(
    decided: Decision, people: Cast, visit: Visit
) -> None:
    publish(people, about(is_blocking=True), about("candidate", "t-1"), about("rank", "t-1~0"))
    page = text(visit(people.bob), f"{HERE}?passing=1")
    assert f'href="{LIST}1/" aria-label="1 thread open, 1 blocking"' in page
    assert f'href="{LIST}" aria-label="2 threads open"' in page
    assert 'Open threads <span class="muted">3</span>' in page


def test_the_history_tells_of_publications_and_resolutions(decided: Decision, people: Cast, visit: Visit) -> None:
    publish(people, about(), about("trial", "t-1"))
    client = visit(people.bob)
    post(client, f"{LIST}1/", act="resolve", text="")
    history = text(client, f"{HERE}history/")
    assert "Bob published 2 comments in threads 1 and 2" in history
    assert "Bob resolved thread 1" in history


def test_the_cost_of_a_page_does_not_grow_with_the_threads(decided: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    publish(people, about("rank", "t-1~0", text="@dave-lab"))
    paths = (LIST, f"{LIST}1/", HERE)
    before = [cost(client, path) for path in paths]
    publish(people, *[about("rank", "t-1~0", text="@dave-lab @carol-lab")] * 199)
    assert [cost(client, path) for path in paths] == before
    assert Thread.objects.count() == 200


def test_a_long_list_comes_in_pages_with_what_is_gone_first(decided: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    publish(people, *[about("trial", "t-1", text=f"Comment {at}.") for at in range(30)])
    post(client, f"{LIST}1/", act="resolve", text="")
    first, last = text(client, LIST), text(client, f"{LIST}?page=2")
    assert ("1–25 of 30 threads" in first, "26–30 of 30 threads" in last) == (True, True)
    assert ('href="?page=2">Next threads' in first, 'href="?page=1">Previous threads' in last) == (True, True)
    assert ('Open threads <span class="muted">29</span>' in first, "Comment 0." in first) == (True, False)
    assert ('Resolved <span class="muted">1</span>' in last, "Comment 0." in last) == (True, True)
    assert "1–25 of 30 threads" in text(client, f"{LIST}?page=99")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(f"{LIST}7/", id="no such thread"),
        pytest.param(f"{LIST}drafts/7", id="no such draft"),
        pytest.param(f"{NEW}?kind=gate&name=t-9~x~y", id="no such item"),
        pytest.param(f"{NEW}?kind=%00&name=%00", id="nonsense"),
    ],
)
def test_what_is_not_there_is_said(path: str, decided: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.bob).get(path).status_code == 404
