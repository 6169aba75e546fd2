"""Every stored fact beside the log is compared with its entry: changed, removed or forged, it is found."""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from reviews.append_only import APPEND_ONLY_TABLES
from reviews.audit import Act, append, workspace_write
from reviews.models import (
    Activation,
    AuditEntry,
    Blob,
    Checkpoint,
    Cosignature,
    Countersignature,
    Delegation,
    DelegationEnd,
    Diagnosis,
    DiagnosisFile,
    Emergency,
    IdentityReport,
    LogTile,
    Mention,
    Plan,
    PlannedRevision,
    PointSettlement,
    Policy,
    Proposal,
    ProposalWithdrawal,
    Reproduction,
    ReReview,
    Retraction,
    ReviewBasis,
    Revision,
    SignOff,
    SignOffCarry,
    SignOffPoint,
    SignOffWithdrawal,
    StoredDocument,
    TeamScope,
    TeamSeat,
    Thread,
    ThreadResolution,
    Waiver,
    Workspace,
)
from reviews.recorded.comparison import RecordedFacts
from reviews.recorded.kinds import KINDS
from reviews.services.checkpoints import checkpoint_sign
from reviews.transparency.checkpoints import Checkpoint as Statement
from reviews.transparency.checkpoints import checkpoint_opened, checkpoint_signed
from reviews.transparency.keys import new_key, read_key
from reviews.transparency.notes import COSIGNATURE, Signer, Verifier
from reviews.verification import Verification, verify
from tests.plugins.append_only import lifted
from tests.reviews.factories import Cast, planned, sign
from tests.reviews.rules.board import board, countersign, propose, someone
from tests.reviews.rules.everything import state_everything
from tests.reviews.rules.test_rule_19_retraction_and_rollback import superseded

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]

LATER = timezone.now() + timedelta(days=3)
WITNESS = Signer("witness.example", read_key(new_key()), COSIGNATURE)
OTHERWISE = "sha256:" + "0" * 64

CHANGES: list[tuple[type[Model], dict[str, Any], str]] = [
    (Activation, {"trial": "t-2"}, "activation"),
    (Activation, {"statement": "Other."}, "activation"),
    (Activation, {"valid_until": LATER}, "activation"),
    (Activation, {"kind": "review"}, "activation"),
    (Countersignature, {"team": "serving"}, "countersignature"),
    (Delegation, {"ends_at": LATER}, "delegation"),
    (Delegation, {"reason": "Other."}, "delegation"),
    (Diagnosis, {"points_at": "rank 2"}, "diagnosis"),
    (Diagnosis, {"planner_version": "0"}, "diagnosis"),
    (DiagnosisFile, {"sha256": OTHERWISE}, "diagnosis"),
    (Emergency, {"incident": "INC-2"}, "emergency"),
    (Emergency, {"failing_gates": "[]"}, "emergency"),
    (IdentityReport, {"matches": True}, "identity report"),
    (IdentityReport, {"differences": ""}, "identity report"),
    (Plan, {"selected_topology": "tp8"}, "planned revision"),
    (PlannedRevision, {"subject": OTHERWISE}, "planned revision"),
    (PointSettlement, {"note": "Other."}, "settlement"),
    (Policy, {"version": 9}, "policy"),
    (Policy, {"content_id": OTHERWISE}, "policy"),
    (Proposal, {"reason": "Other."}, "proposal"),
    (ProposalWithdrawal, {"reason": "Other."}, "withdrawal of a proposal"),
    (Reproduction, {"is_same": False}, "reproduction"),
    (ReReview, {"reason": "Other."}, "request for another review"),
    (Retraction, {"reason": "Other."}, "retraction"),
    (ReviewBasis, {"evidence_until": LATER}, "planned revision"),
    (Revision, {"as_of": "2026-01-01T00:00:00Z"}, "revision"),
    (Revision, {"planner_version": "0"}, "revision"),
    (SignOffCarry, {"scope": OTHERWISE}, "carry of a sign-off"),
    (SignOffPoint, {"text": "Other."}, "sign-off"),
    (SignOffWithdrawal, {"reason": "Other."}, "withdrawal of a sign-off"),
    (StoredDocument, {"content_id": OTHERWISE}, "revision"),
    (TeamScope, {"is_touched": True}, "planned revision"),
    (TeamScope, {"digest": OTHERWISE}, "planned revision"),
    (Thread, {"is_blocking": False}, "thread"),
    (Thread, {"name": "t-2"}, "thread"),
    (ThreadResolution, {"reason": "Other."}, "resolution of a thread"),
    (Waiver, {"ends_at": LATER}, "waiver"),
    (Waiver, {"gate": "ttft"}, "waiver"),
]
ANOTHER: dict[type[Model], str] = {
    Countersignature: "person",
    DelegationEnd: "person",
    Diagnosis: "person",
    IdentityReport: "person",
    Mention: "person",
    Reproduction: "person",
    Retraction: "person",
    Thread: "opener",
    ThreadResolution: "person",
    Waiver: "owner",
}
"""Facts of which the person is changed as well, and the field."""
LEAVES: tuple[type[Model], ...] = (
    *(Countersignature, DelegationEnd, Emergency, IdentityReport, Mention, PointSettlement, ProposalWithdrawal),
    *(ReReview, Reproduction, Retraction, SignOffCarry, SignOffWithdrawal, ThreadResolution, Waiver),
)
"""Facts that no other row leads to, so that they can go."""
FORGED: tuple[type[Model], ...] = (Delegation, IdentityReport, Proposal, Reproduction, ReReview)
"""Facts of which the tables take a second row that is the same."""
ELSEWHERE = {
    "reviews_auditentry": "the log itself",
    "reviews_blob": "hashed where an entry names it",
    "reviews_signoff": "compared by itself",
    "reviews_signoffpoint": "with its sign-off",
    "reviews_comment": "compared by itself",
    "reviews_plan": "with its planned revision",
    "reviews_reviewbasis": "with its planned revision",
    "reviews_teamscope": "with its planned revision",
    "reviews_storeddocument": "with its revision",
    "reviews_diagnosisfile": "with its diagnosis",
    "reviews_checkpoint": "with the tree over the entries",
    "reviews_cosignature": "with its checkpoint",
    "reviews_logtile": "with the tree over the entries",
    "reviews_itemopening": "no entry by design: the list is hashed into the sign-off",
    "reviews_intakereceipt": "follows from evidence that is hashed; its blob is named by an entry",
    "reviews_attachment": "content-addressed: named by digest in hashed evidence",
    "reviews_attachmentpiece": "content-addressed",
    "reviews_activationfootprint": "follows from the contract and the plan that entries name; nothing is decided by it",
    "reviews_countedtrial": "follows from the plan that an entry names; nothing is decided by it",
}


def test_every_table_that_only_grows_is_compared_or_said_why_not() -> None:
    assert {kind.model._meta.db_table for kind in KINDS} | ELSEWHERE.keys() == set(APPEND_ONLY_TABLES)


def found(workspace: Workspace, tamper: Callable[[], object]) -> Verification:
    """Return what verification says after somebody tampered; all of it is undone."""
    with transaction.atomic():
        with lifted():
            tamper()
        result = verify(workspace)
        transaction.set_rollback(True)
    return result


def changed(model: Any, change: dict[str, Any]) -> None:
    """Change the first row alone."""
    model.objects.filter(pk=model.objects.order_by("pk")[0].pk).update(**change)


def removed(model: Any) -> None:
    model.objects.all()._raw_delete("default")


def forged(model: Any) -> None:
    row = model.objects.order_by("pk")[0]
    row.pk = None
    row.save(force_insert=True)


def test_what_is_changed_removed_or_forged_is_found() -> None:
    people = board()
    state_everything(people)
    space = people.workspace
    assert verify(space).reason == ""
    alice = someone("alice")
    no_row, no_entry = "no stored ", "no entry records the stored "
    tampered = [
        *(
            (partial(changed, model, change), f"{no_row}{what} says what the entry recorded")
            for model, change, what in CHANGES
        ),
        *((partial(changed, model, {person: alice}), no_row) for model, person in ANOTHER.items()),
        *((partial(removed, model), no_row) for model in LEAVES),
        *((partial(forged, model), no_entry) for model in FORGED),
    ]
    said = [(tamper.args, found(space, tamper).reason, begins) for tamper, begins in tampered]
    assert [(args, reason) for args, reason, begins in said if not reason.startswith(begins)] == []
    assert verify(space).reason == "", "everything was undone"


def test_a_rollback_is_recorded_with_its_revision_and_activation() -> None:
    people = board()
    superseded(people)
    countersign(people, propose(people, "rollback", "dave", {"to": 1}, number=2), "ivan")
    assert verify(people.workspace).reason == ""
    rolled_back = Activation.objects.filter(kind="rollback")
    said = found(people.workspace, partial(rolled_back.update, rollback="D-0001")).reason
    assert said == "no stored activation says what the entry recorded"


def test_an_objection_that_the_lead_lifted_is_recorded_as_its_signers() -> None:
    people = board()
    objection = sign(people, planned(people), meaning="object", statement="Not yet.")
    TeamSeat.objects.filter(membership__person=people.dave).update(is_lead=True)
    countersign(people, propose(people, "lift_objection", "dave", {"signoff": objection.pk}), "bob")
    assert SignOffWithdrawal.objects.count() == 1
    assert verify(people.workspace).reason == ""


def test_a_revision_that_only_its_rollback_recorded_is_no_fault() -> None:
    people = board()
    superseded(people)
    countersign(people, propose(people, "rollback", "dave", {"to": 1}, number=2), "ivan")
    facts = RecordedFacts(people.workspace)
    for entry in AuditEntry.objects.select_related("payload").order_by("seq"):
        is_of_rollback = (entry.action, entry.decision_number) == ("revision.created", 3)
        payload = json.loads(bytes(entry.payload.data)) if entry.payload else {}
        if not is_of_rollback:
            assert list(facts.faults(json.loads(bytes(entry.data)), payload)) == []
    assert list(facts.unrecorded()) == []


def test_what_is_no_longer_the_blob_that_an_entry_names_is_found() -> None:
    people = board()
    state_everything(people)
    named = {
        "list of what was opened": SignOff.objects.exclude(opened=None).order_by("pk")[0].opened_id,
        "reported identity": IdentityReport.objects.order_by("pk")[0].identity_id,
    }
    for what, sha256 in named.items():
        said = found(people.workspace, partial(Blob.objects.filter(pk=sha256).update, data=b"{}")).reason
        assert said.startswith(f"The stored {what} is not what was stored")


@pytest.fixture
def signed(settings: Any, people: Cast) -> Checkpoint:
    """A checkpoint with a witness's line, over a log with a complete tile."""
    settings.LOG_SIGNING_KEY = new_key()
    with workspace_write(people.workspace.pk):
        for _ in range(260):
            append(people.workspace, Act(action="test.act"))
    made = checkpoint_sign(people.workspace)
    assert made is not None
    line = WITNESS.line(checkpoint_opened(bytes(made.note), Verifier.of(made.key))[1].text, time=7)
    Cosignature.objects.create(
        checkpoint=made, key=str(WITNESS.verifier), line=line, time=7, received_at=timezone.now()
    )
    return made


def resigned(checkpoint: Checkpoint) -> None:
    """Replace the signature by one of a key that the log never announced."""
    other = Signer(checkpoint.workspace.log_origin, read_key(new_key()))
    stated = Statement(other.name, checkpoint.size, bytes(checkpoint.root))
    note = checkpoint_signed(stated, [other])
    Checkpoint.objects.update(key=str(other.verifier), note=note)


def cut(checkpoint: Checkpoint) -> None:
    AuditEntry.objects.filter(seq__gte=checkpoint.size - 3)._raw_delete("default")


TAMPERED: list[tuple[Callable[[Checkpoint], object], str]] = [
    (lambda made: Checkpoint.objects.update(root=bytes(32)), "has another root than the entries"),
    (lambda made: Checkpoint.objects.update(note=b"x"), "note: expected"),
    (lambda made: Cosignature.objects.update(line="\u2014 witness.example AAAA\n"), "signature of witness.example"),
    (
        lambda made: Cosignature.objects.update(key=str(Signer("b", WITNESS.private, COSIGNATURE).verifier)),
        "every witness",
    ),
    (lambda made: LogTile.objects.update(hashes=bytes(8192)), "the kept tile 0 of level 0 has other hashes"),
    (resigned, "signed by a key that no entry before announced"),
    (cut, "a checkpoint was signed over"),
]


def test_checkpoints_and_tiles_are_those_of_the_entries(signed: Checkpoint) -> None:
    assert verify(signed.workspace).reason == ""
    for tamper, said in TAMPERED:
        assert said in found(signed.workspace, partial(tamper, signed)).reason
