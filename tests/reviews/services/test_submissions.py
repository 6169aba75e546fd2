"""Submitting: a revision and a job, or a refusal and nothing else."""

import json

import pytest

from planner.canonical import content_id, file_sha256
from planner.intake import read_evidence
from reviews.errors import ConflictError, DocumentsRefusedError, NotAllowedError, NotFoundError
from reviews.models import AuditEntry, Blob, Decision, PlanJob, Revision, StoredDocument
from reviews.planning import PLANNER_VERSION, intake_receipt
from reviews.services.submissions import submission_create
from tests.reviews.factories import (
    AS_OF,
    POLICY,
    Cast,
    Pair,
    contract_tree,
    documents,
    evidence_tree,
    last_entry,
    planned,
    submitted,
)

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def counts() -> dict[str, int]:
    tables = (Blob, Decision, PlanJob, Revision, StoredDocument)
    return {table.__name__: table.objects.count() for table in tables}


def test_a_submission_becomes_the_first_revision_of_a_new_decision(people: Cast) -> None:
    pair = documents()
    revision = submitted(people, pair=pair)
    decision = revision.decision
    assert (decision.number, decision.label, decision.slot, decision.state, decision.title) == (
        1,
        "D-0001",
        "own/one-device",
        "EVALUATING",
        "One device",
    )
    assert (revision.number, revision.author, revision.as_of, revision.planner_version) == (
        1,
        people.alice,
        AS_OF,
        PLANNER_VERSION,
    )
    assert (revision.job.state, revision.job.candidates_total) == ("queued", 1)
    assert bytes(revision.contract.blob.data) == pair.contract
    assert bytes(revision.evidence.blob.data) == pair.evidence


def test_both_digests_of_a_document_are_kept(people: Cast) -> None:
    pair = documents()
    revision = submitted(people, pair=pair)
    assert revision.contract.file_sha256 == file_sha256(pair.contract)
    assert revision.contract.content_id == content_id(json.loads(pair.contract))
    assert revision.identity == content_id(json.loads(pair.contract)["identity"])


def test_a_submission_is_one_entry_that_names_every_digest(people: Cast) -> None:
    before = AuditEntry.objects.count()
    pair = documents()
    submitted(people, pair=pair)
    entry = last_entry(people)
    assert AuditEntry.objects.count() == before + 1
    assert (entry["action"], entry["decision"], entry["revision"], entry["actor"]) == (
        "revision.created",
        1,
        1,
        people.alice.token,
    )
    assert entry["payload"] == {
        "title": "One device",
        "slot": "own/one-device",
        "contract": content_id(json.loads(pair.contract)),
        "contract_file_sha256": file_sha256(pair.contract),
        "evidence": content_id(json.loads(pair.evidence)),
        "evidence_file_sha256": file_sha256(pair.evidence),
        "evidence_receipt_sha256": file_sha256(intake_receipt(read_evidence(pair.evidence))),
        "identity": content_id(json.loads(pair.contract)["identity"]),
        "policy": content_id(POLICY),
        "planner_version": PLANNER_VERSION,
        "as_of": AS_OF,
        "author": people.alice.token,
        "contract_by": people.alice.token,
        "evidence_by": people.alice.token,
    }


def test_the_same_content_in_other_bytes_keeps_both_files_and_one_job(people: Cast) -> None:
    pair = documents()
    first = submitted(people, pair=pair)
    second = submitted(people, pair=Pair(pair.contract + b"\n", pair.evidence))
    assert first.contract.content_id == second.contract.content_id
    assert first.contract.file_sha256 != second.contract.file_sha256
    assert first.job == second.job
    assert bytes(second.contract.blob.data) == pair.contract + b"\n"


def test_a_question_that_was_planned_before_is_answered_at_once(people: Cast) -> None:
    first = planned(people)
    second = submitted(people)
    assert second.decision.number == 2
    assert second.planned.plan == first.planned.plan
    assert Decision.objects.get(number=2).state == "IN_REVIEW"
    assert PlanJob.objects.count() == 1


def test_new_evidence_makes_the_next_revision(people: Cast) -> None:
    decision = planned(people).decision
    revision = submitted(people, pair=documents(tokens=170000), decision=decision)
    decision.refresh_from_db()
    assert (revision.decision, revision.number, decision.state) == (decision, 2, "EVALUATING")


def test_a_revision_keeps_the_decisions_title(people: Cast) -> None:
    decision = planned(people).decision
    pair = documents(tokens=170000)
    submission_create(
        actor=people.alice,
        workspace=people.workspace,
        contract=pair.contract,
        evidence=pair.evidence,
        title="",
        as_of=None,
        idempotency_key=None,
        decision=decision,
    )
    decision.refresh_from_db()
    assert decision.title == "One device"


def test_without_a_time_it_is_now_in_whole_seconds(people: Cast) -> None:
    pair = documents()
    revision = submission_create(
        actor=people.alice,
        workspace=people.workspace,
        contract=pair.contract,
        evidence=pair.evidence,
        title="Now",
        as_of=None,
        idempotency_key=None,
    )
    assert revision.as_of == revision.made_at.strftime("%Y-%m-%dT%H:%M:%SZ")


def findings(error: DocumentsRefusedError) -> list[tuple[str, str, str]]:
    return [(problem.document, problem.code, problem.pointer) for problem in error.problems]


def other_contract() -> Pair:
    return Pair(documents(floor=600).contract, documents().evidence)


def wrong_field() -> Pair:
    contract = contract_tree()
    contract["identity"]["model"]["layers"] = "32"
    return Pair(json.dumps(contract).encode(), json.dumps(evidence_tree(contract)).encode())


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        pytest.param(
            other_contract(), ("evidence", "document/other_contract", "/contract_content_id"), id="other contract"
        ),
        pytest.param(wrong_field(), ("contract", "document/type", "/identity/model/layers"), id="a wrong type"),
        pytest.param(Pair(b"", documents().evidence), ("contract", "json/syntax", ""), id="nothing"),
        pytest.param(Pair(b"\x89PNG\r\n", documents().evidence), ("contract", "json/encoding", ""), id="a picture"),
        pytest.param(Pair(documents().contract, b"[" * 100_000), ("evidence", "json/depth", ""), id="nested too deep"),
    ],
)
def test_a_bad_document_is_refused_by_name_and_field(people: Cast, pair: Pair, expected: tuple[str, str, str]) -> None:
    before = counts()
    with pytest.raises(DocumentsRefusedError) as refused:
        submitted(people, pair=pair)
    assert expected in findings(refused.value)
    after = counts()
    # The one new blob is the payload of the entry that records the refusal.
    assert after == {**before, "Blob": before["Blob"] + 1}
    entry = last_entry(people)
    assert (entry["action"], entry["reason"]) == ("submission.refused", refused.value.message[:2000])
    assert entry["payload"] == {
        "contract_file_sha256": file_sha256(pair.contract),
        "evidence_file_sha256": file_sha256(pair.evidence),
    }


def test_problems_of_both_documents_and_of_the_request_come_together(people: Cast) -> None:
    with pytest.raises(DocumentsRefusedError) as refused:
        submission_create(
            actor=people.alice,
            workspace=people.workspace,
            contract=b"{",
            evidence=b"[]",
            title=" ",
            as_of="2026-02-30T00:00:00Z",
            idempotency_key="\n",
        )
    assert {problem.document for problem in refused.value.problems} == {"contract", "evidence", "request"}
    assert [problem.pointer for problem in refused.value.problems if problem.document == "request"] == [
        "title",
        "as_of",
        "idempotency_key",
    ]


@pytest.mark.parametrize(
    "as_of", ["\ud800", "\0", "2026-09-20", "2026-09-20T16:00:00", "2026-09-20T16:00:00+00:00", ""]
)
def test_a_time_that_is_none_is_refused_whatever_it_is_made_of(people: Cast, as_of: str) -> None:
    with pytest.raises(DocumentsRefusedError) as refused:
        submitted(people, as_of=as_of)
    assert findings(refused.value) == [("request", "request/as_of", "as_of")]
    assert last_entry(people)["reason"] == refused.value.message


def test_a_contract_for_another_slot_is_no_revision_of_this_decision(people: Cast) -> None:
    decision = planned(people).decision
    with pytest.raises(DocumentsRefusedError) as refused:
        submitted(people, pair=documents(slot="own/other"), decision=decision)
    assert findings(refused.value) == [("contract", "document/scope", "/slot")]
    assert Revision.objects.count() == 1


@pytest.mark.parametrize("name", ["bob", "audrey"])
def test_only_authors_submit(people: Cast, name: str) -> None:
    with pytest.raises(NotAllowedError, match="Submitting needs the role author"):
        submitted(people, actor=getattr(people, name))
    assert (Decision.objects.count(), last_entry(people)["action"]) == (0, "submission.refused")


def test_a_stranger_learns_nothing_and_leaves_no_entry(people: Cast) -> None:
    before = AuditEntry.objects.count()
    with pytest.raises(NotFoundError):
        submitted(people, actor=people.charlie)
    assert AuditEntry.objects.count() == before


def test_somebody_switched_off_submits_nothing(people: Cast) -> None:
    people.alice.is_active = False
    people.alice.save()
    with pytest.raises(NotFoundError):
        submitted(people)


def test_a_final_decision_takes_no_revision(people: Cast) -> None:
    decision = planned(people).decision
    Decision.objects.filter(pk=decision.pk).update(state="WITHDRAWN")
    with pytest.raises(ConflictError, match="D-0001 is withdrawn"):
        submitted(people, pair=documents(tokens=170000), decision=decision)
    assert Revision.objects.count() == 1


def test_the_same_key_with_the_same_content_returns_the_same_revision(people: Cast) -> None:
    first = submitted(people, key="k1")
    before = AuditEntry.objects.count()
    assert submitted(people, key="k1") == first
    assert (Decision.objects.count(), AuditEntry.objects.count()) == (1, before)


def test_the_same_key_with_other_content_is_a_conflict(people: Cast) -> None:
    submitted(people, key="k1")
    with pytest.raises(ConflictError, match="This idempotency key belongs to another submission"):
        submitted(people, key="k1", pair=documents(tokens=170000))
    assert Decision.objects.count() == 1


def test_keys_of_two_people_do_not_meet(people: Cast) -> None:
    people.bob.memberships.update(role="author")
    first = submitted(people, key="k1")
    assert submitted(people, key="k1", actor=people.bob) != first
