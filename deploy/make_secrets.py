"""Write the secrets that docker-compose.yml reads into deploy/secrets, once. Existing files are left alone.

Run it with any Python 3: ``python3 deploy/make_secrets.py``. Nothing is printed but the names of the files.
"""

import secrets
import sys
from base64 import b64encode
from pathlib import Path

FOLDER = Path(__file__).parent / "secrets"
ED25519_PKCS8 = bytes.fromhex("302e020100300506032b657004220420")
"""What stands before the 32 bytes of an Ed25519 private key in its PKCS 8 form (RFC 8410, section 7)."""


def main(folder: Path = FOLDER) -> None:
    """Write what is missing: two database passwords, the addresses that carry them, two keys, and no mail server."""
    folder.mkdir(mode=0o700, exist_ok=True)
    owner = kept(folder / "postgres_owner_password", secrets.token_urlsafe(32))
    application = kept(folder / "postgres_app_password", secrets.token_urlsafe(32))
    kept(folder / "database_owner_url", f"postgres://topogate_owner:{owner}@postgres:5432/topogate")
    kept(folder / "database_app_url", f"postgres://topogate_app:{application}@postgres:5432/topogate")
    kept(folder / "secret_key", secrets.token_urlsafe(64))
    kept(folder / "log_signing_key", signing_key())
    kept(folder / "email_url", "")


def signing_key() -> str:
    """Return a new Ed25519 private key as PEM text. No library is at hand here, and any 32 random bytes are a key."""
    text = b64encode(ED25519_PKCS8 + secrets.token_bytes(32)).decode()
    return f"-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n"


def kept(path: Path, new: str) -> str:
    """Return what the file holds; write ``new`` when it does not exist.

    The folder keeps others out. The files themselves are readable, because compose mounts them as they are and the
    containers run as users of their own.
    """
    if not path.exists():
        path.write_text(new)
        path.chmod(0o644)
        sys.stdout.write(f"wrote {path.name}\n")
    return path.read_text()


if __name__ == "__main__":
    main()
