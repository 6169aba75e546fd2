"""The what-if page: several overrides at once by a form or an address, labelled as injected, nothing to sign."""

import html
import json
import re
from collections.abc import Sequence
from urllib.parse import urlencode

import msgspec
import pytest
from django.http import QueryDict

from planner.canonical import file_sha256
from planner.overrides import Reading, Setting, overridden, overridden_bytes
from planner.overrides.text import read_reading, read_setting
from reviews.errors import ConflictError
from reviews.models import AuditEntry, Blob, Decision, SignOff
from reviews.planning import StoredBytes, make_plan
from reviews.selectors.what_if import MOST_OVERRIDES, MOST_TRIALS, Asked
from reviews.web.what_if_asked import address, asked_of, asked_of_flip, asked_of_form, command_of
from tests.planner.corpus import AS_OF, shipped
from tests.planner.documents import raw
from tests.planner.fleet import a_contract, a_trial
from tests.planner.fleet import documents as trees
from tests.queries import cost
from tests.reviews.factories import Cast, Pair, example_pair, planned, sign, submitted
from tests.web.conftest import Visit

PAGE = "/w/lab/decisions/1/what-if/"
TAIL = "/gates/ttft/saturated_p95/max_ms"
Pairs = Sequence[tuple[str, str]]


def text(people: Cast, visit: Visit, pairs: Pairs = (), status: int = 200) -> str:
    answer = visit(people.audrey).get(f"{PAGE}?{urlencode(pairs)}")
    assert answer.status_code == status
    return answer.content.decode()


def words(page: str) -> str:
    """The text of a page, without markup."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def test_the_page_says_that_its_overrides_are_injected_and_offers_nothing_to_sign(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    page = text(people, visit)
    assert "<b>Injected overrides.</b>" in page
    assert "/sign" not in page
    assert 'aria-current="page">What if</a>' in page
    assert 'id="answer"' not in page


def test_several_overrides_are_answered_together(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(
        people,
        visit,
        [
            ("set", f"{TAIL}=400"),
            ("without", "/gates/link_utilization"),
            ("reading", "t-wide-16:throughput.saturated=1e3"),
        ],
    )
    answer = words(page.split('id="answer"')[1])
    assert "tp8-pp1-ep2-dp1 wins instead of tp4-pp2-ep2-dp1." in answer
    assert "Eligible 1 1 Rejected 2 2" in answer
    assert "Pass → Fail ttft saturated_p95 TTFT p95 at saturated is 420 ms" in answer
    assert "Fail → Not declared link_utilization inter_node Not declared any more." in answer


def test_each_choice_names_the_value_of_today(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    assert f'<option value="{TAIL}">saturated_p95 max_ms · 500 ms</option>' in page
    assert '<option value="/gates/ttft">the whole gate</option>' in page
    assert '<option value="ttft.saturated_p95">saturated_p95 ≤ 500 ms</option>' in page


def test_what_is_asked_stands_beside_what_is_today(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, [("set", f"{TAIL}=400"), ("reading", "t-base-16:ttft.saturated_p95=600")])
    form = words(page.split("<fieldset", 1)[1])
    assert "ttft saturated_p95 max_ms today 500 ms" in form
    assert "ttft saturated_p95 of tp4-pp2-ep2-dp1 today 420 ms" in form
    assert 'name="set_value" value="400"' in page


def test_the_form_leads_to_an_address_that_can_be_shared(worked: Decision, people: Cast, visit: Visit) -> None:
    form = [
        ("set_at", TAIL),
        ("set_value", " 400 "),
        ("set_at", ""),
        ("set_value", ""),
        ("without", "/gates/cost"),
        ("without", ""),
        ("reading_trial", "t-wide-16"),
        ("reading_limit", "throughput.saturated"),
        ("reading_value", "1000"),
    ]
    answer = visit(people.audrey).get(f"{PAGE}?{urlencode(form)}")
    assert answer["Location"] == (
        f"{PAGE}?set={TAIL}=400&without=/gates/cost&reading=t-wide-16:throughput.saturated=1000#answer"
    )


def test_half_a_row_of_the_form_is_kept() -> None:
    form = QueryDict("set_at=/gates/cost/price/max_usd&set_value=&set_at=&set_value=5&reading_limit=ttft.tail")
    assert asked_of_form(form) == Asked(("/gates/cost/price/max_usd=", "=5"), (), (":ttft.tail=",))


@pytest.mark.parametrize(
    ("pair", "field", "message"),
    [
        pytest.param(("set", f"{TAIL}=fast"), "set-0", 'Expected a value in JSON. Found "fast".', id="no number"),
        pytest.param(("set", f"{TAIL}="), "set-0", 'Expected a value in JSON. Found "".', id="nothing typed"),
        pytest.param(
            ("set", "/gates/nope/p95/max_ms=1"),
            "set-0",
            "Expected a place inside an object of the contract. Found nothing that holds it.",
            id="no such place",
        ),
        pytest.param(
            ("set", f"{TAIL}=-4"), "set-0", "Expected a number of at least 0. Found -4.", id="refused by intake"
        ),
        pytest.param(
            ("without", "/gates/nope"),
            "without-0",
            "Expected something that the contract has. Found nothing.",
            id="nothing to leave out",
        ),
        pytest.param(
            ("reading", "t-9:ttft.single_p95=1"),
            "reading-0",
            'Expected a trial of the evidence. Found "t-9".',
            id="no such trial",
        ),
        pytest.param(
            ("reading", ":ttft.single_p95=1"),
            "reading-0",
            'Expected a trial of the evidence. Found "".',
            id="no trial chosen",
        ),
        pytest.param(
            ("reading", "t-base-16:ttft.single_p95=x"), "reading-0", 'Expected a number. Found "x".', id="no reading"
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_kept(
    pair: tuple[str, str], field: str, message: str, worked: Decision, people: Cast, visit: Visit
) -> None:
    page = text(people, visit, [pair, ("set", "/gates/ttft/single_p95/max_ms=300")], status=422)
    found = re.search(rf'id="{field}-error">.*?<span>(.*?)</span></p>', page)
    assert found
    assert message in html.unescape(found[1])
    assert f'aria-describedby="{field}-error"' in page
    assert 'name="set_value" value="300"' in page
    assert page.count('class="error" id=') == 1
    assert 'id="answer"' not in page


def test_everything_that_is_wrong_is_said_at_once(worked: Decision, people: Cast, visit: Visit) -> None:
    asked = [("set", f"{TAIL}=fast"), ("set", "=5"), ("without", "/gates/nope"), ("reading", "t-9:ttft.single_p95=1")]
    page = text(people, visit, asked, status=422)
    assert re.findall(r'class="error" id="([^"]+)"', page) == [
        "set-0-error",
        "set-1-error",
        "without-0-error",
        "reading-0-error",
    ]


def test_an_override_more_than_are_taken_is_refused(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, [("set", f"{TAIL}=400")] * (MOST_OVERRIDES + 1), status=422)
    assert f"Expected at most {MOST_OVERRIDES} overrides. Found {MOST_OVERRIDES + 1}." in page


def test_hostile_overrides_stay_text(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, [("set", '/gates/<script>alert(1)</script>="x'), ("without", "\0")], status=422)
    assert "<script>alert" not in page


def test_looking_stores_nothing(worked: Decision, people: Cast, visit: Visit) -> None:
    before = (AuditEntry.objects.count(), Blob.objects.count())
    text(people, visit, [("set", f"{TAIL}=400")])
    assert (AuditEntry.objects.count(), Blob.objects.count()) == before


def test_a_sign_off_bound_to_an_answer_is_refused(people: Cast) -> None:
    revision = planned(people, pair=example_pair())
    answer = overridden_bytes(overridden(*shipped("worked"), AS_OF, settings=(Setting(at=TAIL, value=400),)))
    with pytest.raises(ConflictError):
        sign(people, revision, seen_subject=file_sha256(answer))
    assert SignOff.objects.count() == 0


def test_a_decision_without_a_plan_says_so(people: Cast, visit: Visit) -> None:
    submitted(people)
    page = text(people, visit)
    assert "There is no plan yet" in page
    assert "<fieldset" not in page


def several(trials: int) -> Pair:
    _, evidence = trees(a_contract(), {f"t{at}": a_trial(6800 - at, tp=8) for at in range(trials)})
    return Pair(raw(a_contract()), msgspec.json.encode(evidence.record))


def test_candidates_that_moved_come_page_by_page(people: Cast, visit: Visit) -> None:
    planned(people, pair=several(27))
    asked = [("set", "/gates/throughput/floor/min_output_tokens_per_s=99999")]
    first, second = text(people, visit, asked), text(people, visit, [*asked, ("page", "2")])
    assert "1–25 of 27 candidates" in first
    assert "26–27 of 27 candidates" in second
    assert (first.count('class="wi-turned"'), second.count('class="wi-turned"')) == (25, 2)


def test_more_trials_and_overrides_cost_no_more_queries(people: Cast, visit: Visit) -> None:
    planned(people, pair=several(1))
    client = visit(people.audrey)
    few = cost(client, f"{PAGE}?set=/gates/throughput/floor/min_output_tokens_per_s=1")
    planned(people, pair=several(6), decision=Decision.objects.get())
    many = "&".join(f"reading=t{at}:throughput.floor=1" for at in range(6))
    assert cost(client, f"{PAGE}?{many}") == few


def test_evidence_beyond_the_bound_is_left_to_the_command_line(
    people: Cast, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviews.selectors.what_if.MOST_TRIALS", 2)
    planned(people, pair=several(3))
    page = words(text(people, visit, [("reading", "t1:throughput.floor=1")]))
    assert "Not answered here: expected at most 2 trials, found 3. The command below answers it." in page
    assert (
        "topogate what-if contract.json evidence.json --as-of 2026-09-21T12:00:00Z --reading=t1:throughput.floor=1"
        in page
    )
    assert MOST_TRIALS == 500


@pytest.mark.parametrize("example", ["worked", "blast-radius", "minimal"])
def test_the_what_if_of_every_flip_gives_the_winner_that_the_flip_states(example: str) -> None:
    contract, evidence = (
        StoredBytes(data, file_sha256(data))
        for data in (example_pair(example).contract, example_pair(example).evidence)
    )
    plan = make_plan(contract=contract, evidence=evidence, receipt=None, as_of=AS_OF, progress=lambda *_: None).record
    assert plan.flips
    for flip in plan.flips:
        asked = asked_of_flip(flip, plan)
        assert asked is not None
        query = asked_of(QueryDict(address(asked).removeprefix("?")))
        settings = [each for each in map(read_setting, query.sets) if isinstance(each, Setting)]
        readings = [each for each in map(read_reading, query.readings) if isinstance(each, Reading)]
        answer = overridden(*shipped(example), AS_OF, settings=settings, readings=readings)
        assert answer.winner_after == flip.winner, flip


def test_the_decision_page_leads_to_the_what_if_of_each_flip(worked: Decision, people: Cast, visit: Visit) -> None:
    page = visit(people.bob).get("/w/lab/decisions/1/").content.decode()
    links = re.findall(r'href="(/w/lab/decisions/1/what-if/\?(?:set|reading)=[^"]+)"', page)
    assert len(links) == 10
    assert f"{PAGE}?set={TAIL}=419" in links
    assert "NONE" not in words(text(people, visit, [("set", f"{TAIL}=419")]))
    assert 'href="/w/lab/decisions/1/what-if/?">Ask for several at once' in page


def test_an_older_revision_stays_chosen(worked: Decision, people: Cast, visit: Visit) -> None:
    moved = json.loads(example_pair().evidence)
    moved["provenance"]["collected_by"] = "somebody else"
    planned(people, pair=Pair(example_pair().contract, json.dumps(moved).encode()), decision=worked)
    page = text(people, visit, [("revision", "1"), ("set", f"{TAIL}=400")])
    assert '<input type="hidden" name="revision" value="1">' in page
    assert "revision=1&amp;cell=t-base-16~ttft~saturated_p95#cell" in page


def test_a_command_quotes_what_a_shell_would_read() -> None:
    command = command_of(Asked(sets=('/selection={"preset": "lowest_cost"}',), withouts=("/gates/a b",)), AS_OF)
    assert command == (
        f"topogate what-if contract.json evidence.json --as-of {AS_OF} "
        "'--set=/selection={\"preset\": \"lowest_cost\"}' '--without=/gates/a b'"
    )
