"""What the embedded default keeps in its folder: keys, database, collected static files, demo workspace.

Kept rules: the folder is private to its owner; keys are made once and never printed; whatever is already right is
not done again, because a second start should take seconds.
"""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import django
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connections

from reviews.transparency.keys import new_key

DEMO_FRESH_SECONDS = str(14 * 86_400)
"""As long as what the demo puts into force holds."""
DEMO_NOTICE_DAYS = "3"


class FolderInUseError(Exception):
    """Another start works on the same folder; the message names it."""


class DataError(Exception):
    """The database does not take part; the message is one line for people."""


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Make the folder, private, and hold it for this process alone.

    Raises:
        FolderInUseError: another process holds it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    with (folder / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise FolderInUseError(
                f"it already runs from {folder} as process {lock.read().strip()}; stop that one first"
            ) from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def environment(folder: Path, port: int, addresses: list[str]) -> dict[str, str]:
    """Return the variables that every process of this start shares."""
    chosen = {
        "DATA_DIR": str(folder),
        "PUBLIC_URL": f"http://localhost:{port}",
        "STATIC_COLLECTED": "true",
        "WEB_BIND": ",".join(addresses),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    for name, made in (("SECRET_KEY", new_secret), ("LOG_SIGNING_KEY", new_key)):
        if not (os.environ.get(name) or os.environ.get(f"{name}_FILE")):
            chosen[f"{name}_FILE"] = str(key_file(folder / name.lower().replace("_", "-"), made))
    # Hosts of the demo report at every start and at no other time.
    chosen["IDENTITY_FRESH_SECONDS"] = os.environ.get("IDENTITY_FRESH_SECONDS") or DEMO_FRESH_SECONDS
    # The demo's decision holds for 14 days: with the usual notice it would end soon from its first minute.
    chosen["EXPIRY_NOTICE_DAYS"] = os.environ.get("EXPIRY_NOTICE_DAYS") or DEMO_NOTICE_DAYS
    return chosen


def key_file(path: Path, made: Callable[[], str]) -> Path:
    """Return a file with a key; make it on the first start."""
    if not path.exists():
        draft = path.with_suffix(".new")
        draft.write_text(made())
        draft.replace(path)  # a start that is killed here leaves no half a key
    return path


def new_secret() -> str:
    """Return a key that signs sessions."""
    return secrets.token_urlsafe(64)


def prepare_database() -> None:
    """Bring the database to the newest schema.

    Raises:
        DataError: the database is not reached, or refuses a migration.
    """
    django.setup()
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as error:
        raise DataError(f"the database answers: {str(error).splitlines()[0]}") from error


def collect_static(folder: Path) -> None:
    """Collect and compress the static files when one has changed."""
    stamp = folder / "static.sha256"
    current = static_fingerprint()
    if not (stamp.exists() and stamp.read_text() == current):
        call_command("collectstatic", verbosity=0, interactive=False, clear=True)
        stamp.write_text(current)


def static_fingerprint() -> str:
    """Return a digest over name, size and time of every static file; it reads none of them."""
    seen = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = os.stat(storage.path(path))
            seen.update(f"{getattr(storage, 'prefix', '')}/{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return seen.hexdigest()


def load_demo() -> str:
    """Load what the demo workspace lacks; return the generated logins as text for the terminal.

    A database that holds other people's work gets no demo; the text then says so.
    """
    text = StringIO()
    try:
        call_command("demo", stdout=text, stderr=text)
    except CommandError as refused:
        return f"{refused}\n"
    finally:
        connections.close_all()
    return text.getvalue()
