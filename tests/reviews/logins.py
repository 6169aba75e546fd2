"""Browsers in which somebody is logged in, with any proof of who they are, as the pages would have left them."""

import time
from typing import Any

from allauth.account.internal.flows import login as records
from allauth.account.internal.userkit import user_id_to_str
from django.test import Client

from reviews.models import Person

METHODS: dict[str, dict[str, Any]] = {
    "password": {"method": "password"},
    "totp": {"method": "mfa", "type": "totp"},
    "passkey": {"method": "mfa", "type": "webauthn"},
    "recovery_code": {"method": "mfa", "type": "recovery_codes"},
    "oidc": {"method": "socialaccount", "provider": "openid_connect"},
}


def log_in(client: Client, person: Person, *, method: str = "password", age_s: float = 0) -> Client:
    """Log somebody in who gave a proof so many seconds ago."""
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    prove(client, person, method=method, age_s=age_s)
    return client


def prove(client: Client, person: Person, *, method: str, age_s: float = 0) -> None:
    """Let somebody who is logged in have given this proof, and no other."""
    session = client.session
    session[records.AUTHENTICATION_METHODS_SESSION_KEY] = [
        METHODS[method] | {"at": time.time() - age_s, "reauthenticated": True}
    ]
    session[records._AUTHENTICATION_METHODS_USER_SESSION_KEY] = user_id_to_str(person)
    session.save()
