"""Management commands: what they print and how they end."""

import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from planner.canonical import content_id
from planner.times import time_text
from reviews.models import (
    AuditEntry,
    Countersignature,
    Decision,
    Membership,
    Person,
    PlanJob,
    Policy,
    Team,
    Workspace,
)
from reviews.services.demo import PEOPLE, POLICY
from reviews.services.jobs import job_run
from reviews.services.people import workspace_create
from reviews.services.people_invitations import invitation_use
from reviews.services.proposals import HANDLERS
from reviews.services.submissions import submission_create
from reviews.services.two_persons import proposal_countersign, proposal_make
from reviews.verification import verify
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, contract_tree, documents, submitted
from tests.reviews.rules.board import TRACE

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """Two good examples, the first with a heading, and one whose evidence is no JSON."""
    for name, tokens in (("one", 163840), ("two", 170000)):
        folder = tmp_path / name
        folder.mkdir()
        pair = documents(tokens=tokens)
        (folder / "contract.json").write_bytes(pair.contract)
        (folder / "evidence.json").write_bytes(pair.evidence)
    (tmp_path / "one" / "README.md").write_text("# The first\n\nWords.\n")
    bad = tmp_path / "zz-bad"
    bad.mkdir()
    (bad / "contract.json").write_text(json.dumps(contract_tree()))
    (bad / "evidence.json").write_text("no JSON")
    return tmp_path


def run(*command: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command(*command, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_the_demo_prints_a_login_for_each_role_and_submits_the_examples(db: None, examples: Path) -> None:
    out, err = run("demo", f"--examples={examples}")
    logins = [line.split(maxsplit=2) for line in out.splitlines()]
    assert [login for login, _, _ in logins] == [person.login for person in PEOPLE]
    for login, password, _ in logins:
        assert Person.objects.get(login=login).check_password(password)
    titles = Decision.objects.order_by("number").values_list("title", "slot")
    assert list(titles) == [("The first", "own/one-device"), ("two", "own/one-device")]
    assert err.startswith("example zz-bad is refused: evidence: expected")
    assert verify(Workspace.objects.get()).holds


def test_a_second_start_makes_new_passwords_and_nothing_else(db: None, examples: Path) -> None:
    (examples / "zz-bad" / "contract.json").unlink()
    first, _ = run("demo", f"--examples={examples}")
    entries = AuditEntry.objects.count()
    second, _ = run("demo", f"--examples={examples}")
    old, new = (next(line.split()[1] for line in text.splitlines()) for text in (first, second))
    author = Person.objects.get(login="author")
    assert (author.check_password(old), author.check_password(new)) == (False, True)
    assert (Decision.objects.count(), PlanJob.objects.count(), AuditEntry.objects.count()) == (2, 2, entries)


def test_the_demo_has_whom_waivers_emergencies_and_a_policy_take(db: None, examples: Path) -> None:
    run("demo", f"--examples={examples}")
    workspace = Workspace.objects.get()
    failing = submission_create(
        actor=Person.objects.get(login="author"),
        workspace=workspace,
        **vars(documents(floor=600)),
        title="Failing",
        as_of=None,
        idempotency_key=None,
    )
    job_run(failing.job_id)
    space: dict[str, Any] = {"workspace": workspace, "trace": TRACE}
    ends = time_text(timezone.now() + timedelta(days=9))
    policy = {"base": content_id(POLICY), "policy": POLICY | {"second_factor": True}}
    for kind, body, first, second in (
        ("waiver", {"trial": "t-1", "gate": "throughput", "ends_at": ends}, "reviewer-serving", "capacity"),
        (
            "emergency",
            {"trial": "t-1", "incident": "INC-1", "hours": 1, "failing_gates": ["throughput"]},
            "incident",
            "reviewer-serving",
        ),
        ("policy", policy, "admin", "second-admin"),
    ):
        number = None if kind == "policy" else failing.decision.number
        made = proposal_make(
            HANDLERS[kind],
            actor=Person.objects.get(login=first),
            body=body,
            reason="Shown.",
            number=number,
            **space,
        )
        proposal_countersign(HANDLERS, actor=Person.objects.get(login=second), proposal_id=made.pk, **space)
    assert Countersignature.objects.count() == 3


def test_a_demo_of_an_earlier_version_gets_the_teams_that_it_lacks(db: None, examples: Path) -> None:
    two = {slug: team for slug, team in POLICY["teams"].items() if team["quorum"]}
    workspace_create(slug="demo", title="Demo", policy=POLICY | {"teams": two, "duties": {}})
    run("demo", f"--examples={examples}")
    assert (Policy.objects.count(), Team.objects.count()) == (2, 4)


def test_who_was_invited_to_the_demo_keeps_it_from_nobody(db: None, examples: Path) -> None:
    run("demo", f"--examples={examples}")
    Person.objects.create_user("guest", display_name="Guest")
    assert run("demo", f"--examples={examples}")[0].startswith("author")


def test_the_shipped_examples_are_all_accepted(db: None) -> None:
    _, err = run("demo")
    assert err == ""
    assert Decision.objects.count() >= 5
    assert list(Decision.objects.filter(state="EFFECTIVE").values_list("slot", flat=True)) == ["assistant/eu-central"]


def test_the_demo_stays_out_of_a_database_with_other_work(people: Cast, examples: Path) -> None:
    with pytest.raises(CommandError, match="This database holds other work"):
        run("demo", f"--examples={examples}")


def test_a_log_that_holds_is_said_with_its_head(people: Cast) -> None:
    result = verify(people.workspace)
    out, _ = run("verify_audit", "--workspace=lab")
    assert out.splitlines()[0] == f"lab: {result.entries} entries hold, head {result.head}"


def test_a_broken_log_ends_with_1_and_names_the_entry(people: Cast) -> None:
    with lifted():
        AuditEntry.objects.filter(seq=1).update(action="policy.forged")
    out = io.StringIO()
    with pytest.raises(CommandError) as broken:
        call_command("verify_audit", stdout=out)
    assert broken.value.returncode == 1
    assert out.getvalue().startswith("lab: broken at seq 1: the column action differs from the stored bytes")


def test_an_unknown_workspace_ends_with_2(people: Cast) -> None:
    with pytest.raises(CommandError) as missing:
        run("verify_audit", "--workspace=nowhere")
    assert missing.value.returncode == 2


def test_reconcile_checks_and_mends(people: Cast) -> None:
    assert run("reconcile", "--check")[0] == "all jobs, plans and revisions agree\n"
    job = submitted(people).job
    PlanJob.objects.filter(pk=job.pk).update(attempts=3)
    assert run("reconcile")[0] == "0 woken, 1 given up\n"
    PlanJob.objects.filter(pk=job.pk).update(state="done")
    with pytest.raises(CommandError, match="2 not right"):
        run("reconcile", "--check")


def test_a_real_installation_starts_with_a_workspace_and_its_first_people(db: None) -> None:
    run("create_workspace", "platform", "--title=Platform")
    assert Policy.objects.get().version == 1
    out, _ = run("add_member", "platform", "ines", "--name=Ines", "--role=author", "--team=serving", "--team=kernel")
    said, link = out.splitlines()
    assert said == "ines is author in platform"
    assert not Person.objects.get(login="ines").has_usable_password()
    invitation_use(secret=link.rpartition("/")[2], password="a long enough secret", repeated="a long enough secret")
    assert Person.objects.get(login="ines").check_password("a long enough secret")
    seats = Membership.objects.get().seats.order_by("team__slug").values_list("team__slug", flat=True)
    assert list(seats) == ["kernel", "serving"]
    assert [entry.action for entry in AuditEntry.objects.order_by("seq")] == [
        "workspace.created",
        "policy.set",
        "roster.role_set",
        "roster.seat_given",
        "roster.seat_given",
        "roster.link_made",
        "roster.link_used",
    ]


def test_an_account_that_is_there_gets_a_link_only_when_asked_and_keeps_its_role(people: Cast) -> None:
    assert run("add_member", "lab", "alice-lab")[0] == "alice-lab is author in lab\n"
    said, link = run("add_member", "lab", "alice-lab", "--link")[0].splitlines()
    assert (said, "/join/" in link) == ("alice-lab is author in lab", True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["nowhere", "ines"], "There is no workspace nowhere.", id="no workspace"),
        pytest.param(["lab", "ines"], "There is no account ines. Give --name to make one.", id="no name"),
        pytest.param(["lab", "ines", "--team=art"], "lab has no team art.", id="no team"),
        pytest.param(["lab", "Ines", "--name=Ines"], "Expected lower-case letters", id="bad login"),
        pytest.param(
            ["lab", "ines", "--name=Ines", "--role=admin", "--team=serving"],
            "Admins never sign",
            id="admin with a seat",
        ),
    ],
)
def test_a_member_is_not_added_wrongly(people: Cast, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run("add_member", *arguments)
    assert not Person.objects.filter(login__iexact="ines").exists()


def test_a_workspace_name_is_taken_once(people: Cast) -> None:
    with pytest.raises(CommandError, match="This name is taken"):
        run("create_workspace", "lab", "--title=Again")
