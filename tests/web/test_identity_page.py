"""The page of what runs against a decision, its files, and the way to a draft of a revision."""

import csv
import json

import pytest
from django.test import Client

from planner.contract_builder.draft import draft_from
from reviews.errors import InvalidRequestError
from reviews.models import Draft, HostReport
from tests.queries import cost
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.hosts import RANKS, SLOT, post, report, rewritten, running, stamp, two_nodes, with_engine
from tests.web.conftest import Visit
from tests.web.reading import read

pytestmark = pytest.mark.django_db

PAGE = "/w/lab/decisions/1/identity/"
MOVED = {"world_size": 2, "ranks": [RANKS[0] | {"device": "a7"}]}


def shown(client: Client, path: str = PAGE) -> str:
    return read(client.get(path))


def differing(people: Cast) -> None:
    running(people)
    post(people, with_engine(report("node-a", ranks_seen=MOVED), "2.0"), report("node-b"))


def test_a_machine_that_matches_says_so(people: Cast, visit: Visit) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    text = shown(visit(people.bob))
    assert "<b>Matches.</b>" in text
    assert "Every key that the contract binds is reported and as decided." in text
    assert "Every rank runs where it was decided." in text


def test_what_differs_stands_beside_what_was_decided_with_host_and_owner(people: Cast, visit: Visit) -> None:
    differing(people)
    text = shown(visit(people.bob))
    row = text[text.index('scope="row">/stack/engine/version') :].split("</tr>")[0]
    assert [word in row for word in ("Differs", "1.0.0", "2.0", "node-a", "Serving")] == [True] * 5
    assert "<b>Hosts contradict one another.</b>" in text


def test_a_rank_elsewhere_leads_to_the_rank_map(people: Cast, visit: Visit) -> None:
    differing(people)
    text = shown(visit(people.bob))
    assert 'href="/w/lab/decisions/1/map/?revision=1&amp;trial=t-1&amp;rank=0">rank 0</a>' in text
    assert "node-a · a7" in text


def test_a_differing_placement_is_said_beside_keys_that_are_all_as_decided(people: Cast, visit: Visit) -> None:
    running(people)
    post(people, report("node-a", ranks_seen=MOVED), report("node-b"))
    assert "22 of 22 as decided, the placement is not</span>" in shown(visit(people.bob))


def test_hosts_that_are_waited_for_are_named(people: Cast, visit: Visit) -> None:
    running(people)
    post(people, report("node-a"))
    text = shown(visit(people.bob))
    assert "<b>Not known to match.</b>" in text
    assert '<dt class="fact-name">Nodes without a report</dt><dd class="fact mono">node-b</dd>' in text


def test_a_machine_that_was_put_back_is_said_to_match_again(people: Cast, visit: Visit) -> None:
    differing(people)
    post(people, report("node-a", collected_at=stamp(9)))
    text = shown(visit(people.bob))
    assert "<b>The slot matches again.</b>" in text
    assert "Only a new revision puts it into force again." in text


def test_silence_is_said_with_the_age_of_the_last_report(people: Cast, visit: Visit) -> None:
    running(people)
    post(people, report("node-a"), report("node-b"))
    at = HostReport.objects.latest("pk").since
    rewritten(HostReport.objects.all(), collected_at=at.replace(year=at.year - 1))
    text = shown(visit(people.bob))
    assert "<b>Silent.</b>" in text
    assert "Last report 365 d ago." in text


def test_a_report_is_given_behind_its_digest(people: Cast, visit: Visit) -> None:
    running(people)
    sent = json.dumps(report("node-a")).encode()
    digest = post(people, sent).live.hosts[0].sha256
    answer = visit(people.bob).get(f"{PAGE}reports/{digest}")
    assert (answer.status_code, answer.content) == (200, sent)


def test_the_files_hold_every_key_and_every_rank_at_fault(people: Cast, visit: Visit) -> None:
    differing(people)
    bob = visit(people.bob)
    tree = json.loads(bob.get(f"{PAGE}live.json").content)
    assert (tree["matches"], len(tree["keys"]), [row["rank"] for row in tree["ranks"]]) == (False, 22, [0])
    lines = bob.get(f"{PAGE}live.csv").content.decode().splitlines()
    assert lines[0].replace('"', "") == "kind,key,outcome,decided,found,host,since,team"
    assert len(lines) == 24


def test_both_files_say_what_came_of_a_key_in_the_same_words(people: Cast, visit: Visit) -> None:
    differing(people)
    bob = visit(people.bob)
    tree = json.loads(bob.get(f"{PAGE}live.json").content)
    rows = csv.DictReader(bob.get(f"{PAGE}live.csv").content.decode().splitlines())
    said = [(row["key"], row["outcome"]) for row in rows if row["kind"] == "key"]
    assert said == [(one["key"], one["outcome"]) for one in tree["keys"]]
    assert {outcome for _, outcome in said} == {"differs", "as decided"}


def test_one_click_drafts_a_revision_from_the_difference(people: Cast, visit: Visit) -> None:
    differing(people)
    alice = visit(people.alice)
    answer = alice.post(f"{PAGE}draft")
    stored = Draft.objects.get()
    assert answer["Location"] == f"/w/lab/contracts/{stored.pk}/review/"
    draft = draft_from(bytes(stored.body))
    assert draft.tree["identity"]["stack"]["engine"]["version"] == "2.0"
    assert list(draft.origins) == ["/identity/stack/engine/version"]
    origin = draft.origins["/identity/stack/engine/version"]
    assert origin.startswith("report of node-a, ")
    assert origin.endswith('; decided before: "1.0.0"')
    assert (draft.revises, [note.split(":")[0] for note in draft.notes]) == (1, ["rank_map/0/device"])
    text = shown(alice, answer["Location"])
    assert f'href="/w/lab/decisions/new?contract_draft={stored.pk}&amp;decision=1"' in text
    assert "report of node-a, " in text


def test_a_key_that_is_missing_is_not_invented(people: Cast, visit: Visit) -> None:
    running(people)
    tree = with_engine(report("node-a"), "2.0")
    del tree["identity"]["model"]["revision"]
    post(people, tree)
    visit(people.alice).post(f"{PAGE}draft")
    draft = draft_from(bytes(Draft.objects.get().body))
    assert draft.tree["identity"]["model"]["revision"] == "r1"
    assert "/model/revision" in draft.notes[-1]


def test_nothing_is_drafted_where_nothing_differs(people: Cast, visit: Visit) -> None:
    running(people)
    post(people, report("node-a"))
    assert visit(people.alice).post(f"{PAGE}draft").status_code == 409
    assert "Draft a revision" not in shown(visit(people.alice))


def test_who_may_not_submit_is_offered_no_draft(people: Cast, visit: Visit) -> None:
    differing(people)
    assert "Draft a revision" not in shown(visit(people.bob))
    assert visit(people.bob).post(f"{PAGE}draft").status_code == 403


def test_the_page_asks_as_often_however_many_hosts_report(people: Cast, visit: Visit) -> None:
    running(people)
    bob = visit(people.bob)
    post(people, report("node-a"))
    shown(bob)
    one = cost(bob, PAGE)
    more = [report("node-a", collected_at=stamp(9), host=f"gpu-{number}", node=f"x-{number}") for number in range(8)]
    post(people, *more)
    assert cost(bob, PAGE) == one


def test_a_decision_that_was_never_in_force_says_so(people: Cast, visit: Visit) -> None:
    planned(people)
    assert "<b>Nothing in force.</b>" in shown(visit(people.bob))


def test_one_that_was_never_in_force_beside_one_that_is_names_both(people: Cast, visit: Visit) -> None:
    planned(people, pair=documents(slot=SLOT))
    running(people)
    page = shown(visit(people.bob))
    assert "<b>Never in force.</b> D-0001 was never put into force." in page
    assert "<b>Not what the slot holds now.</b> D-0002 r1" in page


def test_a_host_that_says_nothing_is_not_as_decided(people: Cast, visit: Visit) -> None:
    running(people)
    silent = report("node-a", identity={}, ranks_seen={"world_size": 2, "ranks": []})
    post(people, silent, report("node-b"))
    text = shown(visit(people.bob))
    hosts = text[text.index('id="hosts"') :]
    row = hosts[hosts.index('scope="row">node-a') :].split("</tr>")[0]
    assert "Says nothing" in row
    assert "0 keys and 0 ranks." in row


def test_ranks_that_nobody_placed_are_not_said_to_run_where_decided(people: Cast, visit: Visit) -> None:
    running(people)
    post(people, json.loads(two_nodes().contract)["identity"])
    text = shown(visit(people.bob))
    assert "Every rank runs where it was decided." not in text
    assert "Where each rank runs was not reported" in text


def test_hosts_that_flap_or_that_nobody_decided_say_so(people: Cast, visit: Visit) -> None:
    running(people)
    post(people, report("node-b"), report("node-a", node="x-1"))
    for turn in range(7):
        tree = report("node-a", collected_at=stamp(5 + turn))
        post(people, with_engine(tree, "2.0") if turn % 2 else tree)
    text = shown(visit(people.bob))
    assert "<b>Flaps.</b>" in text
    hosts = text[text.index('id="hosts"') :]
    assert "6 changes of /stack/engine/version." in hosts[hosts.index('scope="row">node-a') :].split("</tr>")[0]
    assert "In no decided rank map." in hosts[hosts.index('scope="row">x-1') :].split("</tr>")[0]


def test_a_refusal_that_is_of_no_host_stands_below_the_hosts(people: Cast, visit: Visit) -> None:
    running(people)
    with pytest.raises(InvalidRequestError):
        post(people, report("node-a", node="x-1", collected_at=stamp(90)))
    text = shown(visit(people.bob))
    assert "Of no host listed here: Refused" in text


def test_where_no_host_reports_the_command_names_this_server(people: Cast, visit: Visit) -> None:
    running(people)
    command = f"topogate identity post report.json --slot {SLOT} --server http://testserver --workspace lab<"
    assert command in shown(visit(people.bob))
