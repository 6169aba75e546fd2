"""Rows of what is loose in a draft: what is the same of several trials is one row, and names all of them."""

from msgspec.structs import replace

from planner.builder import settle
from planner.builder.records import RunId
from planner.builder.state import OpenPoint, Unplaced
from reviews.web.builder_loose_rows import (
    DifferenceRow,
    OpenRow,
    UnplacedRow,
    difference_rows,
    open_rows,
    unplaced_rows,
)
from tests.planner.builder.kit import BECAUSE, BY, FILES, completed, drafted, log, looked_at

FOLDER = "example--model-8b"
LOGS = {"tp2.log": log(2, model=FOLDER), "tp4.log": log(4, model=FOLDER)}
NAMES = {name: content for name, content in FILES.items() if name.endswith("memory.json")}


def test_the_same_difference_of_all_trials_is_one_row_that_a_person_may_settle() -> None:
    draft = drafted({**NAMES, **LOGS})
    rows = [row for row in difference_rows(looked_at(draft)) if row.field.endswith("/model/name")]
    assert rows == [
        DifferenceRow(
            trials="every trial",
            field="/identities/*/model/name",
            expected="example/model-8b",
            found=FOLDER,
            own='"example/model-8b"',
        )
    ]
    settled = settle(draft, rows[0].field, by=BY, because=BECAUSE, run=None, format=None, value="example/model-8b")
    assert not [row for row in difference_rows(looked_at(settled)) if row.field.endswith("/model/name")]


def test_a_difference_of_one_trial_names_it() -> None:
    rows = difference_rows(looked_at(drafted({"tp2.log": log(2, model="other/model"), "tp4.log": log(4)})))
    assert [(row.trials, row.found, row.own) for row in rows if row.field.endswith("/model/name")] == [
        ("tp2", "other/model", "")
    ]


def test_a_value_without_a_place_in_several_trials_is_one_row() -> None:
    state = looked_at(completed(drafted()))
    run: RunId = "0123456789abcdef.1"
    loose = tuple(
        Unplaced(trial=trial, run=run, file=f"{trial}.log", names=("a", "b"), sentence="it has no place")
        for trial in ("tp2", "tp4", "tp2")
    )
    assert unplaced_rows(replace(state, unplaced=loose)) == (
        UnplacedRow("tp2 and tp4", "tp2.log and tp4.log", "a and b", "it has no place"),
    )


def test_an_open_point_of_several_windows_names_them_and_whether_it_is_asked() -> None:
    fields = ("/trials/tp2/windows/one/purpose", "/trials/tp4/windows/two/purpose")
    points = tuple(OpenPoint(code="builder/unanswered", field=field, sentence="Does it count?") for field in fields)
    other = OpenPoint(code="document/range", field="/provenance/tool", sentence="It is none.")
    assert open_rows(replace(looked_at(drafted()), open=(*points, other))) == (
        OpenRow("Does it count?", "tp2 · one and tp4 · two", fields[0], is_asked=True),
        OpenRow("It is none.", "", "/provenance/tool", is_asked=False),
    )
