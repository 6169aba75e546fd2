"""The whole suite: ``python -m tests``.

Everything runs on PostgreSQL, then what depends on the database runs again on SQLite. Tests that wait, for a browser
or for servers of their own, run beside those that compute, so that no processor is idle while they wait; their patience
is many times what they need. Both passes run even when one fails, unless somebody interrupts; the last line adds them
up.
"""

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
INTERRUPTED = 2  # pytest's exit code
# One more than the processors of a small machine: one of three waits most of the time.
WORKERS = 3


@dataclass(frozen=True, slots=True)
class Pass:
    """One run of pytest: which tests, on which database. An empty mark chooses every test."""

    title: str
    mark: str
    database: str

    def files(self) -> list[str]:
        """Return the files that name the mark: to collect all others as well takes every process ten seconds."""
        files = sorted(ROOT.glob("tests/**/test_*.py")) if self.mark else []
        return [str(file) for file in files if self.mark in file.read_text()]


PASSES = (
    Pass("everything, PostgreSQL", "", "postgresql"),
    Pass("what depends on the database, SQLite", "both_databases", "sqlite"),
)
SLOWEST = 12
"""How many files the summary names, so that what became slow is seen."""


def main() -> int:
    """Run every pass, print the sum, return the first exit code that is not 0."""
    codes, counts, milliseconds = [], {"passed": 0, "failed": 0, "skipped": 0}, Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for number, part in enumerate(PASSES, start=1):
            sys.stdout.write(f"\n=== {number}/{len(PASSES)}: {part.title}\n")
            sys.stdout.flush()
            report = Path(folder) / f"{number}.xml"
            codes.append(run(part, report))
            for word, count in tally(report).items():
                counts[word] += count
            milliseconds += milliseconds_of_files(report)
            if codes[-1] == INTERRUPTED:
                break
    slowest = ", ".join(f"{name} {taken // 1000}" for name, taken in milliseconds.most_common(SLOWEST))
    sys.stdout.write(f"\n=== seconds of the slowest files: {slowest}\n")
    sys.stdout.write(f"\n=== all passes: {', '.join(f'{count} {word}' for word, count in counts.items() if count)}\n")
    return next((code for code in codes if code), 0)


def run(part: Pass, report: Path) -> int:
    """Run one pass; return pytest's exit code."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", part.mark, f"--junit-xml={report}"]
    command += ["-n", str(WORKERS), "--dist", "worksteal", *part.files()]
    environment = {**os.environ, "TOPOGATE_TEST_DATABASE": part.database}
    asked: list[int] = []

    def stop(number: int, frame: object) -> None:
        # A terminal's Ctrl-C reaches pytest without help; here it must only not end this process first.
        asked.append(number)
        if number == signal.SIGTERM:
            process.terminate()

    with subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL) as process:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        code = process.wait()
    return INTERRUPTED if asked else code


def tally(report: Path) -> dict[str, int]:
    """Count a pass's tests from its report; a pass that wrote none has failed as a whole."""
    if not report.exists():
        return {"failed": 1}
    suite = ET.parse(report).getroot()[0]  # noqa: S314 # pytest wrote it a moment ago
    total, skipped = int(suite.attrib["tests"]), int(suite.attrib["skipped"])
    failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    return {"passed": total - skipped - failed, "failed": failed, "skipped": skipped}


def milliseconds_of_files(report: Path) -> Counter[str]:
    """Return how long the tests of each file took, their waiting included."""
    milliseconds = Counter[str]()
    if report.exists():
        for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 # pytest wrote it a moment ago
            milliseconds[case.attrib["classname"]] += round(1000 * float(case.attrib["time"]))
    return milliseconds


if __name__ == "__main__":
    sys.exit(main())
