"""Taking bundles away: who gets one, what a hurried or curious client gets, and how many are kept."""

import io
import zipfile
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.test import Client
from django.utils import timezone

from planner.verifier.verify import verify
from reviews.models import Checkpoint, Cosignature, Export, ExportState
from reviews.services.export_runs import MOST_KEPT, export_run, exports_sweep
from reviews.services.exports import MOST_OPEN, export_request, write_bundle
from reviews.services.people import workspace_create
from reviews.transparency.notes import COSIGNATURE, Signer, opened
from tests.reviews.factories import POLICY, Cast

LIST = "/w/lab/audit/exports/"
WITNESS = Signer("witness.example", Ed25519PrivateKey.from_private_bytes(bytes(range(7, 39))), COSIGNATURE)


def as_auditor(people: Cast) -> Client:
    client = Client()
    client.force_login(people.audrey, backend="django.contrib.auth.backends.ModelBackend")
    return client


def ended(people: Cast, state: ExportState = ExportState.DONE, **more: Any) -> Export:
    now = timezone.now()
    return Export.objects.create(
        workspace=people.workspace, person=people.bob, asked_at=now, woken_at=now, state=state, **more
    )


def test_a_hurried_click_asks_once_and_a_thousand_ask_little(people: Cast) -> None:
    client = as_auditor(people)
    for _ in range(3):
        assert client.post(LIST, {"decision": ""}).status_code == 302
    assert Export.objects.count() == 1
    for _ in range(MOST_KEPT + 10):
        ended(people)
    waiting = Export.objects.get(state=ExportState.QUEUED)
    exports_sweep()
    assert Export.objects.filter(state=ExportState.DONE).count() == MOST_KEPT
    assert Export.objects.filter(pk=waiting.pk).exists(), "what waits is not thinned out"
    assert MOST_OPEN < MOST_KEPT


def test_a_bundle_is_given_whole_to_members_of_its_workspace_alone(people: Cast) -> None:
    export = export_request(actor=people.audrey, workspace=people.workspace)
    export_run(export.pk)
    address, client = f"{LIST}{export.pk}/bundle.zip", as_auditor(people)
    answer = client.get(address, headers={"Range": "bytes=0-9"})
    raw = answer.getvalue()
    assert (answer.status_code, len(raw)) == (200, int(answer.headers["Content-Length"]))
    assert verify(io.BytesIO(raw))[0] == 3
    assert answer.headers["Content-Disposition"].startswith("attachment; ")
    other = workspace_create(slug="other", title="Other", policy=POLICY)
    Export.objects.filter(pk=export.pk).update(workspace=other)
    assert client.get(address).status_code == 404
    assert client.get(address.replace("/lab/", "/other/")).status_code == 404


def test_who_witnessed_the_log_is_in_its_bundle(people: Cast) -> None:
    """What an export signs is newer than what any witness can have seen, so the newest seen one lies beside it."""
    write_bundle(people.workspace, io.BytesIO())
    seen = Checkpoint.objects.get()
    line = WITNESS.line(bytes(seen.note).decode().partition("\n\n")[0] + "\n", time=1_796_000_000)
    Cosignature.objects.create(
        checkpoint=seen, key=str(WITNESS.verifier), line=line, time=1_796_000_000, received_at=timezone.now()
    )
    file = io.BytesIO()
    write_bundle(people.workspace, file)
    cosigned = zipfile.ZipFile(file).read("log/cosigned.checkpoint")
    assert [one.time for one in opened(cosigned, [WITNESS.verifier]).signed] == [1_796_000_000]
    assert zipfile.ZipFile(file).read("log/newest.checkpoint") == cosigned
    assert verify(file, olds=[cosigned])[0] == 3
    export_request(actor=people.audrey, workspace=people.workspace)
    write_bundle(people.workspace, later := io.BytesIO())
    assert zipfile.ZipFile(later).read("log/cosigned.checkpoint") == cosigned
    assert zipfile.ZipFile(later).read("log/newest.checkpoint") != cosigned
    assert verify(later, olds=[cosigned])[0] == 3
