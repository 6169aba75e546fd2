"""What a bundle holds, made from a database: it verifies, tells the same as the log, and runs nothing."""

import io
import json
import subprocess
import sys
import zipfile
from base64 import b64decode
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped] # ships no types
import pytest
import yaml

from planner.command import main as topogate
from planner.verifier.verify import verify
from reviews.log_keys import log_signer
from reviews.markdown import plain
from reviews.models import AuditEntry, Checkpoint, Person
from reviews.services.exports import write_bundle
from reviews.services.withdrawals import signoff_withdraw
from tests.reviews.bundle.conftest import in_force
from tests.reviews.factories import Cast, documents, planned, sign
from tests.reviews.rules.test_rule_10_activation import activate, approved

SCHEMA = Path(__file__).parents[3] / "docs/reference/topology-review.schema.json"


def bundle(people: Cast, decision: int | None = None) -> io.BytesIO:
    """Write a bundle."""
    file = io.BytesIO()
    written = write_bundle(people.workspace, file, decision=decision)
    assert (written.size_bytes, written.faults) == (len(file.getvalue()), ())
    return file


def public(people: Cast) -> str:
    """Return the key that a reader pins."""
    signer = log_signer(people.workspace)
    assert signer is not None
    return str(signer.verifier)


def statements(file: io.BytesIO) -> list[dict[str, Any]]:
    """Return the statements of a bundle."""
    lines = zipfile.ZipFile(file).read("statements.jsonl").splitlines()
    found: list[dict[str, Any]] = [json.loads(b64decode(json.loads(line)["payload"])) for line in lines]
    return found


@pytest.fixture
def forced(people: Cast) -> Cast:
    """A decision that bob and carol approved and dave put into force."""
    activate(people, approved(people))
    return people


def test_everything_that_was_stated_verifies(forced: Cast) -> None:
    signed = sign(forced, planned(forced))
    signoff_withdraw(actor=forced.bob, workspace=forced.workspace, signoff_id=signed.pk, reason="=SUM(A1)")
    for decision in (None, 1, 2):
        file = bundle(forced, decision)
        code, headline, _, unchecked = verify(file, [public(forced)])
        assert code == 0, headline
        assert any("only hashes" in one for one in unchecked) == (decision is not None)
        assert verify(file)[0] == 3


def test_the_same_log_gives_the_same_bytes(forced: Cast) -> None:
    assert bundle(forced).getvalue() == bundle(forced).getvalue()


def test_a_bundle_holds_what_the_guide_lists(forced: Cast) -> None:
    names = zipfile.ZipFile(bundle(forced, 1)).namelist()
    fixed = [name for name in names if not name.startswith("documents/")]
    assert fixed == [
        "log/entries.jsonl",
        "log/payloads.jsonl",
        "log/newest.checkpoint",
        "log/keys.txt",
        "log/proofs.jsonl",
        "decisions/D-0001.md",
        "statements.jsonl",
        "report.html",
        "tables/entries.csv",
        "tables/signoffs.csv",
        "tables/files.csv",
        "README.md",
        "verify.py",
        "TRAILER.json",
    ]
    assert len(names) - len(fixed) == 4  # contract, evidence, plan, policy


def test_the_bundle_says_of_each_of_its_files_what_proves_it(forced: Cast) -> None:
    opened = zipfile.ZipFile(bundle(forced, 1))
    told = opened.read("README.md").decode()
    for name in opened.namelist():
        folder = f"`{name.partition('/')[0]}/`"
        assert f"`{name}`" in told or folder in told or name == "README.md", name


def test_the_review_statement_says_who_approved_and_fits_its_schema(forced: Cast) -> None:
    trial, summary, review = statements(bundle(forced))
    entry = AuditEntry.objects.get(action="decision.activated")
    assert trial["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert (trial["predicate"]["result"], trial["predicate"]["failedTests"]) == ("PASSED", [])
    assert "throughput" in trial["predicate"]["passedTests"]
    assert summary["predicate"]["verificationResult"] == "PASSED"
    assert "TOPO_GATE_THROUGHPUT" in summary["predicate"]["verifiedLevels"]
    assert len(summary["predicate"]["inputAttestations"]) == 1
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(review)
    said = review["predicate"]
    assert (said["entry"], said["decision"], said["revision"], said["carries"]) == (entry.seq, 1, 1, [])
    assert said["authors"] == [forced.alice.token]
    assert said["quorum"] == {"networking": 1, "serving": 1}
    assert {(one["team"], one["person"], one["status"]) for one in said["approvals"]} == {
        ("serving", forced.bob.token, "CURRENT"),
        ("networking", forced.carol.token, "CURRENT"),
    }
    assert review["subject"][0]["digest"]["sha256"] == entry.subject.removeprefix("sha256:")


def test_a_trial_that_does_not_pass_is_a_failed_test(people: Cast) -> None:
    planned(people, pair=documents(floor=600))
    trial, summary = statements(bundle(people))
    assert (trial["predicate"]["result"], trial["predicate"]["failedTests"]) == ("FAILED", ["throughput"])
    assert (summary["predicate"]["verificationResult"], summary["predicate"]["verifiedLevels"]) == (
        "FAILED",
        ["FAILED"],
    )


def test_what_people_wrote_is_text_in_every_form(people: Cast) -> None:
    Person.objects.filter(pk=people.bob.pk).update(display_name="<script>alert(1)</script>")
    revision = planned(people)
    sign(people, revision, statement="=HYPERLINK(1)\n# heading <b>bold</b> [link](javascript:x)")
    opened = zipfile.ZipFile(bundle(people))
    report, record = opened.read("report.html").decode(), opened.read("decisions/D-0001.md").decode()
    assert "<script>" not in report
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in report
    assert "<b>" not in report
    assert "\n# heading" not in record
    assert r"\# heading \<b\>bold\</b\> \[link\]\(javascript:x\)" in record
    row = next(line for line in opened.read("tables/signoffs.csv").decode().splitlines() if "HYPERLINK" in line)
    assert "\"'=HYPERLINK(1)" in row


def test_the_decision_record_has_the_parts_of_madr(forced: Cast) -> None:
    record = zipfile.ZipFile(bundle(forced)).read("decisions/D-0001.md").decode()
    headings = [line for line in record.splitlines() if line.startswith("#")]
    assert headings == [
        "# D-0001: One device",
        "## Context and Problem Statement",
        "## Considered Options",
        "## Decision Outcome",
        "### Consequences",
        "### Confirmation",
        "## More Information",
    ]
    assert record.startswith("---\nstatus: in force\n")
    assert "Chosen option: t-1 (tp1-pp1-ep1-dp1)." in record
    review = next(one for one in statements(bundle(forced)) if "review" in one["predicateType"])
    assert f"* plan file: sha256:{review['subject'][1]['digest']['sha256']}" in record.splitlines()


@pytest.mark.parametrize("name", ["Bob (on call)", '"Bob" \\ <b>&</b> [x](http://y) \u200d\U0001f600', "- Bob: #1"])
def test_the_head_of_a_record_is_yaml(name: str, people: Cast) -> None:
    Person.objects.filter(pk=people.bob.pk).update(display_name=name)
    sign(people, planned(people))
    head = zipfile.ZipFile(bundle(people)).read("decisions/D-0001.md").decode().split("---\n")[1]
    line = next(line for line in head.splitlines() if line.startswith("decision-makers"))
    assert yaml.safe_load(line) == {"decision-makers": name}
    assert set(line).isdisjoint("<>[]`*_#&")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("chat/eu-west", "chat/eu-west"),
        ("- a -b c- --", r"\- a \-b c\- \-\-"),
        ("http://a.b", r"http\://a\.b"),
        ("www.a.b", r"www\.a\.b"),
        ("1. a", r"1\. a"),
    ],
)
def test_only_what_would_mark_something_is_escaped(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_the_report_says_what_was_selected_and_put_into_force(forced: Cast) -> None:
    report = zipfile.ZipFile(bundle(forced)).read("report.html").decode()
    assert "<p>The planner selects t-1 (tp1-pp1-ep1-dp1).</p>" in report
    assert "<p>Put into force: r1, t-1 (tp1-pp1-ep1-dp1), by " in report
    assert "Nobody signed" not in report


def test_the_verifier_in_the_bundle_stands_alone(forced: Cast, tmp_path: Path) -> None:
    raw = bundle(forced)
    (tmp_path / "bundle.zip").write_bytes(raw.getvalue())
    (tmp_path / "verify.py").write_bytes(zipfile.ZipFile(raw).read("verify.py"))
    assert len((tmp_path / "verify.py").read_text().splitlines()) < 300
    (tmp_path / "key").write_text(f"{public(forced)}\n")
    (tmp_path / "old").write_bytes(bytes(Checkpoint.objects.get().note))
    answers = [
        subprocess.run(
            [sys.executable, "-I", "verify.py", "bundle.zip", *more],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        for more in ([], ["--key", "key", "--checkpoint", "old"])
    ]
    assert [answer.returncode for answer in answers] == [3, 0], answers
    assert [answer.stdout.split(":")[0] for answer in answers] == ["CONSISTENT ONLY", "VERIFIED"]


def test_the_command_line_gives_the_same_verdict(
    forced: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(bundle(forced).getvalue())
    assert topogate(["verify", str(path), "--key", public(forced), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["code"], told["entry"]) == ("VERIFIED", 0, None)
    assert told["headline"] == verify(io.BytesIO(path.read_bytes()), [public(forced)])[1]
    assert topogate(["verify", str(path)]) == 3
    assert capsys.readouterr().out.startswith("CONSISTENT ONLY: ")
    assert topogate(["verify", str(tmp_path / "none.zip")]) == 2


def test_a_board_that_did_everything_verifies(decided: Cast) -> None:
    file = bundle(decided)
    code, headline, _, _ = verify(file, [public(decided)])
    assert code == 0, headline
    number = in_force().number
    assert verify(bundle(decided, number), [public(decided)])[0] == 0
