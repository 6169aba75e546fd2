"""The communication page: waiting and moving apart, who is late, bytes at boundaries, links, what is missing named."""

import csv
import io
import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reviews.models import Decision
from reviews.web.boundary_rows import Boundaries, BoundaryRow, boundaries_of
from reviews.web.communication import chosen_window
from reviews.web.memory_facts import window_of
from reviews.web.step_facts import WindowSteps, steps_of
from reviews.web.step_rows import figures, incident_lines, lateness_lines
from tests.reviews.factories import Cast, planned
from tests.web.conftest import Visit
from tests.web.fleet import RANKS, fleet_pair
from tests.web.traces import TRIAL, own_ms, traced_pair, traced_view, traced_window, trees, view_of

PAGE = "/w/lab/decisions/1/communication/"
TRACED = f"?trial={TRIAL}"


@pytest.fixture
def traced(people: Cast) -> Decision:
    """The example with an instrumented window, planned."""
    return planned(people, pair=traced_pair()).decision


def text(people: Cast, visit: Visit, query: str = TRACED) -> str:
    return visit(people.audrey).get(f"{PAGE}{query}").content.decode()


def steps_with(**per_rank: list[float | None] | None) -> tuple[WindowSteps, list[str]]:
    """The traced window with metrics of its ranks replaced (None takes one out), and what is said of it."""
    contract, evidence = trees()
    window = traced_window()
    for name, values in per_rank.items():
        if values is None:
            window["per_rank"].pop(name)
        else:
            window["per_rank"][name] = {"scope": "rank", "values": values}
    evidence["trials"][TRIAL]["windows"]["trace"] = window
    view = view_of(contract, evidence)
    steps = steps_of(view, window_of(view, "trace"))
    return steps, list(lateness_lines(view, steps))


def boundaries_with(collectives: dict[str, Any], **sections: Any) -> Boundaries:
    """The boundaries of the traced window with other operations."""
    contract, evidence = trees()
    window = {**traced_window(), "collectives": collectives, **sections}
    evidence["trials"][TRIAL]["windows"]["trace"] = window
    view = view_of(contract, evidence)
    return boundaries_of(view, window_of(view, "trace"))


def row_of(found: Boundaries, name: str, phase: str) -> BoundaryRow:
    return next(row for row in found.rows if (row.name, row.phase) == (name, phase))


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


def test_one_rank_alone_has_no_boundary(decided: Decision, people: Cast, visit: Visit) -> None:
    assert "nothing crosses from rank to rank" in text(people, visit, "")


def test_the_window_with_the_most_to_show_comes_first() -> None:
    view = traced_view()
    assert chosen_window(view, "")[0] == "trace"
    assert chosen_window(view, "sat-2")[0] == "sat-2"
    assert chosen_window(view, "no-such")[0] == "trace"


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
    counts = []
    for number in (1, 2):
        with CaptureQueriesContext(connection) as captured:
            assert client.get(f"/w/lab/decisions/{number}/communication/").status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]


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


def test_own_work_is_compared_with_peers_and_steps_are_not() -> None:
    steps, _ = steps_with()
    slow = steps.ranks[5]
    assert (slow.own, slow.step) == (24, 30)
    assert steps.slowest is slow
    assert {row.step for row in steps.ranks} == {30}


def test_the_highest_share_is_that_of_the_fastest_rank() -> None:
    steps, _ = steps_with()
    assert steps.heaviest is steps.ranks[0]
    assert own_ms(0) == min(own_ms(rank) for rank in range(16))


def test_a_rank_that_stays_slow_is_told_from_slowness_that_moves() -> None:
    stays, moves = steps_with()[1], steps_with(slowest_sample_share=[0.3] * 16)[1]
    assert "Rank 5 is slowest in 94 % of the samples: it stays on this rank." in stays
    assert "Rank 5 is slowest in 30 % of the samples: it moves between ranks." in moves


@pytest.mark.parametrize(
    ("late", "line"),
    [
        pytest.param([5], "One rank is late: look at its placement, device and host.", id="one rank"),
        pytest.param([5, 13], "2 ranks are late, all on node-b: look at that node.", id="one node"),
        pytest.param([1, 5], "2 ranks are late, on several nodes: look at a link that they share.", id="nodes"),
    ],
)
def test_what_the_pattern_suggests(late: list[int], line: str) -> None:
    assert line in steps_with(arrival_lag_ms=[8 if rank in late else 0 for rank in range(16)])[1]


def test_late_ranks_of_later_stages_stand_behind_the_earliest() -> None:
    steps, lines = steps_with(arrival_lag_ms=[7 if rank == 1 else 9 if rank == 5 else 0 for rank in range(16)])
    assert (steps.lateness[0].rank, steps.lateness[0].reporter) == (1, 0)
    assert "Rank 5 of a later stage is late behind rank 1." in lines


def test_even_arrivals_make_nobody_late() -> None:
    contract_steps, _ = steps_with(arrival_lag_ms=[rank % 4 * 0.5 for rank in range(16)])
    assert contract_steps.lateness == ()
    found = list(figures(traced_view(), contract_steps))
    assert (found[1].value, found[1].text) == ("No rank", "The widest spread of arrivals is 1.5 ms, up to rank 3.")


def test_collectives_that_are_not_split_stay_one_time() -> None:
    steps, _ = steps_with(
        collective_wait_ms=None, collective_move_ms=None, arrival_lag_ms=None, collective_ms=[12] * 16
    )
    assert steps.ranks[0].parts == (18, 12, 0, 0)
    found = list(figures(traced_view(), steps))
    assert found[0].text == "On rank 0, the most: waiting and moving are not split."
    assert found[1].value == "Not recorded"


def test_a_rank_without_times_has_no_bar() -> None:
    steps, _ = steps_with(
        step_ms=[None, *[30] * 15], collective_wait_ms=[None, *[9] * 15], collective_move_ms=[None, *[3] * 15]
    )
    assert steps.ranks[0].parts is None
    assert steps.ranks[1].parts == (18, 0, 9, 3)


def test_incidents_of_communication_are_counted() -> None:
    steps, _ = steps_with()
    assert list(incident_lines(steps)) == ["1 collective timeout in this window, the first after 74 s."]


def test_a_message_is_compared_with_the_estimate_of_its_boundary_and_phase() -> None:
    view = traced_view()
    row = row_of(boundaries_of(view, window_of(view, "trace")), "Pipeline", "decode")
    assert (row.estimate, row.measured, row.difference, row.share) == ("320.0 KiB", "640.0 KiB", "+320.0 KiB", "+100 %")


def test_a_message_of_mixed_phases_is_compared_with_nothing() -> None:
    found = boundaries_with({"m": {"operation": "all_reduce", "group_kind": "tp", "message_bytes": 5}})
    row = row_of(found, "Tensor", "mixed")
    assert (row.estimate, row.measured, row.difference) == ("", "5 B", "")
    assert row_of(found, "Tensor", "decode").measured == ""


@pytest.mark.parametrize(
    ("name", "operation", "group_kind", "boundary"),
    [
        pytest.param("a", "all_reduce", None, "Tensor", id="by operation"),
        pytest.param("a", "send_recv", None, "Pipeline", id="a send without a group"),
        pytest.param("a", "all_gather", "ep", "Expert", id="by group before operation"),
        pytest.param("moe-dispatch", "all_to_all", "ep", "Expert dispatch", id="dispatch by its id"),
        pytest.param("moe-combine", "all_to_all", None, "Expert combine", id="combine by its id"),
        pytest.param("a", "all_reduce", "dp", "Other", id="data groups are no boundary of the request"),
        pytest.param("a", "broadcast", None, "Other", id="an operation of no boundary"),
    ],
)
def test_an_operation_is_put_at_its_boundary(name: str, operation: str, group_kind: str | None, boundary: str) -> None:
    recorded: dict[str, Any] = {"operation": operation, "message_bytes": 7}
    if group_kind:
        recorded["group_kind"] = group_kind
    row = next(row for row in boundaries_with({name: recorded}).rows if row.measured_id)
    assert (row.name, row.measured) == (boundary, "7 B")


@pytest.mark.parametrize(
    ("handoff", "measured"),
    [
        pytest.param({"bytes_total": 4096, "transfers": 4, "counted_per": "request"}, "1.0 KiB", id="by request"),
        pytest.param(
            {"bytes_total": 4096, "transfers": 8, "counted_per": "rank", "transfers_per_request": 4},
            "2.0 KiB",
            id="by rank",
        ),
        pytest.param({"bytes_total": 4096, "transfers": 8, "counted_per": "rank"}, "", id="parts not counted"),
        pytest.param({"bytes_total": 4096}, "", id="transfers not counted"),
    ],
)
def test_the_hand_off_is_bytes_of_a_request(handoff: dict[str, Any], measured: str) -> None:
    row = next(row for row in boundaries_with({}, handoff=handoff).rows if row.measured_id == "handoff")
    assert (row.name, row.measured) == ("Hand-off to decode", measured)


def test_the_slowest_rank_of_an_operation_is_named() -> None:
    rates = [5 * 2**30, 3 * 2**30, None, 3 * 2**30]
    found = boundaries_with({"a": {"operation": "all_reduce", "bus_bytes_per_s_by_rank": rates}})
    row = next(row for row in found.rows if row.measured_id == "a")
    assert ("Slowest rank", "rank 1, 3.0 GiB/s") in row.facts


def test_a_boundary_that_cannot_be_estimated_names_the_fields() -> None:
    contract, evidence = trees()
    for model in (contract["identity"]["model"], *(found["model"] for found in evidence["identities"].values())):
        del model["hidden_size"]
    view = view_of(contract, evidence)
    assert boundaries_of(view, window_of(view, "sat-1")).missing == ("/identity/model/hidden_size",)


def test_a_refused_layout_has_no_peers_and_no_estimate() -> None:
    contract, evidence = trees()
    evidence["trials"][TRIAL]["topology"]["instances"][0]["pp"] = 5
    view = view_of(contract, evidence)
    assert steps_of(view, window_of(view, "sat-1")).lateness == ()
    assert "48" in boundaries_of(view, window_of(view, "sat-1")).refusal


def test_an_address_that_makes_no_sense_shows_the_page(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?window=<script>alert(1)</script>&from=-1")
    assert '<option value="sat-1" selected>' in page
    assert "<script>alert" not in page
