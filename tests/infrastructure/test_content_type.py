"""A Content-Type header that the framework cannot read is answered, not a fault of the server."""

import io
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from config.content_type import readable_content_type

UNREADABLE = "multipart/form-data; charset*=nosuch''x"


def status(application: Any, content_type: str) -> str:
    """Send a request to a WSGI application and return the status line."""
    path = "/api/v1/workspaces/lab/validate"
    environ = RequestFactory().post(path, data=b"a", content_type="text/plain").META
    said: list[str] = []
    answer = application(
        {**environ, "CONTENT_TYPE": content_type, "wsgi.input": io.BytesIO(b"a")},
        lambda line, headers: said.append(line),
    )
    answer.close()
    return said[0]


@pytest.mark.parametrize("content_type", [UNREADABLE, "multipart/form-data; boundary=x", ""])
def test_any_content_type_is_answered(content_type: str, db: None) -> None:
    assert status(readable_content_type(WSGIHandler()), content_type) == "401 Unauthorized"


def test_the_framework_alone_fails_on_it(db: None) -> None:
    """When it no longer does, the check can go."""
    with pytest.raises(ValueError, match="Invalid encoding 'nosuch'"):
        status(WSGIHandler(), UNREADABLE)
