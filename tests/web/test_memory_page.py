"""The memory page: every rank against its device, hypotheses beside measurements, what is missing named."""

import csv
import io
import json
import re
from fractions import Fraction
from typing import Any

import pytest

from reviews.models import Decision
from reviews.web.memory_estimates import Estimates, estimates
from reviews.web.memory_facts import WindowMemory, tightest, windows_with_memory
from reviews.web.memory_rows import headline, memory_rows, notes_of
from tests.queries import cost
from tests.reviews.factories import Cast, example_pair, planned, submitted
from tests.web.conftest import Visit
from tests.web.fleet import RANKS, fleet_pair
from tests.web.reading import read
from tests.web.traces import TRIAL, pair_of, trees, view_of

PAGE = "/w/lab/decisions/1/memory/"
GIB = 2**30


def text(people: Cast, visit: Visit, query: str = "") -> str:
    return read(visit(people.audrey).get(f"{PAGE}{query}"))


def changed(window: str = "sat-2", **per_rank: Any) -> WindowMemory:
    """The example's window with metrics of its ranks replaced; None takes one out."""
    contract, evidence = trees()
    recorded = evidence["trials"][TRIAL]["windows"][window]["per_rank"]
    for name, values in per_rank.items():
        if values is None:
            del recorded[name]
        else:
            recorded[name]["values"] = values
    found = windows_with_memory(view_of(contract, evidence))
    return next(memory for memory in found if memory.window.id == window)


def estimates_without(*fields: str) -> Estimates:
    """What can be estimated when the contract's model does not state some fields."""
    contract, evidence = trees()
    for model in (contract["identity"]["model"], *(found["model"] for found in evidence["identities"].values())):
        for name in fields:
            del model[name]
    view = view_of(contract, evidence)
    return estimates(view, windows_with_memory(view)[0])


def test_the_page_has_its_tab_and_a_bar_for_every_rank(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit)
    assert 'aria-current="page">Memory</a>' in page
    assert page.count('<svg class="rk-bar"') == 16
    assert re.findall(r'href="[^"]*map/\?rank=(\d+)#rank"', page) == [str(rank) for rank in range(16)]


def test_the_worst_rank_is_named_before_everything_else(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?trial=t-one-node")
    lead = re.findall(r'<p class="rk-lead">(.*?)</p>', page)
    assert lead == ["Rank 4 on node-a, device a4, uses 71.5 GiB, 7.5 GiB more than the 64.0 GiB it may."]
    assert page.count('<span class="tag tag-plain">worst</span>') == 1
    assert page.count('<rect class="rk-over"') == 8


def test_the_gate_says_the_verdict_and_leads_to_its_cell(worked: Decision, people: Cast, visit: Visit) -> None:
    said = text(people, visit, "?trial=t-one-node").split('class="rk-said"')[1].split("</ul>")[0]
    assert "Fail" in said
    assert "Rank 4 on node-a uses 71.5 GiB of 64.0 GiB." in said
    assert "decisions/1/?cell=t-one-node~memory_headroom~worst_rank#cell" in said


def test_the_window_with_the_least_room_is_shown_unless_another_is_asked_for(
    worked: Decision, people: Cast, visit: Visit
) -> None:
    assert '<option value="sat-2" selected>' in text(people, visit)
    assert '<option value="sat-1" selected>' in text(people, visit, "?window=sat-1")
    assert '<option value="sat-2" selected>' in text(people, visit, "?window=no-such-window")


def test_a_window_without_components_is_drawn_as_one_part(worked: Decision, people: Cast, visit: Visit) -> None:
    page = text(people, visit, "?window=sat-1")
    assert page.count('<rect class="p-whole" x="0"') == 16
    assert "used at the peak, not broken down" in page


def test_the_same_numbers_are_a_table(worked: Decision, people: Cast, visit: Visit) -> None:
    table = text(people, visit).split('id="ranks"')[1].split("</section>")[0]
    assert table.count('<tr class="tbl-row">') == 16
    assert "Not accounted for" in table


def test_an_estimate_is_called_one_and_names_what_is_missing(worked: Decision, people: Cast, visit: Visit) -> None:
    part = text(people, visit).split('id="estimates"')[1].split("</section>")[0]
    assert "An estimate is arithmetic on the contract; no gate reads one" in part
    assert "/identity/model/tied_embeddings" in part
    assert "layers of the stage * 2 * kv heads of the rank" in part


def test_without_memory_the_fields_are_named_and_nothing_is_drawn(people: Cast, visit: Visit) -> None:
    planned(people, pair=example_pair("gpt-oss-120b-h200"))
    page = text(people, visit)
    assert "No memory was recorded per rank" in page
    assert "device_used_peak_bytes" in page
    assert 'class="rk-bar"' not in page


def test_a_decision_that_is_being_planned_has_the_page_too(people: Cast, visit: Visit) -> None:
    submitted(people, pair=example_pair())
    page = text(people, visit)
    assert page.count('<svg class="rk-bar"') > 0
    assert 'class="rk-said"' not in page


def test_a_thousand_ranks_are_one_picture_and_a_page_of_bars(people: Cast, visit: Visit) -> None:
    planned(people, pair=fleet_pair())
    page = text(people, visit)
    assert len(page) < 400_000
    assert page.count('<svg class="rk-bar"') == 32
    assert f'viewBox="0 0 {RANKS} 1000"' in page
    assert 'aria-label="Ranks 288–319" aria-current="true"' in page
    assert "Ranks 992–1,023 of 1,024" in text(people, visit, "?from=1023")


def test_the_number_of_queries_does_not_grow_with_ranks_and_trials(people: Cast, visit: Visit) -> None:
    planned(people)
    planned(people, pair=fleet_pair())
    client = visit(people.audrey)
    assert cost(client, PAGE) == cost(client, PAGE.replace("/1/", "/2/"))


def test_the_downloads_have_every_rank_in_bytes_with_its_estimate(people: Cast, visit: Visit) -> None:
    planned(people, pair=pair_of(*trees()))
    client = visit(people.audrey)
    query = f"?trial={TRIAL}&window=sat-2"
    rows = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}ranks.csv{query}").content.decode())))
    tree = json.loads(client.get(f"{PAGE}ranks.json{query}").content)
    assert (len(rows), len(tree["memory"])) == (16, 16)
    assert tree["memory"][0]["most_bytes"] == 64 * GIB
    assert tree["memory"][0]["estimated_kv_cache_bytes"] == 12 * GIB
    assert rows[3]["kv_cache_bytes"] == str(tree["memory"][3]["kv_cache_bytes"])


def test_there_is_nothing_to_download_where_nothing_was_recorded(people: Cast, visit: Visit) -> None:
    planned(people, pair=example_pair("gpt-oss-120b-h200"))
    assert visit(people.audrey).get(f"{PAGE}ranks.csv").status_code == 404


def test_a_stranger_sees_nothing(worked: Decision, people: Cast, visit: Visit) -> None:
    assert visit(people.charlie).get(PAGE).status_code == 404
    assert visit(people.charlie).get(f"{PAGE}ranks.csv").status_code == 404


def test_what_no_component_accounts_for_has_a_name() -> None:
    memory = changed(device_used_peak_bytes=[50 * GIB] * 16, activations_bytes=[0] * 16)
    row = memory.ranks[0]
    assert row.unaccounted == 50 * GIB - sum(part or 0 for part in row.parts)
    assert memory_rows(memory, range(1))[0].segments[-1].css == "p-rest"


def test_components_that_exceed_the_peak_are_said_not_to_be_simultaneous() -> None:
    memory = changed(device_used_peak_bytes=[30 * GIB] * 16)
    assert memory.ranks[0].unaccounted == 0
    assert any("each has its highest value at a moment of its own" in note for note in notes_of(memory))


def test_a_missing_peak_stays_missing() -> None:
    memory = changed(device_used_peak_bytes=[None, *[40 * GIB] * 15])
    assert memory_rows(memory, range(1))[0].peak == "missing"
    assert memory.ranks[0].room is None
    assert "No peak was recorded for rank 0." in list(notes_of(memory))


def test_components_without_any_peak_leave_the_room_open() -> None:
    memory = changed(device_used_peak_bytes=None)
    assert memory.worst is None
    assert headline(memory) == "No peak was recorded."
    assert "nothing says how much room is left" in " ".join(notes_of(memory))


def test_the_worst_rank_is_the_one_with_the_least_room_the_lowest_of_equals() -> None:
    memory = changed(device_used_peak_bytes=[*[40 * GIB] * 6, 50 * GIB, 50 * GIB, *[40 * GIB] * 8])
    assert memory.worst is memory.ranks[6]
    assert headline(memory) == "Rank 6 on node-b, device b2, has the least room: 50.0 of 64.0 GiB, 21.9 % left."


def test_the_counted_window_with_the_least_room_comes_first() -> None:
    contract, evidence = trees()
    windows = evidence["trials"][TRIAL]["windows"]
    windows["sat-1"]["per_rank"]["device_used_peak_bytes"]["values"] = [60 * GIB] * 16
    found = tightest(windows_with_memory(view_of(contract, evidence)))
    assert found is not None
    assert found.window.id == "sat-1"


def test_an_estimate_stands_beside_the_fullest_of_its_ranks() -> None:
    memory = changed(kv_cache_bytes=[14 * GIB, 15 * GIB, *[13 * GIB] * 14])
    contract, evidence = trees()
    first = estimates(view_of(contract, evidence), memory).groups[0]
    row = next(row for row in first.rows if row.name == "KV cache")
    assert (first.title, row.estimate) == ("Ranks 0–3, 8–11: stage 0, 16 experts of a layer each", "12.0 GiB")
    assert (row.measured, row.at, row.difference, row.share) == ("15.0 GiB", "rank 1", "+3.0 GiB", "+25 %")


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        pytest.param((), (), id="everything stated"),
        pytest.param(("head_dim",), ("/identity/model/head_dim",), id="one field"),
        pytest.param(
            ("tied_embeddings", "vocab_size"),
            ("/identity/model/vocab_size", "/identity/model/tied_embeddings"),
            id="two fields",
        ),
    ],
)
def test_fields_that_an_estimate_needs_are_all_named(fields: tuple[str, ...], missing: tuple[str, ...]) -> None:
    found = estimates_without(*fields)
    assert set(found.missing) == set(missing)


def test_a_refused_layout_has_no_estimate_and_says_why() -> None:
    contract, evidence = trees()
    evidence["trials"][TRIAL]["topology"]["instances"][0]["pp"] = 5
    view = view_of(contract, evidence)
    found = estimates(view, windows_with_memory(view)[0])
    assert found.groups == ()
    assert "48" in found.refusal


def test_a_device_that_is_not_declared_has_no_limit() -> None:
    contract, evidence = trees()
    evidence["trials"][TRIAL]["rank_map"][2]["device"] = "a99"
    memory = windows_with_memory(view_of(contract, evidence))[0]
    assert (memory.ranks[2].most, memory.ranks[2].room) == (None, None)
    assert "The contract does not declare the device of rank 2." in list(notes_of(memory))


def test_the_limit_of_another_load_point_does_not_bind() -> None:
    contract, evidence = trees()
    contract["gates"]["memory_headroom"]["worst_rank"]["max_used_bytes"] = 30 * GIB
    windows = {memory.window.id: memory for memory in windows_with_memory(view_of(contract, evidence))}
    assert windows["sat-1"].ranks[0].most == 30 * GIB
    single = evidence["trials"][TRIAL]["windows"]["single"]
    single["per_rank"] = {"device_used_peak_bytes": {"scope": "device", "values": [20 * GIB] * 16}}
    windows = {memory.window.id: memory for memory in windows_with_memory(view_of(contract, evidence))}
    assert windows["single"].ranks[0].most == Fraction(80 * GIB) * Fraction(8, 10)
