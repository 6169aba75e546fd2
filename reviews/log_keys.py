"""The keys of the logs: the one that signs checkpoints, under the name of each log, and those of the witnesses."""

from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from reviews.models import Workspace
from reviews.transparency.keys import read_key
from reviews.transparency.notes import COSIGNATURE, NoteError, Signer, Verifier


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


def log_witnesses() -> tuple[Verifier, ...]:
    """Return the keys of the witnesses that the installation names.

    Raises:
        ImproperlyConfigured: LOG_WITNESSES holds something else than keys of witnesses.
    """
    return _witnesses(tuple(settings.LOG_WITNESSES))


@lru_cache(maxsize=1)
def _witnesses(texts: tuple[str, ...]) -> tuple[Verifier, ...]:
    try:
        keys = tuple(map(Verifier.of, texts))
    except NoteError as error:
        raise ImproperlyConfigured(f"LOG_WITNESSES: {error}") from error
    for key in keys:
        if key.kind != COSIGNATURE:
            raise ImproperlyConfigured(f"LOG_WITNESSES: expected keys of witnesses, found that of the log {key.name}")
    return keys
