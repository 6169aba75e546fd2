"""Seals secrets that the database keeps, under keys made from ``SECRET_KEY`` and ``SECRET_KEY_FALLBACKS``.

Secrets that are made here and shown once follow from the form that asked for them (``derived_secret``).
The present key seals, every one of them opens. ``purpose`` parts the keys: what was sealed for one opens for no other.
"""

import base64
import hashlib
import hmac
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

FACTORS = "topogate second factors"
WEBHOOKS = "topogate webhooks"
MADE_LINKS = "topogate made links"
MADE_TOKENS = "topogate made tokens"
MADE_WEBHOOKS = "topogate made webhooks"


class SealBrokenError(Exception):
    """A text is no seal, or was sealed under a key that is not known any more."""


def seal(text: str, purpose: str) -> str:
    """Return a text that only these keys open."""
    return _keys(purpose).encrypt(text.encode()).decode()


def unseal(sealed: str, purpose: str) -> str:
    """Return the text that was sealed.

    Raises:
        SealBrokenError: no key opens it.
    """
    try:
        return _keys(purpose).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise SealBrokenError from error


def derived_secret(purpose: str, once: str, *parts: str) -> str:
    """Return 43 signs that follow from what was sent, so that a form sent twice makes one secret.

    ``once`` is what the form carried; without it the signs are random. Nobody computes them without ``SECRET_KEY``.
    """
    if not once:
        return secrets.token_urlsafe(32)
    key = hashlib.sha256(purpose.encode() + b"\0" + settings.SECRET_KEY.encode()).digest()
    sealed = hmac.digest(key, chr(0).join([once, *parts]).encode(), "sha256")
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def _keys(purpose: str) -> MultiFernet:
    texts = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [hashlib.sha256(purpose.encode() + b"\0" + text.encode()).digest() for text in texts]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
