"""What reports in somebody's hand say otherwise than decided: as posting them would tell it, and nothing is kept.

Rules kept: a host answers for what it says, an identity of the whole slot for every key; every key counts, also one
that ``requalify_on`` lets pass. How old a report is does not matter: it is only thought of.
"""

from collections.abc import Sequence

import msgspec

from planner.documents import ContractDocument
from planner.identity_check import KeyDifference, key_differences
from planner.identity_live import Decided, placed_of, said_of
from reviews.models import Activation
from reviews.policies.host_reports import each_read, is_of_a_host, report_of
from reviews.selectors.decided import decided_by
from reviews.selectors.reported_changes import told_once
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
    decided = Decided.of(bound, placed, rank_map_digest=digest)

    def read(raw: bytes, at: str) -> tuple[KeyDifference, ...]:
        if not is_of_a_host(raw):
            return key_differences(bound, live_identity(raw, at), rank_map_digest=digest)
        report = report_of(raw, at)
        node = "" if isinstance(report.node, msgspec.UnsetType) else report.node
        return said_of(decided, report.identity, placed_of(report), node=node).differs

    return told_once([one for found in each_read(documents, read) for one in found], digest)
