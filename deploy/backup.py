"""Take a backup of the database, or bring one back into an empty one; both while Topogate may be running elsewhere.

``python3 deploy/backup.py take FILE`` and ``python3 deploy/backup.py restore FILE`` read ``DATABASE_URL`` (the owner's)
or ``DATABASE_URL_FILE``. PostgreSQL: ``pg_dump`` and ``pg_restore`` of at least the server's version have to be on the
path. SQLite: nothing else is needed. A backup is one state of the database, whatever is written meanwhile. A file is
there in full or not at all; restoring into a database that holds something is refused and changes nothing. Afterwards:
``manage.py migrate``, ``grant_app_role`` on PostgreSQL, ``manage.py after_restore``.
"""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit

USAGE = "usage: backup.py take FILE | restore FILE"


class BackupError(Exception):
    """It was not done, and why."""


def main(arguments: list[str]) -> int:
    """Do what is asked; return the exit code."""
    if len(arguments) != 2 or arguments[0] not in ("take", "restore"):
        sys.stderr.write(f"{USAGE}\n")
        return 2
    file = Path(arguments[1])
    try:
        url = database_url()
        take(url, file) if arguments[0] == "take" else restore(url, file)
    except (BackupError, OSError, sqlite3.Error) as error:
        sys.stderr.write(f"{arguments[0]}: {error}\n")
        return 1
    sys.stdout.write(f"{arguments[0]}: done, {file.stat().st_size:,} bytes\n")
    return 0


def database_url() -> str:
    """Return the address of the database.

    Raises:
        BackupError: none is given.
    """
    file = os.environ.get("DATABASE_URL_FILE")
    url = Path(file).read_text().strip() if file else os.environ.get("DATABASE_URL", "")
    if not url:
        raise BackupError("DATABASE_URL: expected the address of the database, found none")
    return url


def take(url: str, file: Path) -> None:
    """Write a backup; the file appears once it is complete and on the disk."""
    draft = file.with_name(f".{file.name}.part")
    draft.unlink(missing_ok=True)
    try:
        if path := sqlite_path(url):
            if not path.is_file():
                raise BackupError(f"expected a database at {path}, found none")
            copy_sqlite(path, draft)
        else:
            postgres(url, "pg_dump", "--format=custom", f"--file={draft}")
        flush(draft)
        draft.replace(file)
        flush(file.parent)
    finally:
        draft.unlink(missing_ok=True)


def restore(url: str, file: Path) -> None:
    """Bring a backup back, all of it or nothing."""
    if not file.is_file():
        raise BackupError(f"expected a backup at {file}, found none")
    path = sqlite_path(url)
    if path is None:
        postgres(
            url, "pg_restore", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", str(file)
        )
        return
    if path.exists() and path.stat().st_size:
        raise BackupError(f"expected no database at {path}, found one")
    draft = path.with_name(f".{path.name}.part")
    draft.unlink(missing_ok=True)
    try:
        copy_sqlite(file, draft)
        flush(draft)
        draft.replace(path)
        flush(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def sqlite_path(url: str) -> Path | None:
    """Return where an SQLite database lies, None for another kind."""
    parts = urlsplit(url)
    return (
        Path(unquote(parts.path)[1:] if parts.path.startswith("/") else parts.path)
        if parts.scheme == "sqlite"
        else None
    )


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy a database that others may be writing to, as of one moment, and check the copy."""
    with closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        new.execute("PRAGMA journal_mode = DELETE")
        found = new.execute("PRAGMA integrity_check").fetchone()[0]
    if found != "ok":
        raise BackupError(f"the copy of {source} is damaged: {found}")


def postgres(url: str, program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL; the password goes by its environment, for arguments are seen by everybody."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    user = f"{parts.username}@" if parts.username else ""
    password = {"PGPASSWORD": unquote(parts.password)} if parts.password else {}
    address = parts._replace(netloc=f"{user}{host}").geturl()
    command = [program, f"--dbname={address}", *arguments]
    try:
        done = subprocess.run(  # noqa: S603 # a program of PostgreSQL, started without a shell
            command, env={**os.environ, **password}, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as error:
        raise BackupError(f"expected {program} on the path, found none") from error
    if done.returncode:
        raise BackupError(f"{program}: {done.stderr.strip()}")


def flush(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
