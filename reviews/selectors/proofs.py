"""What a session knows of how its person proved who they are, and which proofs a workspace accepts.

The records are those that django-allauth keeps in the session.
"""

import time
from collections.abc import Mapping
from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest

from reviews.blobs import checked
from reviews.facts import Authentication
from reviews.models import Person, Policy
from reviews.policies.document import read_policy
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


def demands_second_factor(*workspace_ids: int) -> bool:
    """Whether the installation, or the policy in force of one of the workspaces, accepts no password alone.

    Raises:
        TamperedError: a policy is not what was stored.
    """
    if settings.SIGNING_SECOND_FACTOR:
        return True
    newest = Policy.objects.filter(workspace=OuterRef("workspace")).order_by("-version").values("pk")[:1]
    policies = Policy.objects.filter(workspace__in=workspace_ids, pk=Subquery(newest)).select_related("blob")
    return any(read_policy(checked(bytes(row.blob.data), row.blob_id, "policy")).second_factor for row in policies)


def has_second_factor(person: Person) -> bool:
    """Whether a person has set up an authenticator app or a passkey."""
    kinds = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
    return bool(Authenticator.objects.filter(user=person, type__in=kinds).exists())
