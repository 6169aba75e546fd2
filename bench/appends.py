"""Print how fast many writers append to one log, beside plain inserts of such rows under the same lock.

A PostgreSQL server is started and thrown away; it syncs every commit, unless ``--no-sync`` leaves the disk out. Each
writer is a thread with a connection of its own. The yardstick does the least that a row under the workspace's lock
takes: begin, lock, insert a row of the same columns and as many bytes, commit. An append also finds the entry before
it, asks the server for the time, and makes canonical bytes and their digest. Both are run in turn; the median counts,
in seconds of the clock. In the end the log has to hold.

``python -m bench.appends [--no-sync] [--writers 16] [--appends 100] [--runs 5]``; exit code 1 where an aim is missed.
How many there are in a second is judged without the disk alone.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.plugins.postgres import start_postgres

SYNCED = ("-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "full_page_writes=on")
STOP_SECONDS = 20


def main() -> int:
    """Start the server, make the tables, measure in a process that knows the server's address."""
    folder = Path(tempfile.mkdtemp(prefix="topogate-bench-"))
    is_synced = "--no-sync" not in sys.argv
    postgres = start_postgres(folder, SYNCED if is_synced else ())
    environment = {**os.environ, "DATABASE_URL": postgres.url}
    try:
        migrate = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"]
        subprocess.run(migrate, check=True, env=environment)  # noqa: S603 # the project's own program
        measure = [sys.executable, "-m", "bench.appending", *(word for word in sys.argv[1:] if word != "--no-sync")]
        measure += ["--ratio-alone"] if is_synced else []
        return subprocess.run(measure, check=False, env=environment).returncode  # noqa: S603 # the same
    finally:
        postgres.process.send_signal(signal.SIGINT)
        postgres.process.wait(STOP_SECONDS)
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
