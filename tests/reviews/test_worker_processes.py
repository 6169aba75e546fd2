"""Real workers, a real broker, kill -9: every job ends with exactly one plan."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from reviews.models import AuditEntry, Decision, Plan, PlanJob
from reviews.planning import StoredBytes, make_plan
from reviews.selectors.jobs import job_faults
from reviews.services.leases import in_seconds
from reviews.verification import verify
from tests.reviews.factories import Cast, Pair, cast, contract_tree, documents, evidence_tree, submitted
from tests.reviews.processes import (
    LEASE_SECONDS,
    PATIENCE_SECONDS,
    Servers,
    child_of,
    environment,
    flush,
    kill_worker,
    signal_group,
    wait_until,
)
from tests.shared import ROOT

pytestmark = [pytest.mark.both_databases, pytest.mark.processes, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """The cast, committed, so that workers see it."""
    return cast()


@pytest.fixture
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Processes that end with the test."""
    servers = Servers(tmp_path_factory.mktemp("s"))
    yield servers
    servers.stop()


def long_documents(trials: int = 500) -> Pair:
    """Evidence that takes seconds to plan: hundreds of trials that differ in their tokens only."""
    contract = contract_tree()
    evidence = evidence_tree(contract)
    one = evidence["trials"].pop("t-1")
    for number in range(trials):
        trial: dict[str, Any] = json.loads(json.dumps(one))
        trial["windows"]["w1"]["load"]["output_tokens_total"] += number
        evidence["trials"][f"t-{number}"] = trial
    return Pair(json.dumps(contract).encode(), json.dumps(evidence).encode())


def state() -> str:
    return PlanJob.objects.values_list("state", flat=True).get()


def assert_one_plan_as_the_planner_gives(people: Cast, pair: Pair) -> None:
    job = PlanJob.objects.select_related("plan__blob", "contract", "evidence").get()
    made = make_plan(
        contract=StoredBytes(pair.contract, job.contract.blob_id),
        evidence=StoredBytes(pair.evidence, job.evidence.blob_id),
        receipt=None,
        as_of=job.as_of,
        progress=lambda done, total: None,
    )
    assert (Plan.objects.count(), bytes(job.plan.blob.data)) == (1, made.raw)
    assert AuditEntry.objects.filter(action="revision.planned").count() == 1
    assert (job_faults(), Decision.objects.get().state) == ([], "IN_REVIEW")
    assert verify(people.workspace).holds


def test_a_worker_killed_while_planning_leaves_exactly_one_plan(people: Cast, servers: Servers) -> None:
    broker = servers.broker()
    first = servers.worker(broker.url)
    pair = long_documents()
    submitted(people, pair=pair)
    wait_until(lambda: PlanJob.objects.get().candidates_done > 0, "the first worker to be in the middle")
    kill_worker(first)
    assert state() == "running"
    servers.worker(broker.url)
    wait_until(lambda: state() == "done", "the second worker to finish")
    assert PlanJob.objects.get().attempts == 2
    assert_one_plan_as_the_planner_gives(people, pair)


def test_a_killed_child_is_noticed_by_the_worker_that_lives_on(people: Cast, servers: Servers) -> None:
    broker = servers.broker()
    worker = servers.worker(broker.url)
    pair = long_documents()
    submitted(people, pair=pair)
    wait_until(lambda: PlanJob.objects.get().candidates_done > 0, "the child to be in the middle")
    os.kill(child_of(worker), signal.SIGKILL)
    wait_until(lambda: state() == "done", "the worker's next child to finish")
    assert_one_plan_as_the_planner_gives(people, pair)


def test_a_worker_that_was_frozen_past_its_lease_writes_nothing(people: Cast, servers: Servers) -> None:
    broker = servers.broker()
    frozen = servers.worker(broker.url)
    pair = long_documents()
    submitted(people, pair=pair)
    wait_until(lambda: PlanJob.objects.get().candidates_done > 0, "the first worker to be in the middle")
    signal_group(frozen, signal.SIGSTOP)
    servers.worker(broker.url)
    wait_until(lambda: state() == "done", "the second worker to finish")
    signal_group(frozen, signal.SIGCONT)
    time.sleep(2 * LEASE_SECONDS)
    assert_one_plan_as_the_planner_gives(people, pair)


def test_a_broker_wiped_with_jobs_in_its_queue_loses_none(people: Cast, servers: Servers) -> None:
    broker = servers.broker()
    for number in range(5):
        published(people, broker.url, documents(tokens=170000 + number))
    flush(broker)
    servers.worker(broker.url)
    wait_until(lambda: Plan.objects.count() == 5, "five plans")
    assert (set(Decision.objects.values_list("state", flat=True)), job_faults()) == ({"IN_REVIEW"}, [])
    assert set(PlanJob.objects.values_list("attempts", flat=True)) == {1}


def test_a_broker_wiped_while_a_worker_plans_loses_nothing(people: Cast, servers: Servers) -> None:
    broker = servers.broker()
    servers.worker(broker.url)
    pair = long_documents()
    submitted(people, pair=pair)
    wait_until(lambda: state() == "running", "the worker to begin")
    published(people, broker.url, documents())
    flush(broker)
    wait_until(lambda: Plan.objects.count() == 2, "both plans")
    assert job_faults() == []


def test_a_broker_that_dies_and_comes_back_loses_nothing(people: Cast, servers: Servers) -> None:
    broker = servers.broker()
    servers.worker(broker.url)
    submitted(people)
    wait_until(lambda: Plan.objects.count() == 1, "a first plan")
    broker.process.kill()
    broker.process.wait()
    submitted(people, pair=documents(tokens=170000))
    servers.broker()
    wait_until(lambda: Plan.objects.count() == 2, "the plan asked for while there was no broker")
    assert job_faults() == []


PUBLISH = """
import django, pathlib, sys, time
django.setup()
from reviews.models import Person, Workspace
from reviews.services.submissions import submission_create
contract, evidence = (pathlib.Path(path).read_bytes() for path in sys.argv[1:3])
began = time.monotonic()
submission_create(
    actor=Person.objects.get(login=sys.argv[3]), workspace=Workspace.objects.get(slug=sys.argv[4]),
    contract=contract, evidence=evidence, title="From outside", as_of=None, idempotency_key=None,
)
print(time.monotonic() - began)
"""


def published(people: Cast, broker_url: str, pair: Pair) -> float:
    """Submit from a process of its own, as the web server would; return how many seconds it took."""
    folder = Path(os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 # two small files that are removed below
    paths = [folder / f"topogate-{os.getpid()}-{name}.json" for name in ("contract", "evidence")]
    paths[0].write_bytes(pair.contract)
    paths[1].write_bytes(pair.evidence)
    command = [sys.executable, "-c", PUBLISH, *map(str, paths), people.alice.login, people.workspace.slug]
    variables = {**environment(broker_url), "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True)
    for path in paths:
        path.unlink()
    return float(done.stdout)


@pytest.mark.parametrize("how", ["absent", "frozen"])
def test_a_broker_that_is_absent_or_hangs_fails_no_submission(people: Cast, servers: Servers, how: str) -> None:
    if how == "absent":
        url = f"unix://{servers.folder}/nothing.sock"
    else:
        broker = servers.broker()
        url = broker.url
        signal_group(broker.process, signal.SIGSTOP)
    assert published(people, url, documents()) < 2.0
    assert state() == "queued"


def test_a_worker_plans_what_waits_while_the_broker_hangs(people: Cast, servers: Servers) -> None:
    broker = servers.broker()
    servers.worker(broker.url)
    submitted(people)
    wait_until(lambda: Plan.objects.count() == 1, "a first plan")
    signal_group(broker.process, signal.SIGSTOP)
    published(people, broker.url, documents(tokens=170000))
    wait_until(lambda: Plan.objects.count() == 2, "the plan that no message announced")
    assert set(PlanJob.objects.values_list("attempts", flat=True)) == {1}


def test_a_submission_on_the_page_is_answered_when_it_is_planned(people: Cast, servers: Servers, settings: Any) -> None:
    servers.worker(servers.broker().url)
    settings.PLAN_ANSWER_SECONDS = PATIENCE_SECONDS
    client, pair = Client(), documents()
    client.force_login(people.alice, backend="django.contrib.auth.backends.ModelBackend")
    client.post(
        "/w/lab/decisions/new",
        {"act": "submit", "title": "One", "contract": pair.contract.decode(), "evidence": pair.evidence.decode()},
    )
    assert state() == "done"
    assert "Candidates and gates" in client.get("/w/lab/decisions/1/").content.decode()


def test_reconcile_says_what_the_broker_did_not_hear(people: Cast, servers: Servers) -> None:
    waiting = submitted(people).job
    PlanJob.objects.filter(pk=waiting.pk).update(woken_at=in_seconds(-60))
    done = subprocess.run(
        [sys.executable, "manage.py", "reconcile"],
        cwd=ROOT,
        env=environment(f"unix://{servers.folder}/nothing.sock"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "0 woken, 0 given up\n1 still waiting: the broker takes no messages\n"
