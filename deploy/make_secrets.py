"""Write the secrets that docker-compose.yml reads into deploy/secrets, once. Existing files are left alone.

Run it with any Python 3: ``python3 deploy/make_secrets.py``. Nothing is printed but the names of the files.
"""

import secrets
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "secrets"


def main(folder: Path = FOLDER) -> None:
    """Write what is missing: two database passwords, the two addresses that carry them, the secret key."""
    folder.mkdir(mode=0o700, exist_ok=True)
    owner = kept(folder / "postgres_owner_password", secrets.token_urlsafe(32))
    application = kept(folder / "postgres_app_password", secrets.token_urlsafe(32))
    kept(folder / "database_owner_url", f"postgres://topogate_owner:{owner}@postgres:5432/topogate")
    kept(folder / "database_app_url", f"postgres://topogate_app:{application}@postgres:5432/topogate")
    kept(folder / "secret_key", secrets.token_urlsafe(64))


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
