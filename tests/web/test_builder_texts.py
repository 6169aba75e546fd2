"""Examples beside fields of JSON are answers that the field takes."""

import json

import pytest

from planner.builder.shapes import problems_of
from reviews.web.builder_texts import json_example

RANKS = "/trials/tp2/windows/saturated/per_rank/device_used_peak_bytes"


def test_the_example_of_a_metric_of_ranks_is_an_answer() -> None:
    assert problems_of(RANKS, json.loads(json_example(RANKS))) == ()


@pytest.mark.parametrize("field", ["/trials/tp2/windows/saturated/load/good_if", "/identities/tp2/stack/kv", "/x"])
def test_other_fields_only_say_that_they_take_json(field: str) -> None:
    assert json_example(field) == "JSON"
