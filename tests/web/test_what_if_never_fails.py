"""Whatever is asked of the what-if page is answered, or every problem of it stands at the field that it is about."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import DocumentRefusedError, Problem
from planner.overrides import Reading, Setting, overridden_of_stored
from planner.overrides.text import read_reading, read_setting
from reviews.selectors.what_if import Asked
from reviews.web.what_if_choices import choices_of
from reviews.web.what_if_rows import answer_of, asked_rows
from tests.web.plans import AS_OF, example_documents, example_plan

EXAMPLE = "blast-radius"
DOCUMENTS, PLAN = example_documents(EXAMPLE), example_plan(EXAMPLE)
TREE = msgspec.to_builtins(DOCUMENTS[0].record)
CHOICES = choices_of(PLAN, TREE)
VALUES = st.sampled_from(("0", "-1", "600", "0.5", "1e308", "1e400", "true", "null", '"x"', "{}", "[]", "01", ""))
AT, PART, LIMIT = (
    st.sampled_from([choice.value for group in groups for choice in group.choices])
    for groups in (CHOICES.values, CHOICES.parts, CHOICES.limits)
)
TRIAL = st.sampled_from([choice.value for choice in CHOICES.trials])
SETS = st.lists(st.builds("{}={}".format, AT | PART, VALUES), max_size=3)
READINGS = st.lists(st.builds("{}:{}={}".format, TRIAL, LIMIT, VALUES), max_size=2)


@settings(max_examples=150, deadline=None)
@given(SETS, st.lists(AT | PART, max_size=2), READINGS)
def test_every_problem_has_a_field(sets: list[str], withouts: list[str], readings: list[str]) -> None:
    asked = Asked(tuple(sets), tuple(withouts), tuple(readings))
    read = [*map(read_setting, sets), *map(read_reading, readings)]
    problems = [each for each in read if isinstance(each, Problem)]
    changes = [
        *(each for each in read if isinstance(each, Setting)),
        *(Setting(at=at, removes=True) for at in withouts),
    ]
    given_readings = [each for each in read if isinstance(each, Reading)]
    try:
        answer = overridden_of_stored(*DOCUMENTS, AS_OF, settings=changes, readings=given_readings)
        answer_of(answer, PLAN, asked_page=1, detail_href="")
    except DocumentRefusedError as refused:
        problems += refused.problems
    rows = asked_rows(asked, PLAN, TREE, problems, "")
    assert rows.problems == ()
    assert any(row.problem for row in (*rows.sets, *rows.withouts, *rows.readings)) == bool(problems)
