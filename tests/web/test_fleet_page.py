"""The map page of 1,024 ranks: light, whole, paged, and usable without a script."""

import csv
import io
import re

import pytest

from reviews.models import Decision
from tests.reviews.factories import Cast, planned
from tests.web.conftest import Visit
from tests.web.fleet import RANKS, fleet_pair
from tests.web.reading import read

PAGE = "/w/lab/decisions/1/map/"
MOST_BYTES = 350_000
MOST_BYTES_WITH_POOLS = 450_000


@pytest.fixture
def fleet(people: Cast) -> Decision:
    return planned(people, pair=fleet_pair()).decision


def get(people: Cast, visit: Visit, query: str = "") -> str:
    return read(visit(people.audrey).get(f"{PAGE}{query}"))


def test_every_rank_is_a_button_of_one_form_that_keeps_the_rest_of_the_address(
    fleet: Decision, people: Cast, visit: Visit
) -> None:
    page = get(people, visit, "?trial=t-near&colour=ep&rank=5")
    form = page.split('<form id="pick"')[1].split("<svg")[0]
    assert re.findall(r'name="rank" value="(\d+)" aria-label', page) == [str(rank) for rank in range(RANKS)]
    assert re.findall(r'name="(\w+)" value="([\w-]+)"', form) == [("trial", "t-near"), ("colour", "ep")]


def test_the_page_stays_light(fleet: Decision, people: Cast, visit: Visit) -> None:
    sizes = {query: len(get(people, visit, query)) for query in ("?rank=5", "?lost=rack:rack-03&colour=ep", "compare/")}
    assert max(sizes.values()) < MOST_BYTES, sizes
    assert len(get(people, visit, "?trial=t-pools&lost=rack:rack-03")) < MOST_BYTES_WITH_POOLS


def test_the_table_has_the_page_of_the_selected_rank_and_the_download_all(
    fleet: Decision, people: Cast, visit: Visit
) -> None:
    page = get(people, visit, "?rank=700")
    assert "Ranks 640–703 of 1,024; the downloads have all" in page
    answer = visit(people.audrey).get(f"{PAGE}ranks.csv?trial=t-near")
    assert len(list(csv.DictReader(io.StringIO(answer.content.decode())))) == RANKS


def test_a_rank_is_chosen_by_its_number_without_a_script(fleet: Decision, people: Cast, visit: Visit) -> None:
    page = get(people, visit, "?rank=700")
    assert (
        '<input class="input input-number" id="rank-number" type="number" name="rank" min="0" max="1023" required>'
        in page
    )


def test_groups_that_are_alike_are_one_row_and_the_download_has_each(
    fleet: Decision, people: Cast, visit: Visit
) -> None:
    table = get(people, visit, "?colour=tp").split('id="groups"')[1].split("</section>")[0]
    answer = visit(people.audrey).get(f"{PAGE}groups.csv?trial=t-near")
    kinds = [row["kind"] for row in csv.DictReader(io.StringIO(answer.content.decode()))]
    assert ("T0–T127" in table, kinds.count("tp"), kinds.count("ep")) == (True, 128, 8)


def test_any_node_rack_or_device_may_be_lost(fleet: Decision, people: Cast, visit: Visit) -> None:
    page = get(people, visit)
    assert '<option value="rack:rack-15">' in page
    assert page.count('<a class="dn-name" href="?lost=node:n') == 128
    lost = get(people, visit, "?lost=rack:rack-00")
    assert "64 lost, 192 down with their serving group" in lost
    assert "75 % of what was served" in lost


def test_pools_are_two_maps_with_the_hand_off_between(fleet: Decision, people: Cast, visit: Visit) -> None:
    section = get(people, visit, "?trial=t-pools").split('id="pools"')[1].split("</section>")[0]
    assert section.count("2 serving groups, 512 ranks on 64 nodes") == 2
    assert "64.8 %" in section


def test_maps_of_equal_degrees_differ_by_what_they_join(fleet: Decision, people: Cast, visit: Visit) -> None:
    page = get(people, visit, "compare/?trial=t-near&with=t-far")
    assert "Tensor joins n000 and n001." in page
    assert "128 groups across nodes" in page
