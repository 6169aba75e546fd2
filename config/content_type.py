"""Keeps a Content-Type header that the framework cannot read from ending as an error of the server.

Django reads the header before any view, and raises for a parameter in a character set that does not exist
(``charset*=nosuch''x``). Such a header is dropped: the view then answers as it does to a request without one.
"""

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.http import parse_header_parameters

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


def readable_content_type(application: Application) -> Application:
    """Return the WSGI application behind this check."""

    def checked(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        try:
            parse_header_parameters(environ.get("CONTENT_TYPE", ""))
        except ValueError:
            environ["CONTENT_TYPE"] = ""
        return application(environ, start_response)

    return checked
