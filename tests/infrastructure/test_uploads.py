"""Large files of a request are spooled to disk under no name, so that a killed web leaves nothing of them."""

import tempfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import RequestFactory

LARGE = bytes(range(256)) * 2**14


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_large_file_is_whole_and_has_no_name_on_disk(spool: Path) -> None:
    files = [SimpleUploadedFile("a.json", LARGE, "application/json"), SimpleUploadedFile("b.json", b"{}")]
    request = RequestFactory().post("/", {"files": files})
    large, small = request.FILES.getlist("files")
    assert (large.name, large.size, large.content_type) == ("a.json", len(LARGE), "application/json")
    assert (large.read() == LARGE, small.read(), list(spool.iterdir())) == (True, b"{}", [])


def test_an_upload_that_breaks_off_leaves_nothing(spool: Path) -> None:
    head = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.json"\r\n\r\n'
    request = RequestFactory().post("/", head + LARGE, content_type="multipart/form-data; boundary=b")
    assert (len(request.FILES), list(spool.iterdir())) == (0, [])
