"""Print how long 100,000 observed values take to be ingested, beside inserting the same values plainly.

A batch of 10,000 ranks and 1,250 serving groups goes the whole way, from bytes to committed roll-ups and findings,
while the hour holds such a batch already; the yardstick is ``bulk_create`` of a row for each value with the same fields
in the same database. Both are run in turn, the median counts, in seconds of the clock. Once on SQLite, once on a
PostgreSQL server that is started and thrown away.

``python -m bench.observing [--ranks 10000] [--runs 3]``; exit code 1 where the aim is missed.
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


def main() -> int:
    """Measure on both databases."""
    folder = Path(tempfile.mkdtemp(prefix="topogate-bench-"))
    postgres = start_postgres(folder)
    try:
        codes = [measured(url) for url in (f"sqlite:///{folder / 'bench.sqlite3'}", postgres.url)]
        return max(codes)
    finally:
        postgres.process.send_signal(signal.SIGINT)
        postgres.process.wait(STOP_SECONDS)
        shutil.rmtree(folder)


def measured(url: str) -> int:
    """Make the tables and measure in a process that knows the database's address."""
    environment = {**os.environ, "DATABASE_URL": url}
    migrate = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"]
    subprocess.run(migrate, check=True, env=environment)  # noqa: S603 # the project's own program
    measure = [sys.executable, "-m", "bench.observing_values", *sys.argv[1:]]
    return subprocess.run(measure, check=False, env=environment).returncode  # noqa: S603 # the same


if __name__ == "__main__":
    sys.exit(main())
