"""The sweep of a worker goes on after whatever was refused to it."""

import pytest
from django.db import DatabaseError
from pytest_django.fixtures import Settings

from reviews import tasks
from reviews.errors import ConflictError, TamperedError


@pytest.mark.parametrize("error", [DatabaseError("away"), ConflictError("Moved."), TamperedError("Changed.")])
def test_the_next_sweep_comes_after_one_that_failed(
    error: Exception, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PLAN_SWEEP_SECONDS = 0
    sweeps = []

    def connected(work: object) -> tuple[()]:
        sweeps.append(work)
        if len(sweeps) == 1:
            raise error
        tasks.stop_sweeping()
        return ()

    monkeypatch.setattr(tasks, "connected", connected)
    tasks._stop_sweeping.clear()
    tasks._sweep_until_stopped()
    assert len(sweeps) > 1
