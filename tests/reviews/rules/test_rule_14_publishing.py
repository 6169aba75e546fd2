"""Rule 14: comments are drafts until they are published in one act, members are mentioned, refusals are entries."""

import pytest

from reviews.errors import ConflictError, InvalidRequestError, NotAllowedError, NotFoundError
from reviews.models import AuditEntry, Comment, CommentDraft, Mention, Thread
from reviews.selectors.threads import discussion
from reviews.services.comment_checks import Written
from reviews.services.threads import draft_delete, draft_save, drafts_publish, thread_resolve
from tests.reviews.factories import Cast, last_entry, planned
from tests.reviews.rules.test_rule_14_threads import GATE, about, at, publish, threads

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def test_a_reply_goes_to_its_thread_until_that_is_resolved(people: Cast) -> None:
    planned(people)
    publish(people, about())
    publish(people, Written(thread=1, text="The steady one."), who=people.alice)
    assert [(row.number, row.person, row.text) for row in threads(people)[0].comments] == [
        (1, "Bob", "Which window is this?"),
        (2, "Alice", "The steady one."),
    ]
    thread_resolve(**at(people, thread=1))
    with pytest.raises(InvalidRequestError, match="thread: expected an open thread"):
        publish(people, Written(thread=1, text="One more thing."))


def test_drafts_are_seen_by_their_writer_alone_and_publish_in_one_act(people: Cast) -> None:
    planned(people)
    draft_save(**at(people, written=about()))
    draft_save(**at(people, written=about("trial", "t-1", text="Rerun?")))
    assert (threads(people), discussion(actor=people.dave, workspace=people.workspace, number=1).drafts) == ((), ())
    before = AuditEntry.objects.count()
    drafts_publish(**at(people))
    entry = last_entry(people)
    assert (AuditEntry.objects.count() - before, entry["action"]) == (1, "comments.published")
    assert [said["text"] for said in entry["payload"]["comments"]] == ["Which window is this?", "Rerun?"]
    assert ([row.number for row in threads(people)], CommentDraft.objects.count()) == ([1, 2], 0)
    assert {row.entry for thread in threads(people) for row in thread.comments} == {entry["seq"]}


def test_an_entry_says_what_was_opened_about_what(people: Cast) -> None:
    planned(people)
    publish(people, about(is_blocking=True))
    assert last_entry(people)["payload"]["comments"] == [
        {
            "thread": 1,
            "comment": 1,
            "text": "Which window is this?",
            "mentions": [],
            "opens": {
                "kind": "gate",
                "name": GATE,
                "item": Thread.objects.get().item_id,
                "revision": 1,
                "team": "serving",
                "blocking": True,
            },
        }
    ]


def test_a_draft_is_changed_and_deleted_without_a_trace(people: Cast) -> None:
    planned(people)
    before = AuditEntry.objects.count()
    draft_save(**at(people, written=about()))
    draft = CommentDraft.objects.get()
    draft_save(**at(people, written=Written(text="Which window, exactly?"), draft_id=draft.pk))
    draft.refresh_from_db()
    assert (draft.text, draft.name) == ("Which window, exactly?", GATE)
    draft_delete(**at(people, draft_id=draft.pk))
    assert (CommentDraft.objects.count(), AuditEntry.objects.count()) == (0, before)


def test_a_draft_of_somebody_else_is_not_there(people: Cast) -> None:
    planned(people)
    draft_save(**at(people, written=about()))
    with pytest.raises(NotFoundError, match="You have no draft with this number"):
        draft_delete(**at(people, people.dave, draft_id=CommentDraft.objects.get().pk))


def test_nothing_is_published_where_one_draft_cannot_be(people: Cast) -> None:
    planned(people)
    publish(people, about())
    draft_save(**at(people, written=Written(thread=1, text="And this?")))
    draft_save(**at(people, written=about("trial", "t-1")))
    thread_resolve(**at(people, people.dave, thread=1))
    with pytest.raises(InvalidRequestError, match="comments/0/thread: expected an open thread"):
        drafts_publish(**at(people))
    assert (Comment.objects.count(), CommentDraft.objects.count()) == (1, 2)


def test_publishing_without_a_draft_is_refused(people: Cast) -> None:
    planned(people)
    with pytest.raises(ConflictError, match="You have no draft on D-0001"):
        drafts_publish(**at(people))


def test_members_are_mentioned_by_login_and_strangers_named(people: Cast) -> None:
    planned(people)
    publish(people, about(text="@dave-lab, see @carol-lab. Not @charlie-lab, nor ops@example.com."))
    (comment,) = threads(people)[0].comments
    assert (comment.mentions, comment.strangers) == (("Dave", "Carol"), ("charlie-lab",))
    assert last_entry(people)["payload"]["comments"][0]["mentions"] == [people.dave.token, people.carol.token]
    assert set(Mention.objects.values_list("person__login", flat=True)) == {"dave-lab", "carol-lab"}


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        pytest.param(about(text=" "), "text: expected 1 to 4000 characters, found nothing.", id="nothing said"),
        pytest.param(
            about(text="a\u202eb"),
            "text: expected 1 to 4000 characters, found 3 characters, among them U+202E, which nobody sees.",
            id="signs that nobody sees",
        ),
        pytest.param(
            about("planet"),
            "kind: expected one of gate, trial, rank, candidate, identity, contract, found planet.",
            id="no kind",
        ),
        pytest.param(
            about("gate", "t-1~throughput"),
            "name: expected a gate of r1: trial~gate~limit, where a gate without limits has the limit always, "
            "found t-1~throughput.",
            id="no such gate",
        ),
        pytest.param(
            about("rank", "t-1~7"), "name: expected a rank of r1: trial~rank, found t-1~7.", id="no such rank"
        ),
        pytest.param(
            about("identity", "/hardware"),
            "name: expected an identity key of r1: its JSON pointer, below /identity, found /hardware.",
            id="a section is no key",
        ),
        pytest.param(about(revision=4), "revision: expected a planned revision of D-0001, found r4.", id="no revision"),
        pytest.param(
            about("trial", "t-1", is_blocking=True),
            "team: expected a team of the policy: networking, serving, found nothing.",
            id="blocks nobody",
        ),
        pytest.param(
            Written(thread=5, text="Yes."),
            "thread: expected the number of a thread of D-0001, found 5.",
            id="no thread",
        ),
    ],
)
def test_what_cannot_be_published_is_named_and_the_attempt_is_an_entry(
    people: Cast, written: Written, sentence: str
) -> None:
    planned(people)
    with pytest.raises(InvalidRequestError) as refused:
        publish(people, written)
    assert refused.value.message == sentence
    assert (last_entry(people)["action"], Thread.objects.count()) == ("comments.refused", 0)


def test_all_problems_of_all_comments_are_named_at_once(people: Cast) -> None:
    planned(people)
    with pytest.raises(InvalidRequestError) as refused:
        publish(people, about(text="", name="t-9~throughput~floor"), about("trial", "t-9"))
    assert [problem.pointer for problem in refused.value.problems] == [
        "comments/0/text",
        "comments/0/name",
        "comments/1/name",
    ]


def test_an_auditor_reads_and_does_not_write(people: Cast) -> None:
    planned(people)
    publish(people, about())
    assert len(threads(people, people.audrey)) == 1
    with pytest.raises(NotAllowedError, match="Your role is auditor"):
        publish(people, about(), who=people.audrey)
    assert last_entry(people)["action"] == "comments.refused"


def test_a_stranger_learns_nothing(people: Cast) -> None:
    planned(people)
    with pytest.raises(NotFoundError, match="There is no workspace lab"):
        discussion(actor=people.charlie, workspace=people.workspace, number=1)
    with pytest.raises(NotFoundError, match="There is no workspace lab"):
        publish(people, about(), who=people.charlie)
