"""How heavy a decision page gets: 25 candidates with 33 limits each, the most that one page shows, of 500."""

from django.template.loader import render_to_string

from planner.records.plan import FrontierPoint
from reviews.web.banner_rows import alternatives
from reviews.web.frontier_rows import frontier, order
from reviews.web.links import Query
from reviews.web.matrix_rows import matrix
from reviews.web.words import OUTCOMES
from tests.web.plans import DOCUMENTS, candidate, gate, limit, plan

MOST_BYTES = 200_000
FAIL, UNKNOWN, PASS = OUTCOMES["FAIL"], OUTCOMES["UNKNOWN"], OUTCOMES["PASS"]


def test_the_matrix_of_a_full_page_stays_small() -> None:
    rejected = {f"gate_{at:02}": gate(saturated_p95=limit()) for at in range(32)}
    rejected["ttft"] = gate("FAIL", saturated_p95=limit("FAIL", measured=540, margin_share=-0.08))
    of = plan({f"t-{at:02}": candidate("REJECTED", gates=rejected, failing=("ttft",)) for at in range(25)})
    query = Query()
    rows = matrix(of, query=query, titles={}, map_href="/map/", documents=DOCUMENTS)
    words = {"fail": FAIL, "unknown": UNKNOWN, "passed": PASS}
    table = render_to_string("reviews/_matrix.html", {"matrix": rows, "words": words})
    others = render_to_string(
        "reviews/_alternatives.html",
        {"alternatives": alternatives(of, query=query, map_href="/map/"), "not_selected": 25},
    )
    assert len(rows.candidates) * len(rows.rows) == 825
    assert len(table) + len(others) < MOST_BYTES, (len(table), len(others))


def test_the_frontier_and_the_order_of_500_candidates_stay_small() -> None:
    names = [f"trial-{at:03}-of-a-long-sweep" for at in range(500)]
    points = tuple(
        FrontierPoint(
            trial=name,
            state="ELIGIBLE",
            output_tokens_per_s_per_charged_device=45.125 + at / 7,
            output_tokens_per_s_per_request=12.5,
            ttft_ms=200.5 + at / 3,
            usd_per_million_output_tokens=18.25,
            non_dominated=False,
        )
        for at, name in enumerate(names)
    )
    of = plan({name: candidate() for name in names}, frontier=points)
    picture = render_to_string("reviews/_frontier.html", {"frontier": frontier(of, names[:25])})
    table = render_to_string("reviews/_order.html", {"order": order(of, names[:25])})
    assert (picture.count('<tr class="tbl-row">'), table.count('<tr class="tbl-row">')) == (25, 25)
    assert len(picture) + len(table) < 65_000, (len(picture), len(table))
