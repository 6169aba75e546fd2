"""The page of observations: the worst first, each with its bounds a click away, never a cluster's average."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.models import ObservationBatch, ObservationSource
from tests.planner.observations.batches import level, times
from tests.queries import cost
from tests.reviews.factories import Cast
from tests.reviews.observing import CALM, DRIFTED, FULL, encoded, memory, minutes_ago, observed_cast, take
from tests.stage import Maker
from tests.web.conftest import Visit
from tests.web.reading import read

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]
PAGE = "/w/lab/decisions/1/observations/"


@pytest.fixture(scope="module")
def casting() -> Maker:
    return observed_cast


def text(page: str) -> str:
    """Return what somebody reads, without marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def part(people: Cast, visit: Visit, name: str, query: str = "") -> str:
    page = read(visit(people.audrey).get(f"{PAGE}{query}"))
    return page.split(f'id="{name}"')[1].split("</section>")[0]


def test_silence_is_said_and_nothing_is_drawn_in_its_place(people: Cast, visit: Visit) -> None:
    page = text(read(visit(people.audrey).get(PAGE)))
    assert "Nothing was reported No collector said anything yet" in page
    assert "silence is not calm" in page


def test_a_breach_stands_first_with_limit_and_measured_value_one_click_away(people: Cast, visit: Visit) -> None:
    take(people, memory(0, CALM), memory(3, FULL), memory(5, DRIFTED))
    rows = part(people, visit, "metric").split('<tr class="tbl-row">')[1:]
    assert [re.sub(r"\s+", " ", text(row)).split("Rank")[0].strip() for row in rows] == ["Breach", "Drift", "Within"]
    assert "Rank 3 node-a · a3" in text(rows[0])
    assert "79.0 GiB" in text(rows[0])
    assert re.search(r'/documents/contract/\?revision=1&amp;at=/gates/memory_headroom/\w+#here">≤ 64.0 GiB', rows[0])
    assert re.search(r"/documents/evidence/\?revision=1&amp;at=/trials/t-base-16/windows/[^\"]*values/3#here", rows[0])
    assert 'class="v v-fail' in rows[0]


def test_what_is_unknown_says_why(people: Cast, visit: Visit) -> None:
    spread = {"group": 0, "metrics": {"ttft_ms": times([100, 400, 600], [100, 1800, 200, 0])}}
    take(people, spread)
    rows = text(part(people, visit, "metric", "?metric=ttft_ms&state=UNKNOWN"))
    assert "Unknown Group 0 p95 394.81 ms to 608.87 ms The limit lies inside of what it can be. limit ≤ 500 ms" in rows


def test_what_is_out_of_the_envelope_now_leads_the_page(people: Cast, visit: Visit) -> None:
    take(people, memory(0), memory(3, FULL))
    findings = part(people, visit, "findings")
    assert "Out of the envelope now 1" in text(findings)
    assert "Breach Memory in use on the device max Rank 3 node-a · a3 79.0 GiB" in text(findings)
    assert "for " in text(findings)


def test_a_finding_shows_the_whole_range_that_its_share_of_the_limit_is_of(people: Cast, visit: Visit) -> None:
    take(people, {"group": 0, "metrics": {"ttft_ms": times([100, 1000, 2000], [0, 0, 5000, 0], 2000)}})
    found = text(part(people, visit, "findings", "?metric=ttft_ms"))
    assert "p99 Group 0 939.01 ms to 2,000 ms measured 486 ms 411.5 %" in found


def test_rows_are_kept_by_state_rank_and_group(people: Cast, visit: Visit) -> None:
    take(people, memory(0), memory(3, FULL))
    asked = {"?state=WITHIN": ["0"], "?rank=3": ["3"], "?state=BREACH&rank=0": []}
    for query, ranks in asked.items():
        rows = part(people, visit, "metric", query).split('<tr class="tbl-row">')[1:]
        assert [re.findall(r"Rank (\d+)", text(row))[0] for row in rows] == ranks, query


def test_shapes_and_phases_of_one_rank_are_shown_hour_by_hour(people: Cast, visit: Visit) -> None:
    decode = {"rank": 0, "phase": "decode", "metrics": {"step_ms": level(24)}}
    prefill = {"rank": 0, "phase": "prefill", "metrics": {"step_ms": level(90)}}
    take(people, decode, prefill)
    history = text(part(people, visit, "history", "?metric=step_ms&place=0"))
    assert "Rank 0, node-a · a0" in history
    assert "hour all decode dcgm 10 24 ms" in history
    assert "hour all prefill dcgm 10 90 ms" in history


def test_a_collector_that_fell_silent_is_named(people: Cast, visit: Visit) -> None:
    take(people, source="old", started_at=minutes_ago(200), ended_at=minutes_ago(190))
    take(people, source="dcgm")
    sources = text(part(people, visit, "sources"))
    assert re.search(r"old Silent last said anything 3 h ago .* dcgm Reports", sources)
    assert ObservationSource.objects.count() == 2


def test_a_batch_that_is_sent_by_hand_is_taken_once(people: Cast, visit: Visit) -> None:
    raw = encoded(memory(3, FULL))
    bob = visit(people.bob)
    for again in ("1", "0"):
        answer = bob.post(PAGE, {"observations": SimpleUploadedFile("batch.json", raw)})
        assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}?taken={again}#report")
    assert ObservationBatch.objects.count() == 1
    assert "The batch was taken." in text(bob.get(f"{PAGE}?taken=1").content.decode())


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        pytest.param(b"{", "observations", id="no JSON"),
        pytest.param(b'{"schema": "topogate.observations/v1"}', "/slot", id="half of one"),
    ],
)
def test_a_batch_that_is_none_is_refused_with_its_problems(raw: bytes, said: str, people: Cast, visit: Visit) -> None:
    answer = visit(people.bob).post(PAGE, {"observations": SimpleUploadedFile("batch.json", raw)})
    assert answer.status_code == 422
    assert said in answer.content.decode().split('role="alert"')[1].split("</form>")[0]


def test_an_answer_is_shown_where_the_form_stands(people: Cast, visit: Visit) -> None:
    assert '<form class="card-body stack" method="post" action="#report"' in part(people, visit, "report")


def test_downloads_have_the_rows_that_were_asked_for(people: Cast, visit: Visit) -> None:
    take(people, memory(0), memory(3, FULL))
    reader = visit(people.audrey)
    found = json.loads(reader.get(f"{PAGE}values.json?state=BREACH").content)
    assert [(row["rank"], row["state"], row["limit"]) for row in found["values"]] == [(3, "BREACH", 64.0 * 2**30)]
    lines = reader.get(f"{PAGE}values.csv").content.decode().splitlines()
    assert lines[0].startswith('"metric","statistic","rank","node","device"')
    assert len(lines) == 3


def test_nothing_to_download_where_nothing_was_reported(people: Cast, visit: Visit) -> None:
    assert visit(people.audrey).get(f"{PAGE}values.csv").status_code == 404


@pytest.mark.parametrize("query", ["metric=speed", "span=year", "rank=x", "page=99", "place=%00", "open=9", "state=x"])
def test_nonsense_in_the_address_is_ignored(query: str, people: Cast, visit: Visit) -> None:
    take(people)
    assert visit(people.audrey).get(f"{PAGE}?{query}").status_code == 200


def test_the_page_costs_the_same_for_one_rank_and_for_all(people: Cast, visit: Visit) -> None:
    reader = visit(people.audrey)
    take(people, memory(3, FULL))
    before = cost(reader, PAGE)
    segments: list[dict[str, Any]] = [memory(rank, FULL) for rank in range(16)]
    take(people, *segments, source="another", started_at=minutes_ago(9))
    assert cost(reader, PAGE) == before


def test_a_breach_stands_in_the_inbox_with_a_link_to_it(people: Cast, visit: Visit) -> None:
    assert 'id="breaches"' not in visit(people.bob).get("/w/lab/").content.decode()
    take(people, memory(3, FULL), memory(4, FULL))
    page = visit(people.bob).get("/w/lab/").content.decode()
    listed = page.split('id="breaches"')[1].split("</section>")[0]
    assert f'href="{PAGE}#findings"' in listed
    assert "Breach: device_used_bytes max of rank 3 is 79 GiB, limit 64 GiB, measured 49.918 GiB. And 1 more." in text(
        listed
    )
    assert "limit of serving" in listed
    assert "Nothing needs you" not in page


def test_what_is_no_batch_is_told_where_it_belongs(people: Cast, visit: Visit) -> None:
    scrape = SimpleUploadedFile("metrics.txt", b"# TYPE vllm:num_requests_running gauge\n")
    page = text(visit(people.bob).post(PAGE, {"observations": scrape}).content.decode())
    assert "The command under From exporters makes one of scrapes" in page


def test_who_saw_the_worst_of_several_collectors_is_named(people: Cast, visit: Visit) -> None:
    take(people, memory(3, CALM), source="calm")
    take(people, memory(3, FULL), source="full")
    rows = part(people, visit, "metric").split('<tr class="tbl-row">')[1:]
    assert "79.0 GiB said by full" in text(rows[0])
