"""Bars, links, labels for Plotly, CSV."""

from fractions import Fraction

import pytest

from planner.records.plan import Outcome, Ratio, Value
from reviews.templatetags.reviews import coded
from reviews.web.bars import Bar, bar_of
from reviews.web.csv_text import Value as Cell
from reviews.web.csv_text import csv_response, defused, plain
from reviews.web.links import Query
from reviews.web.plot_labels import plot_label


@pytest.mark.parametrize(
    ("outcome", "share", "bar"),
    [
        pytest.param("PASS", Ratio(num=1, den=2), Bar("pass", 34.0, 66.0), id="half of the limit fills the room"),
        pytest.param("PASS", 5, Bar("pass", 34.0, 66.0), id="more than half is clipped"),
        pytest.param("PASS", 0.25, Bar("pass", 34.0, 33.0), id="a quarter fills half of it"),
        pytest.param("PASS", 0, Bar("pass", 34.0, 1.2), id="no margin is still seen"),
        pytest.param("FAIL", -0.25, Bar("fail", 1.0, 33.0), id="a shortfall of a quarter fills the left"),
        pytest.param("FAIL", -3, Bar("fail", 1.0, 33.0), id="a larger one is clipped"),
        pytest.param("FAIL", -0.125, Bar("fail", 17.5, 16.5), id="half of that ends at the limit"),
        pytest.param("UNKNOWN", None, Bar("unk", 34.0, 66.0), id="unknown is an empty box, never zero"),
        pytest.param("PASS", None, None, id="a pass without a margin has none"),
        pytest.param("NOT_APPLICABLE", 0.5, None, id="not applicable has none"),
    ],
)
def test_bar(outcome: Outcome, share: Value, bar: Bar | None) -> None:
    assert bar_of(outcome, share) == bar


def test_a_link_keeps_the_address_and_changes_one_thing() -> None:
    query = Query.of({"revision": "2", "cell": "t~g~l", "other": "x"}, keep=("revision", "cell"))
    assert query.link("matrix", cell=None, page=3) == "?revision=2&page=3#matrix"


def test_a_link_escapes_what_came_from_outside() -> None:
    assert Query((("q", '"><script>'),)).link() == "?q=%22%3E%3Cscript%3E"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        pytest.param("tp4-pp2-ep2-dp1@t-01", "t-d627cd5d", id="an at sign is not in the list"),
        pytest.param("tp4-pp2-ep2-dp1", "tp4-pp2-ep2-dp1", id="a topology"),
        pytest.param("a" * 65, "t-635361c4", id="too long"),
        pytest.param("<b>x</b>", "t-e31e3a8e", id="markup"),
        pytest.param("", "t-e3b0c442", id="nothing"),
    ],
)
def test_plot_label(text: str, label: str) -> None:
    found = plot_label(text)
    assert (found, len(found) <= 64) == (label, True)


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠"])
def test_text_that_a_spreadsheet_would_run_is_defused(first: str) -> None:
    assert defused(f"{first}1+1") == f"'{first}1+1"


def test_numbers_stay_numbers_in_csv() -> None:
    answer = csv_response("a.csv", ("name", "value"), [["=1", -1.5], ["b", None]])
    assert answer.content == b'"name","value"\r\n"\'=1",-1.5\r\n"b",""\r\n'


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param(Fraction(2**60), 2**60, id="a whole number in full"),
        pytest.param(Fraction(1, 3), 1 / 3, id="the nearest double"),
        pytest.param(Fraction(10**400, 3), str(round(Fraction(10**400, 3))), id="beyond every double"),
    ],
)
def test_a_figure_for_a_spreadsheet(value: Fraction | None, cell: Cell) -> None:
    assert plain(value) == cell


def test_csv_is_saved_and_never_guessed_at() -> None:
    answer = csv_response("a.csv", ("x",), [])
    assert (answer["Content-Disposition"], answer["X-Content-Type-Options"], answer["Content-Type"]) == (
        'attachment; filename="a.csv"',
        "nosniff",
        "text/csv; charset=utf-8",
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Run `topogate requalify` <now>.", "Run <code>topogate requalify</code> &lt;now&gt;."),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
        ("one ` alone", "one ` alone"),
    ],
)
def test_what_stands_between_backticks_is_code(text: str, written: str) -> None:
    assert coded(text) == written
