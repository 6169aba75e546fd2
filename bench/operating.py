"""Print what a fleet in production costs: a view of its observations, and the report of one of its hosts.

A topology of 10,000 ranks on 1,250 nodes is in force; nine metrics of every rank are there for 24 hours, and every host
has reported. What is timed is what pages and the API ask for and what a host sends, in seconds of the processor, once
in a process that has kept nothing and then as it goes on, while collectors and hosts go on reporting. The report of one
host is timed with a tenth of the fleet, with all of it, and as if nothing of the others were kept. On a fresh SQLite
database, which is thrown away.

With more hours than a day's those of one metric are there for all of them, and a view of a week is timed before and
after the sweep put hours into their days.

``python -m bench.operating [--ranks 10000] [--hours 24] [--runs 5]``
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    """Measure in a process that knows the database's address."""
    folder = Path(tempfile.mkdtemp(prefix="topogate-bench-"))
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{folder / 'bench.sqlite3'}"}
    migrate = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0"]
    measure = [sys.executable, "-m", "bench.operating_fleet", *sys.argv[1:]]
    try:
        subprocess.run(migrate, check=True, env=environment)  # noqa: S603 # the project's own program
        return subprocess.run(measure, check=False, env=environment).returncode  # noqa: S603 # the same
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
