"""Any question gets an answer, and accepted groups are sound, whatever the degrees."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planner.layouts import LAYOUTS
from planner.layouts.asks import answer
from planner.layouts.asks.facts import CLOSED_KEYS, MEGATRON_KEYS, SGLANG_KEYS, TRTLLM_KEYS, VLLM_KEYS

KEYS = {
    "closed": CLOSED_KEYS,
    "vllm": VLLM_KEYS,
    "sglang": SGLANG_KEYS,
    "megatron": MEGATRON_KEYS,
    "trtllm": TRTLLM_KEYS,
}
PARTIAL = {"pos_embd", "embd", "moe_tp", "moe_ep", "moe_cluster"}
"""Kinds that need not hold every rank: embeddings of two stages, and TensorRT-LLM's unused expert groups."""

counts = st.sampled_from([1, 1, 1, 2, 2, 3, 4, 6, 8])
odd = st.one_of(st.none(), st.booleans(), st.integers(-2, 2**53 - 1), st.text(max_size=4), st.floats(allow_nan=False))
words = st.sampled_from(["tp-cp-ep-dp-pp", "tp-pp-dp", "dense", "moe", "HELIX", "RING", "ray", "mpi"])


@st.composite
def asks(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Draw a question to one engine with some of its keys."""
    engine = draw(st.sampled_from(sorted(KEYS)))
    degrees = draw(st.dictionaries(st.sampled_from(sorted(KEYS[engine])), values, max_size=6))
    launch = draw(st.dictionaries(st.sampled_from(["nnodes", "gpus_per_node", "orchestrator", "kind"]), values))
    return {"engine": engine, "degrees": degrees, **launch}


@given(asks(st.one_of(counts, odd, words)))
def test_every_question_is_answered_with_groups_or_a_named_refusal(ask: dict[str, Any]) -> None:
    found = json.loads(json.dumps(answer(ask)))

    assert found["engine"] in LAYOUTS
    assert found["valid"] is True or (found["constraint"] and found["error"])


@given(asks(st.one_of(counts, st.booleans())))
def test_groups_of_a_kind_never_overlap_and_hold_every_rank(ask: dict[str, Any]) -> None:
    found = answer(ask)
    if not found["valid"]:
        return

    world = found.get("world_size", 0)
    for kind, groups in found.get("groups", {}).items():
        members = [rank for group in groups for rank in group]
        assert len(set(members)) == len(members), kind
        assert set(members) <= set(range(world)), kind
        assert kind in PARTIAL or len(members) == world, kind
