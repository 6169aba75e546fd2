"""Real workers and a real broker write bundles and verify logs; one that is killed while it exports loses nothing."""

import io
from collections.abc import Iterator
from typing import Any

import pytest

from planner.verifier.verify import verify
from reviews.audit import Act, append, workspace_write
from reviews.log_keys import log_signer
from reviews.models import AuditEntry, Export, ExportPiece, ExportState, JobState, Verification
from reviews.services.exports import export_fetch, export_request
from reviews.services.verifications import verification_request
from reviews.transparency.keys import new_key
from tests.reviews.factories import Cast, cast
from tests.reviews.processes import Servers, kill_worker, wait_until

pytestmark = [pytest.mark.both_databases, pytest.mark.processes, pytest.mark.django_db(transaction=True)]
ENTRIES = 4_000
"""As many as take a worker long enough to be killed while it writes."""


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """The cast, committed, so that workers see it."""
    return cast()


@pytest.fixture
def servers(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[Servers]:
    """Processes that end with the test and sign with the key of this test."""
    settings.LOG_SIGNING_KEY = new_key()
    monkeypatch.setenv("LOG_SIGNING_KEY", settings.LOG_SIGNING_KEY)
    servers = Servers(tmp_path_factory.mktemp("s"))
    yield servers
    servers.stop()


def test_a_worker_killed_while_exporting_leaves_one_bundle_that_verifies(people: Cast, servers: Servers) -> None:
    with workspace_write(people.workspace.pk):
        for number in range(ENTRIES):
            append(people.workspace, Act(action="test.noted", reason=f"Note {number}."))
    broker = servers.broker()
    first = servers.worker(broker.url)
    export = export_request(actor=people.audrey, workspace=people.workspace)
    wait_until(lambda: Export.objects.get().state == ExportState.RUNNING, "the first worker to begin")
    kill_worker(first)
    assert Export.objects.get().state == ExportState.RUNNING
    assert not ExportPiece.objects.exists()
    servers.worker(broker.url)
    wait_until(lambda: Export.objects.get().state == ExportState.DONE, "the second worker to finish")
    assert Export.objects.get().attempts == 2
    _, pieces = export_fetch(actor=people.audrey, workspace=people.workspace, export_id=export.pk)
    signer = log_signer(people.workspace)
    code, headline, *_ = verify(io.BytesIO(b"".join(pieces)), [str(signer and signer.verifier)])
    assert code == 0, headline
    assert AuditEntry.objects.filter(action="export.requested").count() == 1
    verification_request(actor=people.audrey, workspace=people.workspace)
    wait_until(lambda: Verification.objects.get().state == JobState.DONE, "the log to be verified")
    assert Verification.objects.get().headline.startswith("VERIFIED: ")
