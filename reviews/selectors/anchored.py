"""What a planned revision holds that a thread can be anchored to, read out of the stored bytes."""

from functools import cache
from typing import Any

import msgspec

from reviews.blobs import blob_read
from reviews.models import Revision
from reviews.planning import contract_tree, plan_tree
from reviews.policies.anchors import Content


class _RankMap(msgspec.Struct):
    """A trial as far as its ranks are asked for."""

    rank_map: list[Any]


class _Trials(msgspec.Struct):
    """Evidence as far as its trials are asked for; none of them is decoded before."""

    trials: dict[str, msgspec.Raw]


def content_of(revision: Revision) -> Content:
    """Return the content of a planned revision, fetched by ``with_digests``; the evidence is read once, and if at all.

    Raises:
        TamperedError: stored bytes are not the ones that were stored.
    """

    @cache
    def trials() -> dict[str, msgspec.Raw]:
        raw = blob_read(revision.evidence.blob_id, "evidence")
        return msgspec.json.decode(raw, type=_Trials).trials

    @cache
    def rank_map(trial: str) -> list[Any] | None:
        raw = trials().get(trial)
        return None if raw is None else msgspec.json.decode(raw, type=_RankMap).rank_map

    return Content(
        contract=contract_tree(blob_read(revision.contract.blob_id, "contract")),
        plan=plan_tree(blob_read(revision.planned.plan.blob_id, "plan")),
        rank_map=rank_map,
    )
