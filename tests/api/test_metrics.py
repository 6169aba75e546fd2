"""Metrics of slots: the format, by another parser than the writer's; what each says; as many queries for any number."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from django.utils import timezone
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from reviews.models import Activation, Decision, DecisionState, ObservationFeed
from reviews.services.identity_reports import identity_report
from tests.api.asking import Caller, token_of
from tests.api.exposition import Exposition
from tests.api.test_validity import EMERGENCY, waived
from tests.plugins.append_only import lifted
from tests.queries import cost
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.rules.board import board, countersign, propose
from tests.reviews.rules.test_rule_11_validity import SLOT, in_force, limited, live, pass_time
from tests.shared import ROOT
from tests.stage import Maker

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

RULES = ROOT / "deploy/prometheus/topogate.rules.yml"
SCRAPER = "application/openmetrics-text;version=1.0.0;q=0.7,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


@pytest.fixture(scope="module")
def casting() -> Maker:
    return board


@pytest.fixture
def scraper(people: Cast) -> Caller:
    return Caller(token_of(people, people.audrey, "read"), "lab")


def scraped(scraper: Caller) -> Exposition:
    answer = scraper.get("metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return Exposition(answer.content.decode())


def test_every_metric_is_there_and_described_before_anything_is_decided(scraper: Caller) -> None:
    found = scraped(scraper)
    assert set(found.types.values()) == {"gauge"}
    assert list(found.samples.values()) == [[]] * 12


def test_what_is_in_force_is_one_and_a_state_among_all_states(people: Cast, scraper: Caller) -> None:
    in_force(people, pair=limited(decision_expires_after_s=86400))
    found = scraped(scraper)
    assert found.samples["topogate_slot_in_force"] == [
        (
            {
                "workspace": "lab",
                "slot": SLOT,
                "decision": "D-0001",
                "revision": "1",
                "topology": "tp1-pp1-ep1-dp1",
            },
            1.0,
        )
    ]
    states = {labels["topogate_slot_state"]: value for labels, value in found.samples["topogate_slot_state"]}
    assert states == {state: float(state == "EFFECTIVE") for state in DecisionState.values}
    until = Activation.objects.get().valid_until
    assert until is not None
    assert found.value("topogate_decision_valid_until_timestamp_seconds", slot=SLOT) == until.timestamp()
    assert found.value("topogate_slot_emergency", slot=SLOT) == 0


def test_what_ended_by_time_alone_is_zero_before_any_sweep(people: Cast, scraper: Caller) -> None:
    in_force(people, pair=limited(decision_expires_after_s=86400))
    pass_time(days=2)
    found = scraped(scraper)
    assert (found.value("topogate_slot_in_force", slot=SLOT), Decision.objects.get().state) == (0, "EFFECTIVE")
    assert found.value("topogate_slot_state", topogate_slot_state="EXPIRED") == 1
    assert found.samples["topogate_decision_valid_until_timestamp_seconds"] == []


@pytest.mark.parametrize(("revision", "expected"), [("r1", 1), ("r2", 0)])
def test_the_last_report_matches_or_does_not(revision: str, expected: int, people: Cast, scraper: Caller) -> None:
    tree = live(in_force(people), model__revision=revision)
    assert scraped(scraper).value("topogate_slot_identity_matches", slot=SLOT) is None
    identity_report(actor=people.bob, workspace=people.workspace, slot=SLOT, live=tree)
    found = scraped(scraper)
    assert found.value("topogate_slot_identity_hosts_differing", slot=SLOT) == 1 - expected
    assert found.value("topogate_slot_identity_hosts", slot=SLOT) == 1
    assert found.value("topogate_slot_identity_matches", slot=SLOT, decision="D-0001") == expected
    assert found.value("topogate_slot_identity_report_timestamp_seconds", slot=SLOT) is not None


def test_an_emergency_speaks_for_the_slot(people: Cast, scraper: Caller) -> None:
    in_force(people)
    planned(people, pair=documents(floor=600))
    countersign(people, propose(people, "emergency", "ivan", EMERGENCY, number=2), "bob")
    found = scraped(scraper)
    assert found.value("topogate_slot_emergency", slot=SLOT) == 1
    assert found.value("topogate_slot_in_force", slot=SLOT, decision="D-0002") == 1


def test_waivers_are_told_with_their_end(people: Cast, scraper: Caller) -> None:
    revision = waived(people)
    ends = revision.decision.waivers.get().ends_at
    name = "topogate_waiver_end_timestamp_seconds"
    assert scraped(scraper).value(name, slot=SLOT, trial="t-1", gate="throughput") == ends.timestamp()


@pytest.mark.parametrize(
    "accept", ["", "*/*", "x/y;q=z,,;", "text/plain; version=1.0.0; escaping=allow-utf-8", "a/b," * 99]
)
def test_whatever_else_is_asked_for_is_answered_in_the_plain_format(accept: str, scraper: Caller) -> None:
    answer = scraper.get("metrics", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")


def test_openmetrics_is_written_for_who_takes_it(people: Cast, scraper: Caller) -> None:
    in_force(people)
    answer = scraper.get("metrics", headers={"Accept": SCRAPER})
    assert answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert "Accept" in answer.headers["Vary"]
    read = text_string_to_metric_families(answer.content.decode())  # type: ignore[no-untyped-call] # no types
    families = {family.name: family for family in read}
    assert (families["topogate_slot_state"].type, families["topogate_slot_in_force"].type) == ("stateset", "gauge")


@pytest.mark.parametrize("slot", ['a"b\\c', "{}=,#", "a\\nb", "ünïcode/スロット", '",x="1'])
def test_a_slot_of_any_name_is_one_label(slot: str, people: Cast, scraper: Caller) -> None:
    in_force(people)
    Decision.objects.update(slot=slot)
    (sample,) = scraped(scraper).samples["topogate_slot_in_force"]
    assert sample[0]["slot"] == slot


def test_ten_slots_take_as_many_queries_as_one(people: Cast, scraper: Caller) -> None:
    first = in_force(people)
    scraped(scraper)  # which notes that the token was used
    one = cost(scraper, "metrics")
    with lifted():
        last = Activation.objects.get()
        for number in range(2, 11):
            decision, revision = Decision.objects.get(pk=first.decision_id), first
            decision.pk, decision.number, decision.slot = None, number, f"slot-{number}"
            decision.save()
            revision.pk, revision.decision = None, decision
            revision.save()
            last.pk, last.revision, last.activated_at = None, revision, last.activated_at - timedelta(days=1)
            last.save()
    assert len(scraped(scraper).samples["topogate_slot_in_force"]) == 10
    assert cost(scraper, "metrics") == one


@pytest.fixture
def everything(people: Cast) -> Decision:
    """A decision of which every metric has a value."""
    revision = waived(people)
    with lifted():
        Activation.objects.update(valid_until=timezone.now() + timedelta(days=1))
    tree: dict[str, Any] = live(revision, placement__rank_map_digest=Activation.objects.get().rank_map_digest)
    identity_report(actor=people.bob, workspace=people.workspace, slot=SLOT, live=tree)
    ended_at = datetime(2026, 11, 30, tzinfo=UTC)
    ObservationFeed.objects.create(revision=revision, trial="t-1", breaches=2, drifts=3, ended_at=ended_at)
    return revision.decision


def test_what_is_observed_is_counted(everything: Decision, scraper: Caller) -> None:
    found = scraped(scraper)
    assert found.value("topogate_slot_observed_breaches", decision="D-0001") == 2
    assert found.value("topogate_slot_observed_drifts", decision="D-0001") == 3
    at = datetime(2026, 11, 30, tzinfo=UTC).timestamp()
    assert found.value("topogate_slot_observed_timestamp_seconds", decision="D-0001") == at


def test_the_example_rules_name_metrics_and_labels_that_there_are(everything: Decision, scraper: Caller) -> None:
    found = scraped(scraper)
    for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]:
        names = set(re.findall(r"topogate_\w+", rule["expr"]))
        assert names, rule["alert"]
        assert names <= set(found.samples), rule["alert"]
        known = {label for name in names for labels, _ in found.samples[name] for label in labels}
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= known, rule["alert"]
