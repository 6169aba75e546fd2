"""The key that signs checkpoints: one for the installation, under the name of each workspace's log."""

from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from reviews.models import Workspace
from reviews.transparency.keys import read_key
from reviews.transparency.notes import Signer


def log_signer(workspace: Workspace) -> Signer | None:
    """Return the signer of a workspace's log, None in a process that holds no key.

    Raises:
        ImproperlyConfigured: LOG_SIGNING_KEY is no Ed25519 private key.
    """
    if not settings.LOG_SIGNING_KEY:
        return None
    return Signer(workspace.log_origin, _private(settings.LOG_SIGNING_KEY))


@lru_cache(maxsize=1)
def _private(pem: str) -> Ed25519PrivateKey:
    try:
        return read_key(pem)
    except ValueError as error:
        raise ImproperlyConfigured(f"LOG_SIGNING_KEY: {error}") from error
