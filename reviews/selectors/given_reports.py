"""What reports in somebody's hand say otherwise than decided: read as posting them reads them, and nothing is kept."""

from collections.abc import Sequence
from typing import Any

import msgspec

from planner.documents import ContractDocument
from planner.identity_check import KeyDifference
from planner.identity_given import given_differences
from planner.records.identity_report import IdentityReport
from reviews.models import Activation
from reviews.policies.host_reports import each_read, is_of_a_host, report_of
from reviews.selectors.decided import decided_by
from reviews.selectors.slot_check import live_identity

__all__ = ["given_changes"]


def given_changes(
    documents: Sequence[bytes], contract: ContractDocument, activation: Activation | None
) -> tuple[KeyDifference, ...]:
    """Return each key that some of the reports shows otherwise, once, the rank map last.

    Without an activation there is no rank map that ranks are held against.

    Raises:
        InvalidRequestError: with what is wrong with every one of them.
        TamperedError: stored bytes of what was put into force were changed.
    """
    bound = msgspec.to_builtins(contract.record.identity)
    placed, digest = ((), "") if activation is None else (decided_by(activation).ranks, activation.rank_map_digest)

    def read(raw: bytes, at: str) -> IdentityReport | dict[str, Any]:
        return report_of(raw, at) if is_of_a_host(raw) else live_identity(raw, at)

    return given_differences(bound, placed, each_read(documents, read), rank_map_digest=digest)
