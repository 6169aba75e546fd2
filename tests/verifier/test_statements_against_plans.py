"""Statements that the key of the log signed and that say otherwise than the plan which lies beside them."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.command import main as topogate
from planner.verifier.verify import verify
from tests.verifier.making import KEY, content, sound_story, unwrapped, written
from tests.verifier.story import Story
from tests.verifier.test_damaged_bundles import restated

TRIAL, SUMMARY, OTHER_TRIAL, OTHER_SUMMARY = 0, 1, 5, 6
"""Statements of the story: about the trial and the plan of D-0001 r1, and of D-0002."""
MADE = content(sound_story())
Statement = dict[str, Any]
Change = Callable[[Statement], object]


def statement(at: int) -> Statement:
    """Return what a statement of the story says."""
    tree: Statement = json.loads(unwrapped(MADE.statements[at]))
    return tree


def said(**changes: Any) -> Change:
    """Return what changes a predicate."""
    return lambda tree: tree["predicate"].update(changes)


def digests(*names: dict[str, Any]) -> Change:
    """Return what changes the subjects of a statement."""
    return lambda tree: tree.update(subject=list(names))


def about_nothing(tree: Statement) -> None:
    tree["subject"][0]["digest"]["sha256"] = "22" * 32


PASSED = {"result": "PASSED", "passedTests": ["throughput", "ttft"], "failedTests": []}
PLAN_OF_ANOTHER = statement(OTHER_SUMMARY)["subject"][1]
FORGED: dict[str, tuple[int, Change, str]] = {
    "an unknown gate passed": (TRIAL, said(**PASSED), "passedTests, failedTests, result"),
    "a gate kept silent about": (TRIAL, said(failedTests=[], result="PASSED"), "failedTests, result"),
    "a trial passed with a gate that failed": (
        TRIAL,
        said(result="PASSED"),
        "says otherwise than log and plan: result",
    ),
    "a gate that failed is a warning": (TRIAL, said(warnedTests=["ttft"]), "says otherwise than log and plan: warned"),
    "a trial that the plan has not": (TRIAL, about_nothing, "about sha256:2222"),
    "a result told of as a review": (
        TRIAL,
        lambda tree: tree.update(predicateType="urn:topogate:predicate:topology-review:v1"),
        "predicateType",
    ),
    "a plan that selected is told of as failed": (SUMMARY, said(verificationResult="FAILED"), "verificationResult"),
    "a gate more that the selected trial passed": (
        SUMMARY,
        said(verifiedLevels=["TOPO_GATE_THROUGHPUT", "TOPO_GATE_TTFT"]),
        "verifiedLevels",
    ),
    "a plan for another slot": (SUMMARY, said(resourceUri="urn:topogate:slot:own/slot"), "resourceUri"),
    "a decision with the plan of another": (
        SUMMARY,
        digests(statement(SUMMARY)["subject"][0], PLAN_OF_ANOTHER),
        "subject",
    ),
    "a trial under a contract of another revision": (
        TRIAL,
        said(configuration=statement(OTHER_TRIAL)["predicate"]["configuration"]),
        "says otherwise than log and plan: configuration.",
    ),
    "a trial under nothing": (TRIAL, lambda tree: tree["predicate"].pop("configuration"), "plan: configuration."),
    "a plan under another policy": (
        SUMMARY,
        said(policy={"uri": "urn:topogate:policy", "digest": {"sha256": "22" * 32}}),
        "says otherwise than log and plan: policy.",
    ),
    "a plan by another planner": (
        SUMMARY,
        said(verifier={"id": "urn:topogate:planner", "version": {"topogate": "9.9.9"}}),
        "says otherwise than log and plan: verifier.",
    ),
    "a subject that nothing planned": (SUMMARY, about_nothing, "subject"),
    "a plan and nothing of it": (SUMMARY, digests(PLAN_OF_ANOTHER), "subject"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_statement_says_what_the_plan_in_the_bundle_says(name: str) -> None:
    at, change, reason = FORGED[name]
    made = content(sound_story())
    restated(made, at, change)
    code, headline, _, _ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, reason in headline) == (1, True), headline


@pytest.mark.parametrize("at", range(len(MADE.statements)))
def test_each_statement_that_there_has_to_be_is_there(at: int) -> None:
    made = content(sound_story())
    named = json.loads(unwrapped(made.statements.pop(at)))["subject"][0]["digest"]["sha256"]
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, f"no statement tells of sha256:{named} in sha256:" in headline) == (2, True), headline


@pytest.mark.parametrize(("at", "by"), [(TRIAL, OTHER_TRIAL), (SUMMARY, OTHER_SUMMARY), (TRIAL, SUMMARY)])
def test_another_statement_stands_in_for_none(at: int, by: int) -> None:
    """One of another decision, told twice, or both in each other's place."""
    made = content(sound_story())
    made.statements[at] = made.statements[by]
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, "says otherwise than log and plan: " in headline) == (1, True), headline
    made = content(sound_story())
    made.statements[at], made.statements[by] = made.statements[by], made.statements[at]
    assert verify(io.BytesIO(written(made)), [KEY])[0] == 1


def test_the_command_tells_an_outsider_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = content(sound_story())
    restated(made, TRIAL, said(**PASSED))
    path = tmp_path / "bundle.zip"
    path.write_bytes(written(made))
    assert topogate(["verify", str(path), "--key", KEY]) == 1
    found = "says otherwise than log and plan: passedTests, failedTests, result."
    assert capsys.readouterr().out.startswith(f"BROKEN: a statement about sha256:{'11' * 32} {found}")


def let_second_decision_be_about(log: Story, subject: str) -> None:
    """Let all that is said in the second decision be about the subject of the first."""
    for act in log.acts:
        if act.fields.get("decision") == 2 and act.fields.get("subject"):
            act.fields["subject"] = subject
            payload = act.payload or {}
            for one in (payload, *payload.get("signoffs", ())):
                one |= {"subject": subject} if "subject" in one else {}


def test_revisions_with_the_same_plan_are_stated_one_after_another() -> None:
    """The same documents, submitted twice as of one time, make one plan and one subject."""
    log = sound_story()
    for name in ("created", "planned"):
        again, first = log[f"{name} 2.1"], log[f"{name} 1.2"]
        again.payload = dict(first.payload or {})
    subject = log.subject("planned 2.1")
    let_second_decision_be_about(log, subject)
    log.documents = {digest: raw for digest, raw in log.documents.items() if b" 2.1" not in raw}
    code, headline, *_ = verify(io.BytesIO(written(content(log))), [KEY])
    assert code == 0, headline


def test_documents_of_other_bytes_make_one_plan_and_are_told_of_each() -> None:
    """Documents with other white space have the same content, and a revision with them the same subject."""
    log = sound_story()
    subject = log.subject("planned 1.2")
    again, first = log["created 2.1"].payload or {}, log["created 1.2"].payload or {}
    again |= {name: said for name, said in first.items() if not name.endswith("_file_sha256")}
    log["planned 2.1"].payload = dict(log["planned 1.2"].payload or {})
    let_second_decision_be_about(log, subject)
    log.documents = {digest: raw for digest, raw in log.documents.items() if b"plan 2.1" not in raw}
    code, headline, *_ = verify(io.BytesIO(written(content(log))), [KEY])
    assert code == 0, headline
