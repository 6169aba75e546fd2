"""Ask the API as somebody: a token in the header, documents as parts of a multipart body."""

import json
from dataclasses import dataclass
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from reviews.models import Person
from reviews.services.tokens import token_create
from tests.reviews.factories import Cast, documents

API = "/api/v1"


def token_of(people: Cast, person: Person, scope: str, *, days: int = 7) -> str:
    """Make a token and return its secret."""
    made = token_create(actor=person, workspace=people.workspace, label=f"{scope} token", scope=scope, days=days)
    return made.secret


@dataclass(frozen=True)
class Caller:
    """Somebody with a token, in one workspace."""

    token: str
    workspace: str

    def get(self, path: str, query: dict[str, Any] | None = None, **headers: str) -> Any:
        """GET below the workspace; a path from the root is taken as it is."""
        return Client().get(self._address(path), query or {}, headers={**self._headers(), **headers})

    def post(self, path: str, parts: dict[str, Any] | None = None, **headers: str) -> Any:
        """POST parts; bytes become parts with a file name."""
        sent = {
            name: SimpleUploadedFile(f"{name}.json", value) if isinstance(value, bytes) else value
            for name, value in (parts or {}).items()
        }
        return Client().post(self._address(path), sent, headers={**self._headers(), **headers})

    def submit(self, **changes: Any) -> Any:
        """Submit a sound pair as a new decision, with changes; None leaves a part out."""
        headers = changes.pop("headers", {})
        return self.post("decisions", parts(**changes), **headers)

    def raw(self, path: str, body: bytes, content_type: str, **environment: str) -> Any:
        """POST a body exactly as it is."""
        return Client().generic(
            "POST", self._address(path), body, headers=self._headers(), CONTENT_TYPE=content_type, **environment
        )

    def _address(self, path: str) -> str:
        return path if path.startswith(("/", "http")) else f"{API}/workspaces/{self.workspace}/{path}"

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


def caller(people: Cast, person: Person, scope: str) -> Caller:
    """Return somebody with a new token."""
    return Caller(token_of(people, person, scope), people.workspace.slug)


def parts(**changes: Any) -> dict[str, Any]:
    """The parts of a submission, with changes; None leaves a part out."""
    pair = documents()
    whole = {"contract": pair.contract, "evidence": pair.evidence, "title": "One device", **changes}
    return {name: value for name, value in whole.items() if value is not None}


def problem(response: HttpResponse) -> dict[str, Any]:
    """Return problem details after checking that they are ones."""
    assert response.headers["Content-Type"] == "application/problem+json"
    value: dict[str, Any] = json.loads(response.content)
    assert value["status"] == response.status_code
    return value


def codes(response: HttpResponse) -> list[tuple[str, str, str]]:
    """Return document, code and pointer of every problem."""
    return [(item["document"], item["code"], item["pointer"]) for item in problem(response)["problems"]]
