"""Rule 20: before a planner is used, a dry run says which effective decisions would change under it."""

import io
from typing import Any

import pytest
from django.core.management import call_command

from planner.canonical import file_sha256
from reviews.models import AuditEntry, Blob
from reviews.planning import MadePlan, StoredBytes, make_plan
from tests.reviews.factories import Cast, documents, planned
from tests.reviews.rules.test_rule_10_activation import activate, approved

pytestmark = pytest.mark.django_db


def dry_run(*, exit_code: int = 0) -> list[str]:
    """The lines of the command; it ends with 1 where something would change."""
    out, ended_with = io.StringIO(), 0
    try:
        call_command("planner_dry_run", stdout=out)
    except SystemExit as ended:
        ended_with = int(str(ended.code))
    assert ended_with == exit_code
    return out.getvalue().splitlines()


def test_what_would_stay_is_counted(people: Cast) -> None:
    activate(people, approved(people))
    planned(people)
    lines = dry_run()
    assert any("lab D-0001 own/one-device" in line for line in lines)
    assert lines[-1].endswith("0 of 1 effective decisions would change")


def test_what_would_change_is_named_and_nothing_is_stored(people: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    activate(people, approved(people))
    before = AuditEntry.objects.count(), Blob.objects.count()

    def stricter(**asked: Any) -> MadePlan:
        """A planner that asks for more throughput: what the one that runs makes of a contract that does."""
        pair = documents(floor=600)
        stored = {name: StoredBytes(data, file_sha256(data)) for name, data in vars(pair).items()}
        return make_plan(**asked | stored)

    monkeypatch.setattr("reviews.selectors.upgrade.make_plan", stricter)
    lines = dry_run(exit_code=1)
    assert "decision: SELECT_TOPOLOGY becomes NO_ELIGIBLE_TOPOLOGY" in "\n".join(lines)
    assert "throughput of t-1: PASS becomes FAIL" in "\n".join(lines)
    assert lines[-1].endswith("1 of 1 effective decisions would change")
    assert (AuditEntry.objects.count(), Blob.objects.count()) == before
