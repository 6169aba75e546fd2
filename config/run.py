"""``make run``: the whole application on one machine, with nothing installed but Python.

A Redis-protocol broker on a private socket, one Celery worker and the web server on SQLite, all below ``.run``.
DATABASE_URL and REDIS_URL are honoured when they are set. Listens on the loopback addresses only: this is for
trying and for one machine; the operator guide describes an installation for many.
"""

import errno
import os
import socket
import sys
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from config import embedded
from config.broker import BrokerError, start_broker
from config.supervisor import Child, StopAsked, Supervisor

ROOT = Path(__file__).resolve().parents[1]
READY_SECONDS = 60.0
LOG_LINES = 15
WEB = (sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", "config.wsgi")
WORKER = (sys.executable, "-m", "celery", "--app", "config", "worker", "--loglevel", "WARNING", "--concurrency", "2")


class StartError(Exception):
    """The application did not start; the message is one line for people."""


def main() -> int:
    """Run until Ctrl-C, SIGTERM or the end of one of the processes. Returns the exit code."""
    os.umask(0o077)
    folder = Path(os.environ.get("DATA_DIR") or ROOT / ".run").resolve()
    try:
        port = chosen_port(os.environ.get("PORT") or "8000")
        addresses = free_addresses(port)
        with embedded.folder_lock(folder), Supervisor(logs=folder) as supervisor:
            return serve(supervisor, folder, port, addresses)
    except (StartError, BrokerError, embedded.FolderInUseError, embedded.DataError) as error:
        say(f"Topogate did not start: {error}")
        return 1


def serve(supervisor: Supervisor, folder: Path, port: int, addresses: list[str]) -> int:
    """Start everything, print where it is, watch, and say why it ended.

    Raises:
        StartError: the web server gave no answer.
        BrokerError: the broker did not start.
        DataError: the database is not reached.
    """
    try:
        os.environ.update(embedded.environment(folder, port, addresses))
        say(f"Topogate starts. Its data is in {folder}; the first start makes it and takes half a minute.")
        ended = start(supervisor, folder, port)
        if ended is None:
            ended = supervisor.watch()
    except StopAsked:
        say("\nTopogate stops.")
        return 0
    report_end(ended)
    return 1


def start(supervisor: Supervisor, folder: Path, port: int) -> Child | None:
    """Start the processes in the order that shows the first page soonest; return one that ended meanwhile.

    The worker comes last: nobody waits for it yet, and its imports would take a processor from the web server's.
    """
    if not os.environ.get("REDIS_URL"):
        say("  1 of 5: broker of the worker's jobs")
        start_own_broker(supervisor, folder)
    supervisor.go_on()
    say("  2 of 5: database")
    embedded.prepare_database()
    supervisor.go_on()
    say("  3 of 5: scripts and style sheets")
    embedded.collect_static(folder)
    supervisor.go_on()
    say("  4 of 5: web server, and the demo workspace")
    supervisor.start("web", WEB, os.environ)
    logins = embedded.load_demo()
    ended = wait_until_served(supervisor, port)
    if ended is None:
        say("  5 of 5: worker; it plans the examples in the background")
        supervisor.start("worker", WORKER, os.environ)
        say(f"\nTopogate runs at http://localhost:{port}\n\n{logins}\nCtrl-C stops it. Logs are in {folder}.")
    return ended


def start_own_broker(supervisor: Supervisor, folder: Path) -> None:
    """Start the embedded broker and tell every later process its address."""
    log = folder / "broker.log"
    with log.open("wb") as file:
        broker = start_broker(folder / "broker", file)
    supervisor.adopt("broker", broker.process, log)
    os.environ["REDIS_URL"] = broker.url


def wait_until_served(supervisor: Supervisor, port: int) -> Child | None:
    """Wait until the web server is ready; return a child that ended before.

    Raises:
        StartError: no answer within READY_SECONDS.
        StopAsked: a signal came.
    """
    give_up_at = time.monotonic() + READY_SECONDS
    while time.monotonic() < give_up_at:
        if (ended := supervisor.ended()) is not None:
            return ended
        if answers(port):
            return None
        time.sleep(0.05)
    raise StartError(
        f"the web server gave no answer within {READY_SECONDS:.0f} s; its log is {supervisor.logs}/web.log"
    )


def answers(port: int) -> bool:
    """Return whether the web server says that it is ready."""
    connection = HTTPConnection("localhost", port, timeout=5)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def report_end(child: Child) -> None:
    """Say which process ended, with the last lines of what it said."""
    last = child.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
    say(f"\nTopogate stops: {child.name} ended by itself (exit code {child.process.returncode}). Its last lines:")
    say("\n".join(f"  {line}" for line in last) or "  (it said nothing)")


def chosen_port(text: str) -> int:
    """Return the port that PORT names.

    Raises:
        StartError: it names none.
    """
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise StartError(f"PORT: expected a number from 1 to 65535, found {text!r}")
    return int(text)


def free_addresses(port: int) -> list[str]:
    """Return the loopback addresses to listen on, as gunicorn wants them.

    Both, because ``localhost`` means either; a machine without IPv6 has one.

    Raises:
        StartError: something else listens there.
    """
    addresses = []
    for family, host, shown in ((socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::1", "[::1]")):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, port))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                reason = "is in use" if error.errno == errno.EADDRINUSE else "is reserved for the administrator"
                raise StartError(f"port {port} {reason}; choose another: make run PORT=8001") from error
            continue
        addresses.append(f"{shown}:{port}")
    return addresses


def say(text: str) -> None:
    """Write to the terminal at once: whoever waits for the address may read through a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
