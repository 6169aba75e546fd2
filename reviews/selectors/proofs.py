"""What a session knows of how its person proved who they are: the records that django-allauth keeps in it."""

import time
from collections.abc import Mapping
from typing import Any

from allauth.account.authentication import get_authentication_records
from django.http import HttpRequest

from reviews.facts import Authentication
from reviews.policies.proof import PROOFS, RECENT_S

STRENGTH = {method: strength for strength, method in enumerate(PROOFS)}


def recent_proof(request: HttpRequest) -> Authentication:
    """Say how and how long ago the person of a session proved who they are.

    Of the proofs that are recent enough for signing the strongest is told, without one the newest of all.
    """
    now = time.time()
    proofs = [
        Authentication(method_of(record), max(0, int(now - record["at"])))
        for record in get_authentication_records(request, request.user if request.user.is_authenticated else None)
    ]
    recent = [proof for proof in proofs if proof.method in PROOFS and (proof.age_s or 0) <= RECENT_S]
    if recent:
        return min(recent, key=lambda proof: (STRENGTH[proof.method], proof.age_s))
    return min(proofs, key=lambda proof: proof.age_s or 0, default=Authentication("none"))


def method_of(record: Mapping[str, Any]) -> str:
    """Name the method of one of the library's records as audit entries do."""
    if record["method"] != "mfa":
        return "oidc" if record["method"] == "socialaccount" else str(record["method"])
    return {"webauthn": "passkey", "recovery_codes": "recovery_code"}.get(record["type"], str(record["type"]))
