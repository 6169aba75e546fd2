"""What has to be measured again: told by the hosts, by age and by a newer contract; each key with its owner."""

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from planner.canonical import content_id
from planner.contract_builder.draft import ContractDraft
from reviews.models import AuditEntry, Blob
from reviews.services.contract_drafts import contract_draft_create
from reviews.services.identity_reports import identity_report
from tests.planner.documents import changed
from tests.queries import cost
from tests.reviews.factories import Cast, Pair, example_pair, planned
from tests.reviews.hosts import RANKS, post, running, with_engine
from tests.reviews.hosts import report as host_report
from tests.reviews.launched import EXAMPLE, launched
from tests.reviews.rules.test_rule_10_activation import activate, approved
from tests.reviews.rules.test_rule_11_validity import limited
from tests.web.conftest import Visit

PAGE = "/w/lab/decisions/1/requalification/"
FILE = "/w/lab/decisions/1/requalification."


def text(people: Cast, visit: Visit, query: str = "") -> str:
    return visit(people.audrey).get(f"{PAGE}{query}").content.decode()


def section(page: str, name: str) -> str:
    return page.split(f' id="h-{name}"')[1].split("</section>")[0]


def report(people: Cast, **changes: Any) -> None:
    """The hosts of the example report what they are: the decided identity, with changes by pointer."""
    identity = json.loads(example_pair(EXAMPLE).contract)["identity"]
    live = changed(identity, *((pointer.replace("__", "/"), value) for pointer, value in changes.items()))
    identity_report(actor=people.alice, workspace=people.workspace, slot="assistant/eu-central", live=live)


def with_contract(pointer: str, value: Any) -> Pair:
    """The example with another contract, and evidence that names it."""
    pair = example_pair(EXAMPLE)
    contract = changed(json.loads(pair.contract), (pointer, value))
    evidence = json.loads(pair.evidence) | {"contract_content_id": content_id(contract)}
    return Pair(json.dumps(contract).encode(), json.dumps(evidence).encode())


def test_a_machine_that_differs_names_gates_runs_trials_and_owners(people: Cast, visit: Visit) -> None:
    launched(people)
    report(people, **{"/stack/driver/version": "600.1"})
    page = text(people, visit)
    assert "<b>3 runs to be made again.</b>" in page
    machine = section(page, "report")
    assert re.findall(r'scope="row">([^<]+)', machine)[0] == "/identity/stack/driver/version"
    assert "Serving" in machine
    assert "590.44" in machine
    assert "600.1" in machine
    assert "Ends the decision" in machine
    assert "memory_headroom" in section(page, "measure")
    runs = section(page, "runs")
    assert 'href="/w/lab/decisions/1/benchmark/?revision=1#run-saturated"' in runs
    assert "t-stage-a-node, t-four-stages" in runs


def test_nothing_reported_and_nothing_newer_asks_for_nothing(people: Cast, visit: Visit) -> None:
    launched(people)
    page = text(people, visit)
    assert "<b>Nothing has to be measured again.</b> Held against D-0001 r1." in page
    assert "No host has reported since the decision was put into force." in page
    assert "The contract sets no largest age of evidence." in page
    assert "The same contract as in r1" in page


def test_a_decision_that_is_stale_for_a_key_that_nobody_said_is_told_to_be_stale(people: Cast, visit: Visit) -> None:
    launched(people)
    live = json.loads(example_pair(EXAMPLE).contract)["identity"]
    identity_report(actor=people.alice, workspace=people.workspace, slot="assistant/eu-central", live=live)
    page = text(people, visit)
    assert "Nothing has to be measured again" not in page
    assert "<b>It is stale.</b> Not as decided on the whole slot: /placement/rank_map_digest (" in page
    assert '<a class="btn btn-s strip-end" href="../identity/">What runs now</a>' in page


def test_a_report_that_matches_changes_nothing(people: Cast, visit: Visit) -> None:
    revision = launched(people)
    identity = json.loads(example_pair(EXAMPLE).contract)["identity"]
    live = identity | {"placement": {"rank_map_digest": revision.planned.basis.rank_map_digest}}
    identity_report(actor=people.alice, workspace=people.workspace, slot="assistant/eu-central", live=live)
    page = text(people, visit)
    assert "Newest report" in section(page, "report")
    assert "<b>Nothing has to be measured again.</b>" in page


def test_a_newer_contract_is_held_against_what_was_put_into_force(people: Cast, visit: Visit) -> None:
    decision = launched(people).decision
    report(people, **{"/stack/driver/version": "600.1"})
    planned(people, pair=with_contract("/gates/ttft/saturated_p95/max_ms", 700), decision=decision)
    planned(people, pair=with_contract("/identity/workload/context_tokens", 4096), decision=decision)
    newest = section(text(people, visit), "contract")
    assert "r3 against r1, which was put into force" in newest
    assert "/identity/workload/context_tokens" in newest
    page = text(people, visit, "?revision=2")
    assert "/gates/ttft/saturated_p95/max_ms" in section(page, "contract")
    assert "Judged, not bound" in section(page, "contract")
    assert "/identity/stack/driver/version" in section(page, "report")
    assert '<option value="2" selected>r2</option>' in page


def test_an_unknown_revision_is_not_found(people: Cast, visit: Visit) -> None:
    launched(people)
    assert visit(people.audrey).get(f"{PAGE}?revision=9").status_code == 404


def test_age_names_what_is_too_old_next(people: Cast, visit: Visit) -> None:
    age = int((timezone.now() - datetime(2026, 9, 1, tzinfo=UTC)).total_seconds())
    activate(people, approved(people, pair=limited(max_evidence_age_s=age + 400 * 86_400)))
    assert re.search(r"Next, \S+ at \S+ is too old after", section(text(people, visit), "age"))


def test_files_hold_the_same(people: Cast, visit: Visit) -> None:
    launched(people)
    report(people, **{"/stack/driver/version": "600.1"})
    audrey = visit(people.audrey)
    tree = json.loads(audrey.get(f"{FILE}json").content)
    assert (tree["schema"], tree["decision"], tree["revision"]) == ("topogate.requalification/v1", 1, 1)
    driver = tree["changes"][0]
    assert (driver["because"], driver["team"], driver["after"]) == ("report", "serving", "600.1")
    markdown = audrey.get(f"{FILE}md")
    assert markdown.headers["Content-Disposition"] == 'attachment; filename="D-0001-measure-again.md"'
    text_of_it = markdown.content.decode()
    row = next(line for line in text_of_it.splitlines() if line.startswith("| /identity/stack/driver/version "))
    assert row.split(" | ")[2] == "Serving"
    assert "## Run again" in text_of_it


def test_looking_stores_nothing(people: Cast, visit: Visit) -> None:
    launched(people)
    before = (AuditEntry.objects.count(), Blob.objects.count())
    text(people, visit)
    assert (AuditEntry.objects.count(), Blob.objects.count()) == before


@pytest.mark.both_databases
def test_reports_and_revisions_cost_no_more_queries(people: Cast, visit: Visit) -> None:
    launched(people)
    report(people, **{"/stack/driver/version": "600.1"})
    audrey = visit(people.audrey)
    audrey.get(PAGE)  # what was decided is remembered
    alone = cost(audrey, PAGE)
    for version in ("600.2", "600.3"):
        report(people, **{"/stack/driver/version": version})
    planned(people)
    assert cost(audrey, PAGE) == alone <= 45


def test_reports_of_single_hosts_name_the_keys_that_some_of_them_shows_otherwise(people: Cast, visit: Visit) -> None:
    running(people)
    moved = {"world_size": 2, "ranks": [RANKS[0] | {"device": "a7"}]}
    post(people, with_engine(host_report("node-a", ranks_seen=moved), "2.0"), host_report("node-b"))
    told = json.loads(visit(people.bob).get("/w/lab/decisions/1/requalification.json").content)
    assert [(row["key"], row["after"]) for row in told["changes"] if row["because"] == "report"] == [
        ("/identity/stack/engine/version", "2.0"),
        ("/identity/placement/rank_map_digest", "another map: rank_map/0/device"),
    ]


def test_a_contract_that_is_being_written_is_held_against_what_is_decided(people: Cast, visit: Visit) -> None:
    launched(people)
    tree = json.loads(with_contract("/identity/model/revision", "r9").contract)
    begun = ContractDraft(tree=tree)
    draft = contract_draft_create(actor=people.alice, workspace=people.workspace, draft=begun)
    alice = visit(people.alice)
    offered = alice.get(PAGE).content.decode()
    assert f'href="?draft={draft.pk}"' in offered
    page = alice.get(f"{PAGE}?draft={draft.pk}").content.decode()
    assert "/identity/model/revision" in section(page, "contract")
    assert "It was not stored." in section(page, "contract")
    assert visit(people.bob).get(f"{PAGE}?draft={draft.pk}").status_code == 404
