"""The main process of a worker sweeps over a connection of its own and forks children, but not while it has one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import ROOT

pytestmark = pytest.mark.processes

PARENT = """
import os, threading, time
import django
django.setup()
from django.db import connection
from reviews.tasks import connected

is_open, ended = threading.Event(), []

def work():
    connection.ensure_connection()
    is_open.set()
    time.sleep(0.3)
    ended.append("swept")

threading.Thread(target=connected, args=(work,)).start()
is_open.wait()
child = os.fork()
if not child:
    connection.ensure_connection()
    os._exit(7 if ended else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), connection.connection)
"""


def test_a_child_is_forked_once_the_sweep_has_closed_its_connection(tmp_path: Path) -> None:
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'one.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    ran = subprocess.run(
        [sys.executable, "-c", PARENT],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout == "7 None\n"
