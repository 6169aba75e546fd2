"""``topogate submit`` against the real thing: web server, broker and worker as ``make run`` starts them."""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.embedded_run import EmbeddedRun, embedded_run
from tests.e2e.visitor import Visitor
from tests.reviews.factories import documents
from tests.shared import ROOT

pytestmark = pytest.mark.processes

PROGRAM = Path(sys.executable).with_name("topogate")
WORKED = (str(ROOT / "examples/worked/contract.json"), str(ROOT / "examples/worked/evidence.json"))
AS_OF = "2026-10-01T00:00:00Z"
WORKSPACE = "demo"


@dataclass(frozen=True)
class Done:
    """How the program ended."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """The JSON that it printed."""
        value: dict[str, Any] = json.loads(self.out)
        return value


@dataclass(frozen=True)
class Site:
    """A running server, a token file of its author, and one of somebody who may only read."""

    run: EmbeddedRun
    author: Path
    reader: Path

    def submit(self, *words: str, token_file: Path | None = None, **environment: str) -> Done:
        """Start the program as a CI job would."""
        token = [] if "TOPOGATE_TOKEN" in environment else ["--token-file", str(token_file or self.author)]
        server = ["--server", f"http://localhost:{self.run.port}", "--workspace", WORKSPACE]
        done = subprocess.run(
            [PROGRAM, "submit", *server, *token, *words],
            cwd=self.run.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    @property
    def make(self) -> str:
        """Where a token is made, as the program says it."""
        page = f"http://localhost:{self.run.port}/w/{WORKSPACE}/settings/tokens"
        return f"Make one on {page}; $TOPOGATE_TOKEN or --token-file takes it."

    def revisions(self) -> int:
        with closing(sqlite3.connect(self.run.folder / "topogate.sqlite3")) as database:
            return int(database.execute("SELECT count(*) FROM reviews_revision").fetchone()[0])


def token_file(run: EmbeddedRun, login: str, scope: str, folder: Path) -> Path:
    """Make a token on the page, as a person does, and keep it as a CI job finds it."""
    visitor = Visitor(f"http://localhost:{run.port}")
    visitor.log_in(login, run.passwords[login])
    page = visitor.post(f"/w/{WORKSPACE}/settings/tokens", {"label": "ci", "scope": scope, "days": "7"})
    secret = re.search(r"tg_[A-Za-z0-9_-]{43}", page.text)
    assert secret, page.text
    file = folder / f"{login}-token"
    file.write_text(f"{secret[0]}\n")
    return file


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("s")
    with embedded_run(folder / "run") as run:
        author = token_file(run, "author", "submit", folder)
        yield Site(run, author, token_file(run, "auditor", "read", folder))
        run.interrupt()


def written(folder: Path, **changes: Any) -> tuple[str, str]:
    """Write a small sound pair and return the names of its files."""
    pair = documents(**changes)
    for name, data in (("contract.json", pair.contract), ("evidence.json", pair.evidence)):
        (folder / name).write_bytes(data)
    return str(folder / "contract.json"), str(folder / "evidence.json")


def test_the_worked_example_is_planned_while_the_program_waits(site: Site) -> None:
    done = site.submit(*WORKED, "--title", "From CI", "--as-of", AS_OF, "--wait")
    number = done.result["decision"]
    plan = subprocess.run(
        [PROGRAM, "plan", *WORKED, "--as-of", AS_OF, "--format", "json"], capture_output=True, check=True
    )
    assert done.result == {
        "decision": number,
        "revision": 1,
        "state": "planned",
        "as_of": AS_OF,
        "plan_decision": "SELECT_TOPOLOGY",
        "selected_topology": "tp4-pp2-ep2-dp1",
        "plan_id": json.loads(plan.stdout)["plan_id"],
        "url": f"http://localhost:{site.run.port}/w/{WORKSPACE}/decisions/{number}/?revision=1",
    }
    assert (done.code, done.err) == (0, f"D-{number:04d} r1 submitted, as of {AS_OF}\n")


def test_the_same_content_again_is_the_same_revision(site: Site, tmp_path: Path) -> None:
    files = written(tmp_path, slot="own/again")
    first = site.submit(*files, "--wait")
    before = site.revisions()
    second = site.submit(*files, "--wait")
    assert (second.code, second.result, site.revisions()) == (0, first.result, before)


def test_no_eligible_topology_is_three(site: Site, tmp_path: Path) -> None:
    done = site.submit(*written(tmp_path, slot="own/none", floor=10_000), "--as-of", AS_OF, "--wait")
    assert (done.code, done.result["plan_decision"]) == (3, "NO_ELIGIBLE_TOPOLOGY")


def test_an_inconclusive_plan_is_four(site: Site, tmp_path: Path) -> None:
    contract, evidence = written(tmp_path, slot="own/open")
    tree = json.loads(Path(evidence).read_bytes())
    del tree["trials"]["t-1"]["windows"]["w1"]["load"]["output_tokens_total"]
    Path(evidence).write_text(json.dumps(tree))
    done = site.submit(contract, evidence, "--as-of", AS_OF, "--wait")
    assert (done.code, done.result["plan_decision"]) == (4, "INCONCLUSIVE")


def test_a_further_revision_of_a_decision(site: Site, tmp_path: Path) -> None:
    first = site.submit(*written(tmp_path, slot="own/further"), "--wait")
    number = first.result["decision"]
    second = site.submit(
        *written(tmp_path, slot="own/further", tokens=200_000), "--decision", f"D-{number:04d}", "--wait"
    )
    assert (second.code, second.result["decision"], second.result["revision"]) == (0, number, 2)


def test_without_waiting_the_program_ends_at_once(site: Site, tmp_path: Path) -> None:
    done = site.submit(*written(tmp_path, slot="own/at-once"), "--format", "text")
    lines = dict(line.split("=", 1) for line in done.out.splitlines())
    assert (done.code, lines["revision"], lines["plan_decision"]) == (0, "1", "")


def test_bad_documents_are_told_as_on_the_command_line(site: Site, tmp_path: Path) -> None:
    contract, evidence = written(tmp_path, slot="own/bad")
    Path(evidence).write_text('{"schema": "topogate.evidence/v1",\n "scope": NaN}')
    here = subprocess.run([PROGRAM, "plan", contract, evidence], capture_output=True, text=True, check=False)
    there = site.submit(contract, evidence, "--format", "text")
    assert (there.code, there.out, there.err) == (2, "", here.stderr)
    assert f"{evidence}:2:" in there.err
    machine = site.submit(contract, evidence)
    assert machine.code == 2
    assert [(line["file"], line["ok"]) for line in map(json.loads, machine.out.splitlines())] == [(evidence, False)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(("--decision", "9999"), "refused (404): There is no decision D-9999 in demo.", id="no decision"),
        pytest.param(("--workspace", "elsewhere"), "refused (404): There is no workspace elsewhere", id="no workspace"),
    ],
)
def test_a_refusal_by_the_server_is_five(words: tuple[str, ...], message: str, site: Site, tmp_path: Path) -> None:
    done = site.submit(*written(tmp_path), *words)
    assert (done.code, done.out) == (5, "")
    assert message in done.err


def test_a_token_that_may_only_read_is_refused(site: Site, tmp_path: Path) -> None:
    done = site.submit(*written(tmp_path), token_file=site.reader)
    assert (done.code, done.err) == (5, f"topogate: refused (403): This token has no scope submit. {site.make}\n")


def test_a_large_submission_with_a_wrong_token_is_told_so(site: Site, tmp_path: Path) -> None:
    contract, evidence = written(tmp_path)
    Path(evidence).write_bytes(b" " * (30 * 2**20))
    done = site.submit(contract, evidence, TOPOGATE_TOKEN="tg_" + "a" * 43)
    assert (done.code, done.err) == (5, f"topogate: refused (401): This is no token of this server. {site.make}\n")


def test_the_token_is_taken_from_the_environment(site: Site, tmp_path: Path) -> None:
    token = site.author.read_text().strip()
    done = site.submit(*written(tmp_path, slot="own/environment"), TOPOGATE_TOKEN=token)
    assert done.code == 0
    assert token not in done.out + done.err
