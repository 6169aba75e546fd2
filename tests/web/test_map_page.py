import csv
import io
import json
import re

from reviews.models import Decision
from tests.reviews.factories import Cast, example_pair, planned, submitted
from tests.web.conftest import Visit

PAGE = "/w/lab/decisions/1/map/"


def text(people: Cast, visit: Visit, query: str = "") -> str:
    return visit(people.audrey).get(f"{PAGE}{query}").content.decode()


def test_every_rank_is_a_link_to_its_coordinates(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    assert re.findall(r'class="m-a" href="\?rank=(\d+)#rank"', page) == [str(rank) for rank in range(16)]


def test_a_rank_has_a_panel_with_its_groups(worked: Decision, people: Cast, visit: Visit) -> None:
    panel = text(people, visit, "?rank=5").split('id="rank"')[1]
    assert "Rank 5" in panel
    assert '4, <b>5</b>, 6, 7 <span class="muted">· inside one island</span>' in panel


def test_the_selected_trial_is_shown_unless_another_is_asked_for(worked: Decision, people: Cast, visit: Visit) -> None:
    assert ">tp4-pp2-ep2-dp1</h2>" in text(people, visit)
    assert ">tp4-pp1-ep2-dp1</h2>" in text(people, visit, "?trial=t-one-node")


def test_trials_are_offered_by_the_name_of_the_matrix(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    assert '<option value="t-base-16" selected>tp4-pp2-ep2-dp1 · t-base-16</option>' in page
    assert '<option value="t-one-node">tp4-pp1-ep2-dp1 · t-one-node</option>' in page


def test_colour_follows_the_kind_that_is_asked_for(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?colour=expert")
    assert ("f-expert-0" in page, "f-tensor-0" in page) == (True, False)


def test_what_a_lost_node_takes_down_is_said(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?lost=node-b")
    assert "<b>node-b lost.</b>" in page
    assert "8 lost, 8 down with their serving group" in page


def test_the_lines_of_a_rank_that_is_down_are_as_short_as_before(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?lost=node-b")
    assert page.count('<tspan class="map-strong">down</tspan> · T') == 8
    assert page.count(">stage 0 · E0</text>") == 2


def test_the_same_ranks_are_a_table(worked: Decision, people: Cast, visit: Visit) -> None:
    table = text(people, visit).split('id="ranks"')[1]
    assert table.count('<tr class="tbl-row">') == 16
    assert "T1.1" in table


def test_a_trial_without_values_per_rank_has_no_chart(people: Cast, visit: Visit) -> None:
    planned(people, pair=example_pair("gpt-oss-120b-h200"))
    page = text(people, visit)
    assert ("No metric was recorded per rank" in page, "plotly" in page) == (True, False)


def test_labels_for_the_chart_are_plain_ids(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    data = json.loads(re.findall(r'<script id="heat-data" type="application/json">(.*?)</script>', page)[0])
    assert data["rows"] == ["node-a", "node-b"]


def test_ranks_are_downloaded_as_csv(worked: Decision, people: Cast, visit: Visit) -> None:
    answer = visit(people.audrey).get(f"{PAGE}ranks.csv?trial=t-base-16")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert answer["Content-Disposition"] == 'attachment; filename="D-0001-r1-ranks.csv"'
    assert (len(rows), rows[5]["device"], rows[5]["tp_group"], rows[4]["device_used_peak_bytes"]) == (
        16,
        "a5",
        "T1.1",
        "53687091200",
    )


def test_ranks_are_downloaded_as_json(worked: Decision, people: Cast, visit: Visit) -> None:
    tree = visit(people.audrey).get(f"{PAGE}ranks.json").json()
    assert (tree["trial"], tree["ranks"][4]["device_used_peak_bytes"]) == ("t-base-16", 53687091200)


def test_an_unplanned_revision_has_a_map_too(people: Cast, visit: Visit) -> None:
    submitted(people, pair=example_pair())
    assert "Rank map of" in text(people, visit, "?trial=t-wide-16")


def test_the_decision_asks_for_the_notes_of_the_selected_map(worked: Decision, people: Cast, visit: Visit) -> None:
    page = visit(people.audrey).get("/w/lab/decisions/1/").content.decode()
    assert 'hx-get="/w/lab/decisions/1/map/notes?revision=1&amp;trial=t-base-16"' in page
    assert 'href="/w/lab/decisions/1/map/?trial=t-base-16#notes"' in page


def test_notes_are_counted_with_a_link_to_them(people: Cast, visit: Visit) -> None:
    planned(people, pair=example_pair("deepseek-v4-flash-b200"))
    part = visit(people.audrey).get(f"{PAGE}notes?revision=1&trial=tp2").content.decode()
    assert '<a href="/w/lab/decisions/1/map/?revision=1&amp;trial=tp2#notes">2 notices</a> on its rank map' in part
    assert "<html" not in part
    assert "2 notices" in text(people, visit, "?trial=tp2")


def test_a_map_without_notes_is_said_to_have_none(worked: Decision, people: Cast, visit: Visit) -> None:
    assert "Nothing to note" in visit(people.audrey).get(f"{PAGE}notes?trial=t-base-16").content.decode()


def test_what_one_failure_takes_down_is_a_table_with_links(worked: Decision, people: Cast, visit: Visit) -> None:
    table = text(people, visit).split('id="failures"')[1].split("</section>")[0]
    assert 'href="?lost=rack:rack-1#map"' in table


def test_groups_of_the_shown_kind_name_their_slowest_link(worked: Decision, people: Cast, visit: Visit) -> None:
    table = text(people, visit, "?colour=expert").split('id="groups"')[1].split("</section>")[0]
    assert table.count('<tr class="tbl-row">') == 8
    assert "a-nic0-up" in table


def test_groups_are_downloaded(worked: Decision, people: Cast, visit: Visit) -> None:
    tree = visit(people.audrey).get(f"{PAGE}groups.json?trial=t-base-16").json()
    found = next(row for row in tree["groups"] if row["group"] == "E5")
    assert (found["ranks"], found["slowest_link"], found["bytes_per_s_one_way"]) == ("5 13", "a-nic2-up", 12500000000)
