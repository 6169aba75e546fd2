"""A visitor without a browser: keeps cookies, fills in the forms' hidden token, follows redirects."""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Page:
    """An answer: where it came from in the end, its status and its text."""

    url: str
    status: int
    text: str


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with a cookie jar at one address."""

    address: str
    opener: OpenerDirector = field(default_factory=lambda: build_opener(HTTPCookieProcessor(CookieJar())))

    def get(self, path: str) -> Page:
        return self._ask(Request(self.address + path))  # noqa: S310 - the address is the test's own server

    def post(self, path: str, fields: dict[str, str]) -> Page:
        """Open the page, then send its form with these fields."""
        return self.filled(path, fields)()

    def filled(self, path: str, fields: dict[str, str], *, page: str = "") -> Callable[[], Page]:
        """Open the page, which is at ``path`` unless said otherwise, and return what sends its form to ``path``."""
        body = urlencode({"csrfmiddlewaretoken": self._token(page or path), **fields}).encode()
        request = Request(self.address + path, data=body, headers=self._origin())  # noqa: S310 - see above
        return partial(self._ask, request)

    def upload(self, path: str, fields: dict[str, str], files: dict[str, bytes]) -> Page:
        """The same with files, as a browser sends them."""
        boundary = secrets.token_hex(16)
        parts = {"csrfmiddlewaretoken": self._token(path), **fields}
        body = b"".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in parts.items()
        )
        for name, data in files.items():
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
            body += f"{head}Content-Type: application/json\r\n\r\n".encode() + data + b"\r\n"
        headers = {**self._origin(), "Content-Type": f"multipart/form-data; boundary={boundary}"}
        request = Request(self.address + path, data=body + f"--{boundary}--\r\n".encode(), headers=headers)  # noqa: S310 - see above
        return self._ask(request)

    def log_in(self, login: str, password: str) -> Page:
        return self.post("/login", {"login": login, "password": password})

    def _origin(self) -> dict[str, str]:
        return {"Origin": self.address, "Referer": f"{self.address}/"}

    def _token(self, path: str) -> str:
        found = TOKEN.search(self.get(path).text)
        assert found, f"{path} shows no form"
        return found[1]

    def _ask(self, request: Request) -> Page:
        try:
            with self.opener.open(request, timeout=30) as response:
                return Page(response.url, response.status, response.read().decode())
        except HTTPError as error:
            return Page(error.url, error.code, error.read().decode())
