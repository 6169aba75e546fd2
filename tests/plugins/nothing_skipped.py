"""Make a skipped test an error of the run, so that nothing is left out quietly.

One reason is accepted: the folder with material of others, which is not part of the project, is not there. The
summary then says so, and every behaviour is covered by the project's own samples besides.
"""

import pytest

from tests.shared import ABSENT

REFUSED = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REFUSED] = []


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a report was skipped, without pytest's own prefix."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


class Watch:
    """Collects skipped reports in the process that prints the summary."""

    def __init__(self, config: pytest.Config) -> None:
        self.refused = config.stash[REFUSED]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # An expected failure is reported as skipped as well; it did run.
        if report.skipped and not hasattr(report, "wasxfail") and not skip_reason(report).startswith(ABSENT):
            self.refused.append(f"{report.nodeid}: {skip_reason(report)}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped and not skip_reason(report).startswith(ABSENT):
            self.refused.append(f"{report.nodeid}: {skip_reason(report)}")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.pluginmanager.register(Watch(session.config), "nothing-skipped-watch")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if session.config.stash[REFUSED] and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash[REFUSED]:
        terminalreporter.write_line(f"SKIPPED, which this suite refuses: {line}", red=True)
