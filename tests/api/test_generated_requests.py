"""Requests generated from the OpenAPI document, against a live server: every answer is one that it describes."""

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from pytest_django.live_server_helper import LiveServer
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ensure_resource_availability,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from reviews.api.throttles import CallerThrottle
from tests.api.asking import API, token_of
from tests.reviews.factories import cast, planned

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    ensure_resource_availability,
]
EXAMPLES = int(os.environ.get("TOPOGATE_API_EXAMPLES", "6"))
"""Requests of each operation: few in the suite, as many as one likes by hand."""


@pytest.fixture
def api(transactional_db: None, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> object:
    """The document as served; what is asked goes to the first decision of a workspace, as its author."""
    rates = dict.fromkeys(("read", "submit", "observe", "report"), "100000/min")
    monkeypatch.setattr(CallerThrottle, "THROTTLE_RATES", rates)
    people = cast()
    planned(people)
    config = schemathesis.Config.from_dict(
        {
            "headers": {"Authorization": f"Bearer {token_of(people, people.alice, 'submit')}"},
            "parameters": {"path.workspace": "lab", "path.number": 1, "path.revision": 1},
        }
    )
    return schemathesis.openapi.from_url(f"{live_server.url}{API}/openapi.json", config=config)


schema = schemathesis.pytest.from_fixture("api")


@pytest.mark.processes
@pytest.mark.timeout(300 * EXAMPLES)
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_a_generated_request_is_answered_as_described(case: Case[Any]) -> None:
    # A dry run answers any file with what is wrong with it, so no file is one that it has to refuse.
    is_dry_run = case.path.endswith("/validate")
    case.call_and_validate(checks=CHECKS, excluded_checks=[negative_data_rejection] if is_dry_run else [])
