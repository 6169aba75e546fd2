"""What the page of links says of a link without a share."""

from typing import Any

import pytest

from reviews.web.link_rows import link_rows
from tests.planner.documents import ABSENT
from tests.planner.factories import Changes, a_view

COUNTERS = "/windows/w1/links/a-up/mixed"


@pytest.mark.parametrize(
    ("field", "value", "silence"),
    [
        pytest.param(
            "sample_interval_s", 0, "sample_interval_s is 0: no utilisation follows from it.", id="no time at all"
        ),
        pytest.param("sample_interval_s", ABSENT, "missing: sample_interval_s", id="not recorded"),
    ],
)
def test_a_link_without_a_share_says_why(field: str, value: Any, silence: str) -> None:
    view = a_view(changes=Changes(trial=((f"{COUNTERS}/{field}", value),)))
    (window, *_) = view.windows("saturated")
    row = next(row for row in link_rows(view, window, {}) if row.id == "a-up")
    assert (row.share, row.width, row.silence) == ("", None, silence)
