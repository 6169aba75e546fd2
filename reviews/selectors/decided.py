"""What an activation decided, out of stored bytes: keys, ranks, owners. Kept by digest, for reports come every minute.

Rules kept: what is remembered is of the bytes that its digests name, so it is right whatever happens to a row; bytes
that were changed are refused when they are read first.
"""

import msgspec

from planner.identity_live import Decided
from planner.records.evidence import Trial
from reviews.blobs import blob_read
from reviews.last_few import LastFew
from reviews.models import Activation
from reviews.planning import contract_tree
from reviews.policies.document import PolicyDocument
from reviews.selectors.slot_check import bound_of

REMEMBERED = 8


class _Trials(msgspec.Struct):
    """Evidence as far as one trial needs it."""

    trials: dict[str, msgspec.Raw]


def decided_by(activation: Activation) -> Decided:
    """Return the identity and the rank map that an activation put into force.

    Raises:
        TamperedError: stored bytes were changed.
    """
    revision = activation.revision
    names = (revision.contract.blob_id, revision.evidence.blob_id, activation.trial, activation.rank_map_digest)
    return DECIDED.get(names, lambda: _decided(*names))


def owners_of(activation: Activation) -> PolicyDocument:
    """Return the policy that names who owns what was put into force.

    Raises:
        TamperedError: stored bytes were changed.
    """
    return bound_of(activation.revision).document


def _decided(contract: str, evidence: str, trial: str, rank_map_digest: str) -> Decided:
    tree = contract_tree(blob_read(contract, "contract"))
    trials = msgspec.json.decode(blob_read(evidence, "evidence"), type=_Trials).trials
    placed = msgspec.json.decode(trials[trial], type=Trial).rank_map if trial in trials else ()
    return Decided.of(
        tree["identity"],
        msgspec.to_builtins(placed),
        rank_map_digest=rank_map_digest,
        requalify_on=tree.get("validity", {}).get("requalify_on"),
    )


DECIDED: LastFew[Decided] = LastFew(REMEMBERED)
