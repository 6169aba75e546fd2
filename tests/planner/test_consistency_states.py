"""What the model's shape ties together: KV caches, hand-off, tokens of experts, energy."""

from typing import Any

import pytest

from tests.planner.documents import ABSENT, Change
from tests.planner.factories import Changes, a_view, limit_outcome

W1 = "/windows/w1"
LOAD = f"{W1}/load"


def said(identity: str, *trial: Change, contract: tuple[Change, ...] = ()) -> list[str] | None:
    """Return the sentences of the identity's breaches; None where it is not evaluated."""
    found = a_view(None, Changes(trial=trial, contract=contract)).checks["w1"]
    checks = [check for check in found if check.id == identity]
    return [check.sentence for check in checks if not check.holds] if checks else None


def replica(**figures: Any) -> Change:
    return f"{W1}/replicas", {"r0": {"ranks": [0, 1, 2, 3], **figures}}


# C6

HELD = "Replica r0 held a sequence of 4,097 tokens in 4,096 tokens of KV."
SLIDING = (("/identity/model/attention_widths", {"sliding_window_tokens": 1024}),)


@pytest.mark.parametrize(("longest", "sentences"), [(4096, []), (4097, [HELD])])
def test_a_sequence_is_no_longer_than_the_cache_that_held_it(longest: int, sentences: list[str]) -> None:
    assert said("C6", replica(longest_sequence_tokens=longest, kv_capacity_tokens=4096)) == sentences


def test_a_sliding_cache_does_not_grow_with_the_sequence() -> None:
    assert said("C6", replica(longest_sequence_tokens=4097, kv_capacity_tokens=4096), contract=SLIDING) is None


PROMPT: tuple[Change, ...] = (
    ("/identity/workload/prompt_tokens", {"fixed": 1000}),
    ("/identity/workload/prefix_cache", {"policy": "off"}),
)
NO_WAIT: tuple[Change, ...] = ((f"{LOAD}/preemptions", 0), (f"{LOAD}/queued_requests_max", 0))


@pytest.mark.parametrize(
    ("tokens", "sentences"),
    [
        pytest.param(7484, [], id="2 requests per s x 3.564 s x 1,050 tokens"),
        pytest.param(
            7300,
            [
                "Requests of 1,000 + 100 tokens held 7,484 tokens of KV on average without queue or preemption; the "
                "caches hold 7,300."
            ],
            id="more than fits",
        ),
    ],
)
def test_requests_that_never_waited_fit_into_the_cache(tokens: int, sentences: list[str]) -> None:
    assert said("C6", replica(kv_capacity_tokens=tokens), *NO_WAIT, contract=PROMPT) == sentences


NOT_AT_ONCE: dict[str, tuple[tuple[Change, ...], tuple[Change, ...]]] = {
    "a queue": ((*NO_WAIT, (f"{LOAD}/queued_requests_max", 3)), PROMPT),
    "preemptions": ((*NO_WAIT, (f"{LOAD}/preemptions", 1)), PROMPT),
    "a queue that nobody recorded": (NO_WAIT[:1], PROMPT),
    "prefixes held once": ((*NO_WAIT, (f"{LOAD}/cache_hit_share", 0.2)), PROMPT),
    "prefixes that may be held once": (NO_WAIT, PROMPT[:1]),
    "prompts of any length": (NO_WAIT, PROMPT[1:]),
}


@pytest.mark.parametrize(("trial", "contract"), NOT_AT_ONCE.values(), ids=NOT_AT_ONCE.keys())
def test_what_was_held_at_once_is_not_known_with(trial: tuple[Change, ...], contract: tuple[Change, ...]) -> None:
    assert said("C6", replica(kv_capacity_tokens=1), *trial, contract=contract) is None


# C7

POOLS: tuple[Change, ...] = (
    (
        "/topology/instances",
        [{"role": role, "tp": 2, "pp": 1, "ep": 1, "dp": 1, "world_size": 2} for role in ("prefill", "decode")],
    ),
)
HEAD = (("/identity/model/head_dim", 128),)
TOKEN = 2 * 32 * 8 * 128 * 2
"""Keys and values of 32 layers x 8 heads x 128 in BF16: 131,072 bytes."""


def handed(size: int, **more: Any) -> Change:
    return f"{W1}/handoff", {"bytes_total": size, "tokens_sent_total": 1000, **more}


@pytest.mark.parametrize(
    ("size", "sentences"),
    [
        (1000 * TOKEN, []),
        (1111 * TOKEN, []),
        (
            1112 * TOKEN,
            ["145,752,064 bytes handed over; 1,000 tokens of 131,072 bytes of KV are 131,072,000."],
        ),
    ],
)
def test_bytes_handed_over_are_those_of_the_tokens_within_a_tenth(size: int, sentences: list[str]) -> None:
    assert said("C7", *POOLS, handed(size), contract=HEAD) == sentences


def test_copies_on_the_decode_side_are_sent_too() -> None:
    assert said("C7", *POOLS, handed(2000 * TOKEN, copies=2), contract=HEAD) == []
    assert said("C7", *POOLS, handed(2000 * TOKEN), contract=HEAD) != []


LATENT: tuple[Change, ...] = (
    ("/identity/model/attention", "mla"),
    ("/identity/model/attention_widths", {"kv_lora_rank": 512, "rope_head_dim": 64}),
)


def test_latent_attention_sends_its_latent_width() -> None:
    assert said("C7", *POOLS, handed(1000 * 32 * 576 * 2, copies=1), contract=LATENT) == []


UNTOLD: dict[str, tuple[tuple[Change, ...], tuple[Change, ...]]] = {
    "the width of a head is not known": ((handed(1),), ()),
    "the format of the cache is none that is known": ((handed(1),), (*HEAD, ("/identity/precision/kv_cache", "own"))),
    "every tensor rank may hold a copy of latent KV": ((handed(1),), LATENT),
    "tokens sent are not recorded": ((handed(1, tokens_sent_total=None),), HEAD),
}


@pytest.mark.parametrize(("trial", "contract"), UNTOLD.values(), ids=UNTOLD.keys())
def test_bytes_handed_over_are_not_judged_where(trial: tuple[Change, ...], contract: tuple[Change, ...]) -> None:
    assert said("C7", *POOLS, (f"{W1}/links", ABSENT), *trial, contract=contract) is None


SENT_BY_A = 5 * 10**9 * 50


@pytest.mark.parametrize(
    ("size", "sentences"),
    [
        (SENT_BY_A, []),
        (
            2 * SENT_BY_A,
            ["500,000,000,000 bytes handed over; the NICs of the prefill nodes sent 250,000,000,000."],
        ),
    ],
)
def test_the_nics_of_the_prefill_nodes_sent_what_was_handed_over(size: int, sentences: list[str]) -> None:
    assert said("C7", *POOLS, (f"{W1}/handoff", {"bytes_total": size})) == sentences


ELSEWHERE: dict[str, tuple[Change, ...]] = {
    "both pools on one node": (("/rank_map/1/node", "node-b"), ("/rank_map/2/node", "node-a")),
    "a NIC without counters": ((f"{W1}/links/a-up", ABSENT),),
    "a phase without a total": ((f"{W1}/links/a-up/mixed/tx_bytes_total", None),),
}


@pytest.mark.parametrize("trial", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_the_route_is_not_judged_with(trial: tuple[Change, ...]) -> None:
    assert said("C7", *POOLS, (f"{W1}/handoff", {"bytes_total": 10**15}), *trial) is None


# C8

MOE: tuple[Change, ...] = (
    ("/identity/model/architecture", "moe"),
    ("/identity/model/experts", 4),
    ("/identity/model/experts_per_token", 2),
    ("/identity/model/shared_experts", 0),
    ("/identity/model/expert_intermediate_size", 512),
    ("/identity/workload/prefix_cache", {"policy": "off"}),
)
EP: tuple[Change, ...] = (
    ("/topology/instances/0", {"tp": 1, "pp": 1, "ep": 4, "dp": 1, "world_size": 4}),
    (f"{LOAD}/input_tokens_total", 50_000),
)
PASSED = (50_000 + 20_000 - 200) * 2
"""Prompts, and output tokens but the first of each of 200 requests, for two experts each."""


def layer(*, interval_s: float = 100, phase: str | None = None, **figures: Any) -> Change:
    load = {"interval_s": interval_s, "layers": {"l0": figures}, **({"phase": phase} if phase else {})}
    return f"{W1}/experts", {"e": load}


def quarters(total: int) -> list[int]:
    return [total // 4] * 4


TOKENS: dict[str, tuple[Change, list[str]]] = {
    "every token twice": (layer(tokens_by_expert=quarters(PASSED)), []),
    "of prefill alone": (layer(phase="prefill", tokens_by_rank=quarters(100_000)), []),
    "of decode alone": (layer(phase="decode", tokens_by_rank=quarters(39_600)), []),
    "with dropped tokens": (layer(tokens_by_expert=quarters(PASSED - 20_000), dropped_tokens=20_000), []),
    "half of them": (
        layer(tokens_by_expert=quarters(PASSED // 2)),
        ["tokens_by_expert of layer l0 sum to 69,800; the tokens of the window × 2 experts are 139,600."],
    ),
    "twice as many by rank": (
        layer(tokens_by_rank=quarters(PASSED * 2)),
        ["tokens_by_rank of layer l0 sum to 279,200; the tokens of the window × 2 experts are 139,600."],
    ),
}


@pytest.mark.parametrize(("experts", "sentences"), TOKENS.values(), ids=TOKENS.keys())
def test_experts_handle_the_tokens_of_the_window(experts: Change, sentences: list[str]) -> None:
    assert tokens_said(experts) == sentences


def tokens_said(experts: Change, *trial: Change, contract: tuple[Change, ...] = MOE) -> list[str] | None:
    return said("C8", *EP, experts, (f"{W1}/per_rank", ABSENT), *trial, contract=contract)


def test_tensor_ranks_of_one_expert_may_each_count_its_tokens() -> None:
    shared = ("/topology/instances/0", {"tp": 2, "pp": 1, "ep": 2, "dp": 1, "world_size": 4})
    assert tokens_said(layer(tokens_by_rank=quarters(PASSED * 2)), shared) == []


UNCOUNTED: dict[str, tuple[tuple[Change, ...], tuple[Change, ...]]] = {
    "sums over another time": ((layer(interval_s=10, tokens_by_expert=[1]),), MOE),
    "requests that failed": ((layer(tokens_by_expert=[1]), (f"{LOAD}/requests/failed", 1)), MOE),
    "speculation": ((layer(tokens_by_expert=[1]),), (*MOE, ("/identity/workload/speculation", "draft"))),
    "prefixes from the cache": ((layer(tokens_by_expert=[1]), (f"{LOAD}/cache_hit_share", 0.5)), MOE),
    "an expert that nobody counted": ((layer(tokens_by_expert=[1, None]),), MOE),
}


@pytest.mark.parametrize(("trial", "contract"), UNCOUNTED.values(), ids=UNCOUNTED.keys())
def test_tokens_of_experts_are_not_judged_with(trial: tuple[Change, ...], contract: tuple[Change, ...]) -> None:
    assert tokens_said(*trial, contract=contract) is None


def test_expert_balance_is_unknown_on_tokens_that_do_not_add_up() -> None:
    limit = {"load_point": "saturated", "max_rank_over_mean": 1.2}
    trial = (*EP, ("/windows/w2", ABSENT), (f"{W1}/per_rank", ABSENT), layer(tokens_by_rank=quarters(PASSED // 2)))
    found = limit_outcome("expert_balance", limit, Changes(trial=trial, contract=MOE))
    assert (found.outcome, found.would) == ("UNKNOWN", "PASS")


# C9


def energy(joules: list[float | None], watts: list[float | None], **peak: Any) -> Change:
    return f"{W1}/per_rank", {"energy_joules": {"values": joules}, "power_peak_watts": {"values": watts, **peak}}


POWER: dict[str, tuple[Change, list[str] | None]] = {
    "as much as the peak allows": (energy([70_000] * 4, [700] * 4), []),
    "a rank above its peak": (
        energy([70_000, 72_000, 70_000, 70_000], [700] * 4),
        ["Rank 1 used 72,000 J; 700 W at its peak allow 70,000 J."],
    ),
    "a rank without energy": (energy([None, 70_000, 70_000, 70_000], [None, 700, 700, 700]), []),
    "no energy at all": (energy([None] * 4, [700] * 4), None),
    "a peak that is only seen": (energy([72_000] * 4, [700] * 4, bound="lower"), None),
}


@pytest.mark.parametrize(("metrics", "sentences"), POWER.values(), ids=POWER.keys())
def test_energy_is_at_most_peak_power_over_the_window(metrics: Change, sentences: list[str] | None) -> None:
    assert said("C9", metrics) == sentences
