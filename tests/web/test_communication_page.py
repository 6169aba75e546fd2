"""The communication page: waiting and moving apart, who is late, bytes at boundaries, links, what is missing named."""

import csv
import io
import json
import re

import pytest

from reviews.models import Decision
from reviews.web.communication import chosen_window
from tests.queries import cost
from tests.reviews.factories import Cast, planned
from tests.web.conftest import Visit
from tests.web.fleet import RANKS, fleet_pair
from tests.web.reading import read
from tests.web.traces import TRIAL, traced_pair, traced_view, traced_window, trees, view_of

PAGE = "/w/lab/decisions/1/communication/"
TRACED = f"?trial={TRIAL}"


@pytest.fixture
def traced(people: Cast) -> Decision:
    """The example with an instrumented window, planned."""
    return planned(people, pair=traced_pair()).decision


def text(people: Cast, visit: Visit, query: str = TRACED) -> str:
    return read(visit(people.audrey).get(f"{PAGE}{query}"))


def test_the_page_begins_with_collectives_the_late_rank_and_who_reports_it(
    traced: Decision, people: Cast, visit: Visit
) -> None:
    page = text(people, visit)
    assert 'aria-current="page">Communication</a>' in page
    assert re.findall(r'<dd class="rk-stat-value">(.*?)</dd>', page) == ["40 %", "Rank 5", "Rank 4"]
    assert "30 % waiting, 10 % moving bytes" in page
    assert "its timeout expires first. It is not the cause." in page


def test_the_late_rank_and_the_first_reporter_are_marked_in_the_timeline(
    traced: Decision, people: Cast, visit: Visit
) -> None:
    timeline = text(people, visit).split('id="arrivals"')[1].split("</section>")[0]
    rows = re.findall(r">Rank (\d+)</a>.*?</li>", timeline)
    marks = re.findall(r">Rank (\d+)</a>(?:(?!</li>).)*tag-plain\">(.*?)</span>", timeline)
    assert rows == [str(rank) for rank in range(16)]
    assert marks == [("4", "waits longest"), ("5", "late")]
    assert "+6 ms" in timeline


def test_steps_are_bars_and_a_table(traced: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    bars = page.split('id="steps"')[1].split("</section>")[0]
    table = page.split('id="ranks"')[1].split("</section>")[0]
    assert bars.count('<svg class="rk-bar"') == 16
    assert table.count('<tr class="tbl-row">') == 16
    assert "1.289 ×" in table


def test_without_traces_the_absent_fields_are_named_and_no_bar_is_drawn(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    page = text(people, visit, "")
    assert "<b>Not recorded in this window:</b>" in page
    for name in ("step_ms", "collective_wait_ms", "collective_move_ms", "arrival_lag_ms"):
        assert f'<span class="mono">{name}</span>' in page
    assert ('id="arrivals"' in page, 'id="steps"' in page) == (False, False)


def test_links_stand_against_their_rate_and_the_ceiling_of_the_gate(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    links = text(people, visit, "?window=sat-2").split('id="links"')[1].split("</section>")[0]
    assert links.count('<tr class="tbl-row">') == 8
    assert "60 %" in links
    assert links.count('d="M675 1v22"') == 8


def test_a_link_over_the_ceiling_is_loud(worked: Decision, people: Cast, visit: Visit) -> None:
    links = text(people, visit, "?trial=t-wide-16&window=sat-2").split('id="links"')[1].split("</section>")[0]
    assert '<rect class="rk-over"' in links


def test_a_window_without_counters_says_which_fields_are_absent(traced: Decision, people: Cast, visit: Visit) -> None:
    links = text(people, visit).split('id="links"')[1].split("</section>")[0]
    assert "No byte counters of links" in links
    assert f"/trials/{TRIAL}/windows/trace/links/" in links
    assert f'<a href="?trial={TRIAL}&amp;window=sat-1#links">Window sat-1</a> has them.' in links


def test_one_rank_alone_has_no_boundary(decided: Decision, people: Cast, visit: Visit) -> None:
    assert "nothing crosses from rank to rank" in text(people, visit, "")


def test_the_window_with_the_most_to_show_comes_first() -> None:
    view = traced_view()
    assert chosen_window(view, "")[0] == "trace"
    assert chosen_window(view, "sat-2")[0] == "sat-2"
    assert chosen_window(view, "no-such")[0] == "trace"


def test_of_windows_that_show_as_much_the_first_comes_first() -> None:
    contract, evidence = trees()
    evidence["trials"][TRIAL]["windows"] |= {"trace-10": traced_window(), "trace-1": traced_window()}
    assert chosen_window(view_of(contract, evidence), "")[0] == "trace-1"


def test_a_thousand_ranks_are_one_picture_and_a_page_of_bars(people: Cast, visit: Visit) -> None:
    planned(people, pair=fleet_pair())
    page = text(people, visit, "")
    assert len(page) < 400_000
    assert f'viewBox="0 0 {RANKS} 1000"' in page
    assert page.split('id="steps"')[1].split("</section>")[0].count('<svg class="rk-bar"') == 32


def test_the_number_of_queries_does_not_grow_with_ranks_and_trials(people: Cast, visit: Visit) -> None:
    planned(people)
    planned(people, pair=fleet_pair())
    client = visit(people.audrey)
    assert cost(client, PAGE) == cost(client, PAGE.replace("/1/", "/2/"))


@pytest.mark.parametrize(
    ("table", "rows", "column", "value"),
    [
        pytest.param("steps", 16, "collective_share", "0.4", id="steps"),
        pytest.param("boundaries", 5, "measured_message_bytes", "327680", id="boundaries"),
        pytest.param("links", 0, "", "", id="links of a window without any"),
    ],
)
def test_every_table_can_be_downloaded(
    traced: Decision, people: Cast, visit: Visit, table: str, rows: int, column: str, value: str
) -> None:
    client = visit(people.audrey)
    found = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}{table}.csv{TRACED}").content.decode())))
    tree = json.loads(client.get(f"{PAGE}{table}.json{TRACED}").content)
    assert (len(found), len(tree[table])) == (rows, rows)
    assert not rows or found[0][column] == value


def test_the_counters_of_links_are_downloaded_as_recorded(worked: Decision, people: Cast, visit: Visit) -> None:
    tree = json.loads(visit(people.audrey).get(f"{PAGE}links.json?window=sat-2").content)
    assert len(tree["links"]) == 8
    assert (tree["links"][0]["link"], tree["links"][0]["sample_interval_s"]) == ("a-nic0-up", 1)


def test_a_stranger_sees_nothing(traced: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.charlie).get(PAGE).status_code == 404
    assert visit(people.charlie).get(f"{PAGE}steps.csv").status_code == 404


def test_an_address_that_makes_no_sense_shows_the_page(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?window=<script>alert(1)</script>&from=-1")
    assert '<option value="sat-1" selected>' in page
    assert "<script>alert" not in page
