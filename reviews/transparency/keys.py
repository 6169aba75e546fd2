"""Private keys that sign notes, as PEM text (PKCS 8, Ed25519)."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

__all__ = ["new_key", "read_key"]


def new_key() -> str:
    """Return a new private key."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def read_key(pem: str) -> Ed25519PrivateKey:
    """Read a private key.

    Raises:
        ValueError: it is none, is protected by a password, or is of another kind.
    """
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError) as error:
        raise ValueError("expected an Ed25519 private key as PEM text without a password") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("expected an Ed25519 private key, found one of another kind")
    return key
