"""A plan from stored bytes, with and without what intake left beside them."""

import pytest

from planner.canonical import file_sha256
from planner.intake import read_contract, read_evidence
from reviews.planning import MadePlan, StoredBytes, StoredBytesError, intake_receipt, make_plan
from tests.planner.documents import EXAMPLES

CONTRACT = (EXAMPLES / "worked" / "contract.json").read_bytes()
EVIDENCE = (EXAMPLES / "worked" / "evidence.json").read_bytes()
RECEIPT = intake_receipt(read_evidence(EVIDENCE, read_contract(CONTRACT)))


def stored(raw: bytes) -> StoredBytes:
    return StoredBytes(raw, file_sha256(raw))


def made(receipt: StoredBytes | None) -> MadePlan:
    return make_plan(
        contract=stored(CONTRACT),
        evidence=stored(EVIDENCE),
        receipt=receipt,
        as_of="2026-10-01T00:00:00Z",
        progress=lambda done, of: None,
    )


@pytest.mark.parametrize(
    "receipt",
    [
        pytest.param(RECEIPT, id="of this release"),
        pytest.param(b'{"form": "of another release"}', id="in a form of another release"),
    ],
)
def test_every_receipt_leads_to_the_plan_that_is_made_without_one(receipt: bytes) -> None:
    assert made(stored(receipt)).raw == made(None).raw


def test_a_receipt_that_is_not_the_stored_one_is_refused() -> None:
    with pytest.raises(StoredBytesError, match="intake receipt is not what was uploaded"):
        made(StoredBytes(RECEIPT + b" ", file_sha256(RECEIPT)))
