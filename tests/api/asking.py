"""Ask the API as somebody: a token in the header, documents as parts of a multipart body."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from reviews.models import Person
from reviews.services.tokens import token_create
from tests.reviews.factories import Cast, documents

API = "/api/v1"
Headers = Mapping[str, Any]


def token_of(people: Cast, person: Person, scope: str, *, days: int = 7) -> str:
    """Make a token and return its secret."""
    made = token_create(actor=person, workspace=people.workspace, label=f"{scope} token", scope=scope, days=days)
    return made.secret


@dataclass(frozen=True)
class Caller:
    """Somebody with a token, in one workspace."""

    token: str
    workspace: str

    def get(self, path: str, query: Headers | None = None, headers: Headers | None = None) -> Any:
        """GET below the workspace; a path from the root is taken as it is."""
        return Client().get(self._address(path), dict(query or {}), headers=self._headers(headers))

    def post(self, path: str, parts: Mapping[str, Any] | None = None, headers: Headers | None = None) -> Any:
        """POST parts; bytes become parts with a file name."""
        sent = {
            name: SimpleUploadedFile(f"{name}.json", value) if isinstance(value, bytes) else value
            for name, value in (parts or {}).items()
        }
        return Client().post(self._address(path), sent, headers=self._headers(headers))

    def submit(self, **changes: Any) -> Any:
        """Submit a sound pair as a new decision, with changes; None leaves a part out."""
        headers = changes.pop("headers", None)
        return self.post("decisions", parts(**changes), headers)

    def raw(self, path: str, body: bytes, content_type: str, *, length: int | None = None) -> Any:
        """POST a body exactly as it is."""
        claimed = {} if length is None else {"CONTENT_LENGTH": str(length)}
        environment: dict[str, Any] = {"CONTENT_TYPE": content_type, **claimed}
        return Client().generic("POST", self._address(path), body, headers=self._headers(None), **environment)

    def _address(self, path: str) -> str:
        return path if path.startswith(("/", "http")) else f"{API}/workspaces/{self.workspace}/{path}"

    def _headers(self, more: Headers | None) -> dict[str, Any]:
        return {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **(more or {})}


def caller(people: Cast, person: Person, scope: str) -> Caller:
    """Return somebody with a new token."""
    return Caller(token_of(people, person, scope), people.workspace.slug)


def parts(**changes: Any) -> dict[str, Any]:
    """The parts of a submission, with changes; None leaves a part out."""
    pair = documents()
    whole = {"contract": pair.contract, "evidence": pair.evidence, "title": "One device", **changes}
    return {name: value for name, value in whole.items() if value is not None}


def problem(response: Any) -> dict[str, Any]:
    """Return problem details after checking that they are ones."""
    assert response.headers["Content-Type"] == "application/problem+json"
    value: dict[str, Any] = json.loads(response.content)
    assert value["status"] == response.status_code
    return value


def codes(response: Any) -> list[tuple[str, str, str]]:
    """Return document, code and pointer of every problem."""
    return [(item["document"], item["code"], item["pointer"]) for item in problem(response)["problems"]]
