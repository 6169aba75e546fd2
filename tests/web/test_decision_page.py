import re
from uuid import uuid4

from django.test import Client
from django.utils import timezone

from reviews.models import Decision, JobState, Person, PlanJob, SignOff
from reviews.policies.signoff_status import APPROVING
from tests.reviews.factories import Cast, documents, example_pair, open_all, planned, sign, submitted
from tests.web.conftest import Visit
from tests.web.reading import read

PAGE = "/w/lab/decisions/1/"


def text(client: Client, address: str = PAGE) -> str:
    return read(client.get(address))


def test_the_page_shows_decision_claim_and_digests(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(visit(people.bob))
    subject = worked.revisions.get().planned.subject
    assert '<div class="banner-name">tp4-pp2-ep2-dp1</div>' in page
    assert "LOCAL_TOPOLOGY_AUDIT_NOT_PRODUCTION_BENCHMARK" in page
    assert f'data-copy="{subject}"' in page
    assert f'href="/w/lab/digests/{subject}/"' in page


def test_every_failing_gate_of_the_rejected_is_on_the_page(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(visit(people.bob)).split('id="alternatives"')[1]
    assert re.findall(r'class="mono" href="\?cell=[^"]*">(\w+)</a>', page) == [
        "link_utilization",
        "memory_headroom",
        "throughput",
    ]


def test_an_opened_cell_has_a_close_link_and_its_numbers(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(visit(people.bob), f"{PAGE}?cell=t-one-node~memory_headroom~worst_rank")
    opened = page.split('id="cell"')[1].split("</table>")[0]
    assert ("71.5 GiB" in opened, "≤ 64.0 GiB" in opened, "−7.5 GiB (−11.7 %)" in opened, "data-close" in opened) == (
        True,
        True,
        True,
        True,
    )


def test_the_page_is_small(worked: Decision, people: Cast, visit: Visit) -> None:
    assert len(text(visit(people.bob))) < 60_000


def test_a_page_without_chart_loads_no_chart_library(people: Cast, visit: Visit) -> None:
    planned(people, pair=example_pair("gpt-oss-120b-h200"))
    assert ("plotly" in text(visit(people.bob)), "plotly" in text(visit(people.bob), "/w/lab/")) == (False, False)


def test_while_it_is_planned_the_page_counts_candidates_and_reloads(people: Cast, visit: Visit) -> None:
    revision = submitted(people, pair=example_pair())
    now = timezone.now()
    PlanJob.objects.filter(pk=revision.job_id).update(
        state=JobState.RUNNING,
        lease_token=uuid4(),
        lease_until=now,
        candidates_done=2,
        candidates_total=3,
    )
    page = text(visit(people.bob))
    assert "Checking gates, 2 of 3 candidates." in page
    assert '<rect class="meter-on" width="66" height="8"/>' in page
    assert '<meta http-equiv="refresh" content="2">' in page
    assert 'role="status"' in page


def test_a_planner_run_that_was_given_up_says_why_and_does_not_reload(people: Cast, visit: Visit) -> None:
    revision = submitted(people)
    PlanJob.objects.filter(pk=revision.job_id).update(
        state=JobState.POISONED, attempts=3, error_code="worker_lost", error_detail="Three workers were lost."
    )
    page = text(visit(people.bob))
    assert "Three workers were lost. After 3 attempts. Nothing was decided." in page
    assert "http-equiv" not in page


def test_an_older_revision_says_that_it_is_older_and_what_moved(people: Cast, visit: Visit) -> None:
    decision = planned(people).decision
    planned(people, pair=documents(tokens=200_000), decision=decision)
    page = text(visit(people.bob), f"{PAGE}?revision=1")
    assert "You read r1. The newest is r2." in page
    assert "Changed since: the evidence and the plan." in page
    assert "Sign-offs are given on r2, the newest revision." in page
    assert ("Sign-off</h2>" in page, "Your turn: serving" in page) == (True, False)


def test_the_author_reads_why_they_cannot_sign(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(visit(people.alice))
    assert "You made a revision of this decision. Its authors never sign it." in page
    assert "<fieldset" not in page


def test_an_auditor_reads_why_they_cannot_sign(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(visit(people.audrey))
    assert ("Your role here is auditor. Nobody with this role signs." in page, "<fieldset" in page) == (True, False)


def posted(client: Client, decision: Decision, **changes: str) -> dict[str, str]:
    """What the form sends; for an approval everything that is to be opened was opened."""
    revision = decision.revisions.latest("number")
    form = {
        "team": "serving",
        "meaning": "approve",
        "statement": "Checked memory and tails.",
        "rollback": "none",
        "seen_subject": revision.planned.subject,
    } | changes
    if form["meaning"] in APPROVING:
        open_all(revision, Person.objects.get(pk=client.session["_auth_user_id"]), form["team"])
    return form


def test_signing_binds_the_subject_and_shows_who_signed(worked: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    answer = client.post(f"{PAGE}sign", posted(client, worked))
    assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}#requirements")
    assert SignOff.objects.get().subject == worked.revisions.get().planned.subject
    assert "Bob approved r1" in text(client)


def test_a_sign_off_on_a_moved_subject_is_refused_and_keeps_the_statement(people: Cast, visit: Visit) -> None:
    decision = planned(people).decision
    client = visit(people.bob)
    seen = posted(client, decision, statement="Three quarters of an hour of thought.")
    planned(people, pair=documents(tokens=200_000), decision=decision)
    answer = client.post(f"{PAGE}sign", seen)
    page = answer.content.decode()
    assert (answer.status_code, SignOff.objects.count()) == (409, 0)
    assert "This decision moved while you read it." in page
    assert "Changed: the evidence and the plan. Your statement is kept." in page
    assert "Three quarters of an hour of thought.</textarea>" in page


def test_a_sign_off_while_the_next_revision_is_planned_is_refused_and_keeps_the_statement(
    people: Cast, visit: Visit
) -> None:
    decision = planned(people).decision
    client = visit(people.bob)
    seen = posted(client, decision, statement="Three quarters of an hour of thought.")
    submitted(people, pair=documents(tokens=200_000), decision=decision)
    answer = client.post(f"{PAGE}sign", seen)
    page = answer.content.decode()
    assert (answer.status_code, SignOff.objects.count()) == (409, 0)
    assert "This decision moved while you read it." in page
    assert "Three quarters of an hour of thought.</textarea>" in page
    assert "progress.js" not in page


def test_a_sign_off_without_a_statement_is_refused(worked: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.bob)
    answer = client.post(f"{PAGE}sign", posted(client, worked, statement="  "))
    assert (answer.status_code, SignOff.objects.count()) == (422, 0)
    assert 'role="alert"' in answer.content.decode()


def test_the_author_cannot_sign_by_hand(worked: Decision, people: Cast, visit: Visit) -> None:
    client = visit(people.alice)
    answer = client.post(f"{PAGE}sign", posted(client, worked))
    assert (answer.status_code, SignOff.objects.count()) == (403, 0)


def test_a_stale_sign_off_stays_visible_struck_through_with_its_reason(people: Cast, visit: Visit) -> None:
    decision = planned(people).decision
    sign(people, decision.revisions.get())
    planned(people, pair=documents(tokens=200_000), decision=decision)
    page = text(visit(people.bob)).split('id="requirements"')[1]
    assert '<span class="struck">Bob approved r1' in page
    assert "Stale: what the team owns changed since r1: throughput × t-1." in page


def test_who_may_submit_gets_a_link_to_the_next_revision(worked: Decision, people: Cast, visit: Visit) -> None:
    link = 'href="/w/lab/decisions/new?decision=1">New revision</a>'
    pages = ("", "map/", "history/")
    assert [link in text(visit(people.alice), f"{PAGE}{page}") for page in pages] == [True, True, True]
    assert [link in text(visit(people.bob), f"{PAGE}{page}") for page in pages] == [False, False, False]


def test_approved_is_said_when_every_team_agreed(worked: Decision, people: Cast, visit: Visit) -> None:
    revision = worked.revisions.get()
    sign(people, revision)
    sign(people, revision, people.carol, team="networking")
    assert "<b>Approved.</b> Every team approved this revision." in text(visit(people.bob))
