"""Print how much longer pages take than a bare answer of the same server: the p95 of each as a multiple, in one run.

The server is the one that is shipped (gunicorn, two processes), on a fresh SQLite database with the shipped examples.
The bare answer passes the same middleware for the same person, who is logged in, and does nothing. A few clients ask
for all addresses in turn, in another order each time, so that a busy machine slows all of them alike.

``python -m bench.pages [--clients 2] [--rounds 100]``; exit code 1 where an address is not answered.
"""

import argparse
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

BARE = "bare answer"
AIMS = {
    "decision page": 6,
    "inbox": 5,
    "API: decision": 4,
    "API: decisions": 4,
    "history": 6,
    "rank map": 8,
    "memory": 8,
    "what-if": 6,
    "slots": 4,
    "slot": 8,
    "live identity": 6,
    "observations": 10,
    "launch": 7,
    "audit log": 5,
}
"""Multiples of the bare answer's p95."""
START_SECONDS = 60
WARM_ROUNDS = 4


def main() -> int:
    """Fill a database, serve it, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=100)
    chosen = parser.parse_args()
    with filled("bench.page_data") as (environment, found), served(environment) as port:
        taken = measured(
            Client(port, found["cookie"], found["paths"], seed=seed, rounds=chosen.rounds)
            for seed in range(chosen.clients)
        )
    if taken is None:
        return 1
    report(taken, AIMS)
    return 0


@contextmanager
def filled(maker: str) -> Iterator[tuple[Mapping[str, str], dict[str, Any]]]:
    """Let a module fill a fresh database; yield the environment of its server, and what the module printed as JSON."""
    folder = Path(tempfile.mkdtemp(prefix="topogate-bench-"))
    environment = {
        **os.environ,
        "DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'bench.sqlite3'}",
        "SECRET_KEY": "of-a-bench-that-is-thrown-away-" + "x" * 32,
        "API_READ_RATE": "1000000/min",
        "API_SUBMIT_RATE": "1000000/min",
        "ALLOWED_HOSTS": "localhost",
        "STATIC_COLLECTED": "true",
    }
    try:
        for command in (("migrate", "--no-input", "--verbosity=0"), ("collectstatic", "--no-input", "--verbosity=0")):
            subprocess.run([sys.executable, "manage.py", *command], check=True, env=environment)  # noqa: S603 # own
        data = [sys.executable, "-m", maker]
        made = subprocess.run(data, check=True, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603 # own
        yield environment, json.loads(made.stdout.splitlines()[-1])
    finally:
        shutil.rmtree(folder)


@contextmanager
def served(environment: Mapping[str, str]) -> Iterator[int]:
    """Serve the application on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "gunicorn", "-c", "python:config.gunicorn", "config.wsgi"]
    bound = {**environment, "WEB_BIND": f"127.0.0.1:{port}"}
    server = subprocess.Popen(command, env=bound, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 # own
    try:
        give_up_at = time.monotonic() + START_SECONDS
        while not answers(port) and time.monotonic() < give_up_at:
            time.sleep(0.2)
        yield port
    finally:
        server.terminate()
        server.wait(START_SECONDS)


def answers(port: int) -> bool:
    """Whether somebody listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Client(threading.Thread):
    """Asks for every address in turn; ``taken`` holds seconds by name, ``failed`` what was not answered with 200."""

    def __init__(self, port: int, cookie: str, paths: Mapping[str, str], *, seed: int, rounds: int) -> None:
        super().__init__()
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Cookie": cookie, "Host": "localhost"}
        self.paths, self.rounds = paths, rounds
        self.order = random.Random(seed)  # noqa: S311 # an order, nothing secret
        self.taken: dict[str, list[float]] = {name: [] for name in paths}
        self.failed: set[str] = set()

    def run(self) -> None:
        """Ask; the first rounds fill the templates and addresses that each process keeps, and do not count."""
        for at in range(-WARM_ROUNDS, self.rounds):
            for name in self.order.sample(sorted(self.paths), len(self.paths)):
                seconds = self.ask(name)
                if at >= 0:
                    self.taken[name].append(seconds)
        self.connection.close()

    def send(self, name: str) -> None:
        """Send one request."""
        self.connection.request("GET", self.paths[name], headers=self.headers)

    def ask(self, name: str) -> float:
        """Ask once and read the whole answer."""
        start = time.perf_counter()
        self.send(name)
        answer = self.connection.getresponse()
        answer.read()
        if answer.status != 200:
            self.failed.add(f"{name} is answered with {answer.status}")
        return time.perf_counter() - start


def measured(clients: Iterable[Client]) -> dict[str, list[float]] | None:
    """Return the seconds that each address took, by name; None where one was not answered with 200."""
    asking = list(clients)
    for client in asking:
        client.start()
    for client in asking:
        client.join()
    failed = {line for client in asking for line in client.failed}
    sys.stderr.writelines(f"{line}\n" for line in sorted(failed))
    taken = {name: [seconds for client in asking for seconds in client.taken[name]] for name in asking[0].taken}
    return None if failed else taken


def report(taken: Mapping[str, list[float]], aims: Mapping[str, int]) -> None:
    """Print a line for each address; ``aims`` are multiples of the bare answer's p95."""
    bare = p95(taken[BARE])
    print(f"{'':24}{'p50 ms':>8}{'p95 ms':>8}{'of bare':>9}{'aim':>6}")
    for name, seconds in taken.items():
        aim = f"{aims[name]} x" if name in aims else ""
        ratio = p95(seconds) / bare
        print(f"{name:24}{statistics.median(seconds) * 1000:8.1f}{p95(seconds) * 1000:8.1f}{ratio:7.1f} x{aim:>6}")


def p95(seconds: list[float]) -> float:
    """Return the time that 95 of 100 answers kept within."""
    return statistics.quantiles(seconds, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())
