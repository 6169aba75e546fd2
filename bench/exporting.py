"""Print what exporting a log of a million entries from a database takes, beside reading and hashing the same rows.

The log is that of ``bench.verify_bundle`` with longer talk, inserted in bulk. It is exported as a worker does, with
lease, heartbeats and the database's time-outs, by a process that does nothing else; then its bundle is verified. Once
on a PostgreSQL server that is started and thrown away, once on SQLite.

``python -m bench.exporting [--entries 1000000] [--talk 48] [--postgres] [--sqlite]``; exit code 1 where a bound is
missed or the bundle does not verify. It takes about an hour and 6 GB of disk, so ``make bench`` leaves it out
(``make million``).
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.plugins.postgres import start_postgres

STOP_SECONDS = 20
DATABASES = ("--postgres", "--sqlite")


def main() -> int:
    """Measure on both databases, or on the one that is named."""
    wanted = [name for name in DATABASES if name in sys.argv] or DATABASES
    folder = Path(tempfile.mkdtemp(prefix="topogate-bench-"))
    try:
        codes = [on_postgres(folder) if name == "--postgres" else on_sqlite(folder) for name in wanted]
        return max(codes)
    finally:
        shutil.rmtree(folder)


def on_postgres(folder: Path) -> int:
    """Measure on a server of its own."""
    postgres = start_postgres(folder)
    try:
        return measured(postgres.url)
    finally:
        postgres.process.send_signal(signal.SIGINT)
        postgres.process.wait(STOP_SECONDS)


def on_sqlite(folder: Path) -> int:
    """Measure on a file."""
    return measured(f"sqlite:///{folder / 'bench.sqlite3'}")


def measured(url: str) -> int:
    """Make the tables and the log, then export it in a process that knows only the database's address."""
    options = [word for word in sys.argv[1:] if word not in DATABASES]
    environment = {**os.environ, "DATABASE_URL": url}
    migrate = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"]
    subprocess.run(migrate, check=True, env=environment)  # noqa: S603 # the project's own program
    for step in ("insert", "export"):
        command = [sys.executable, "-m", "bench.exporting_log", step, *options]
        code = subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 # the same
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
