"""When a value counts as out of its envelope, and when no more."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from reviews.policies.document import PolicyDocument, read_policy
from reviews.policies.findings import Level, Standing, level_of, next_standing
from reviews.policies.owners import _FAMILIES, _GATE_OF, observed_owner
from tests.reviews.factories import POLICY

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def minutes(count: int) -> datetime:
    return NOON + timedelta(minutes=count)


@pytest.mark.parametrize(
    ("state", "drifted", "level"),
    [
        pytest.param("BREACH", True, "BREACH", id="above a limit"),
        pytest.param("WITHIN", True, "DRIFT", id="within it, far above what was measured"),
        pytest.param("UNKNOWN", True, "DRIFT", id="perhaps above it, far above what was measured"),
        pytest.param("NO_LIMIT", True, "DRIFT", id="far above, without a limit"),
        pytest.param("WITHIN", None, "WITHIN", id="within a limit, never measured"),
        pytest.param("NO_LIMIT", False, "WITHIN", id="as measured, without a limit"),
        pytest.param("NO_LIMIT", None, None, id="no limit, and no telling"),
        pytest.param("UNKNOWN", False, None, id="perhaps above a limit"),
        pytest.param("UNKNOWN", None, None, id="too few values"),
    ],
)
def test_what_a_comparison_says_of_a_value(state: str, drifted: bool | None, level: str | None) -> None:
    assert level_of(state, drifted) == level


@pytest.mark.parametrize(
    ("known", "seen", "at", "found"),
    [
        pytest.param(Standing("DRIFT"), "BREACH", 10, Standing("BREACH"), id="worse at once"),
        pytest.param(Standing("BREACH"), "WITHIN", 10, Standing("BREACH", minutes(10)), id="calm begins"),
        pytest.param(
            Standing("BREACH", minutes(0)), "WITHIN", 29, Standing("BREACH", minutes(0)), id="not calm for long enough"
        ),
        pytest.param(Standing("BREACH", minutes(0)), "WITHIN", 30, Standing("WITHIN"), id="over"),
        pytest.param(Standing("BREACH", minutes(0)), "DRIFT", 30, Standing("DRIFT"), id="drift alone"),
        pytest.param(Standing("BREACH", minutes(0)), "BREACH", 29, Standing("BREACH"), id="calm was none"),
        pytest.param(Standing("DRIFT", minutes(20)), "WITHIN", 5, Standing("DRIFT", minutes(20)), id="an older span"),
    ],
)
def test_how_a_finding_goes_on(known: Standing, seen: Level, at: int, found: Standing) -> None:
    assert next_standing(known, seen, minutes(at), judged_at=minutes(0)) == found


@pytest.mark.parametrize("seen", ["WITHIN", "DRIFT"])
def test_a_calm_span_of_before_the_breach_that_came_late_says_nothing(seen: Level) -> None:
    assert next_standing(Standing("BREACH"), seen, minutes(-1), judged_at=minutes(0)) == Standing("BREACH")


def test_every_observed_metric_belongs_to_a_gate_that_there_is() -> None:
    assert set(_GATE_OF.values()) <= set(_FAMILIES)


def policy(**changes: object) -> PolicyDocument:
    return read_policy(json.dumps(POLICY | changes).encode())


def test_a_value_belongs_to_the_owner_of_its_limit_else_of_the_gate_that_judges_the_like() -> None:
    document = policy(gate_owners={"fabric": "networking", "slo": "serving"})
    assert observed_owner(document, "link_used_share", "/gates/link_utilization/rails/max_utilization") == "networking"
    assert observed_owner(document, "link_used_share", "") == "networking"
    assert observed_owner(document, "ttft_ms", "") == "serving"
    assert observed_owner(document, "waiting_requests", "") == "serving"
