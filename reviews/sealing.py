"""Seals secrets that the database keeps, under keys made from ``SECRET_KEY`` and ``SECRET_KEY_FALLBACKS``.

The present key seals, every one of them opens. ``purpose`` parts the keys: what was sealed for one opens for no other.
"""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

FACTORS = "topogate second factors"
WEBHOOKS = "topogate webhooks"


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


def _keys(purpose: str) -> MultiFernet:
    texts = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [hashlib.sha256(purpose.encode() + b"\0" + text.encode()).digest() for text in texts]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
