"""Bytes and tokens that the model's shape ties together: KV caches, hand-off, experts, and energy (C6 to C9).

Formulas: a token leaves ``2 x kv_heads x head_dim`` elements in every layer (Ainslie et al., arXiv 2305.13245), or
``kv_lora_rank + rope_head_dim`` with latent attention (DeepSeek-V2, arXiv 2405.04434); a layer of experts handles
every token ``experts_per_token`` times. Not evaluated: sliding layers, whose cache does not grow with the sequence;
speculation, whose rejected tokens pass the experts too; what a requirement of an identity leaves open.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from planner.consistency.base import Check, Exact, Facts, Identity, at_most, broken, equal, exactly, kept
from planner.figures import grouped
from planner.readings import number, number_at
from planner.records.base import UnsetType
from planner.records.contract import AttentionWidths, Lengths, Model
from planner.records.evidence import ExpertLayer, ExpertLoad, LinkCounters, PerRank, Phase, Replica
from planner.records.figures import Values
from planner.times import window_seconds
from planner.widths import WIDTHS

__all__ = ["IDENTITIES"]

MILLISECONDS = 1000
HANDOFF_TOLERANCE = Fraction(10, 100)
COMPLETED, DURATION = "/load/requests/completed", "/load/duration_s"


def _replicas(facts: Facts) -> list[tuple[str, Replica]]:
    return [] if isinstance(facts.window.replicas, UnsetType) else sorted(facts.window.replicas.items())


def _is_sliding(model: Model) -> bool:
    widths = model.attention_widths
    return not isinstance(widths, UnsetType) and not isinstance(widths.sliding_window_tokens, UnsetType)


def _longest_held(facts: Facts) -> Iterator[Check]:
    """C6: a KV cache that held a sequence is at least as large as that sequence."""
    if _is_sliding(facts.model):
        return
    for name, replica in _replicas(facts):
        longest, capacity = exactly(replica.longest_sequence_tokens), exactly(replica.kv_capacity_tokens)
        if longest is not None and capacity is not None:
            fields = tuple(f"/replicas/{name}/{field}" for field in ("longest_sequence_tokens", "kv_capacity_tokens"))
            sentence = f"Replica {name} held a sequence of {int(longest):,} tokens in {int(capacity):,} tokens of KV."
            yield kept("C6", fields) if longest <= capacity else broken("C6", fields, sentence)


def _full_concurrency(facts: Facts) -> Iterator[Check]:
    """C6: requests of fixed length that never waited and were never thrown out fit into the KV caches together.

    After its first token a request holds its prompt and what it has put out, half of the output on the way. So many
    tokens are held on average as requests finish in a second x tokens x seconds between first and last token.
    """
    prompt, output = _fixed(facts.workload.prompt_tokens), _fixed(facts.workload.output_tokens)
    if prompt is None or output is None:
        return
    idle = ("/load/preemptions", "/load/queued_requests_max")
    latencies = ("/load/e2e_ms/mean", "/load/ttft_ms/mean")
    found = facts.values(COMPLETED, DURATION, *latencies)
    tokens = [number(replica.kv_capacity_tokens) for _, replica in _replicas(facts)]
    known = [each for each in tokens if each is not None]
    if found is None or not found[1] or not tokens or len(known) < len(tokens):
        return
    if _is_sliding(facts.model) or any(facts.recorded(at) != 0 for at in idle) or _shares_prefixes(facts):
        return
    need = Fraction(found[0]) / found[1] * (found[2] - found[3]) / MILLISECONDS * (prompt + Fraction(output, 2))
    capacity = sum(known, Fraction(0))
    fields = (
        COMPLETED,
        DURATION,
        *latencies,
        *idle,
        *(f"/replicas/{name}/kv_capacity_tokens" for name, _ in _replicas(facts)),
    )
    sentence = (
        f"Requests of {prompt:,} + {output:,} tokens held {grouped(need, 0)} tokens of KV on average without queue or "
        f"preemption; the caches hold {int(capacity):,}."
    )
    yield kept("C6", fields) if at_most(need, capacity, facts.tolerance) else broken("C6", fields, sentence)


def _fixed(lengths: Lengths | UnsetType) -> int | None:
    return None if isinstance(lengths, UnsetType) or isinstance(lengths.fixed, UnsetType) else lengths.fixed


def _shares_prefixes(facts: Facts) -> bool:
    """Say whether requests may hold common tokens once; not recorded, they may unless the contract rules it out."""
    hits = facts.recorded("/load/cache_hit_share")
    if hits is not None:
        return hits != 0
    policy = facts.workload.prefix_cache
    return isinstance(policy, UnsetType) or not (policy.get("policy") == "off" or policy.get("enabled") is False)


# Hand-off


def _handed_bytes(facts: Facts) -> Iterator[Check]:
    """C7: bytes handed over = KV bytes of a token x tokens sent x copies, within 10 %."""
    handoff = facts.window.handoff
    per_token = None if isinstance(handoff, UnsetType) else _kv_bytes_per_token(facts)
    if isinstance(handoff, UnsetType) or per_token is None:
        return
    copies = handoff.copies
    if isinstance(copies, UnsetType) and not _is_unshared(facts):
        return
    found = facts.values("/handoff/bytes_total", "/handoff/tokens_sent_total")
    if found is None:
        return
    fields = ("/handoff/bytes_total", "/handoff/tokens_sent_total")
    expected = per_token * found[1] * (1 if isinstance(copies, UnsetType) else copies)
    sentence = (
        f"{int(found[0]):,} bytes handed over; {int(found[1]):,} tokens of {grouped(per_token)} bytes of KV are "
        f"{grouped(expected, 0)}."
    )
    within = max(HANDOFF_TOLERANCE, facts.tolerance)
    yield kept("C7", fields) if equal(found[0], expected, within) else broken("C7", fields, sentence)


def _kv_bytes_per_token(facts: Facts) -> Fraction | None:
    """Return the KV bytes of one token over all layers, held once; None where the contract does not say."""
    model, width = facts.model, WIDTHS.get(facts.kv_format.strip().lower())
    if width is None or _is_sliding(model):
        return None
    if model.attention == "mla":
        widths = AttentionWidths() if isinstance(model.attention_widths, UnsetType) else model.attention_widths
        latent, rope = widths.kv_lora_rank, widths.rope_head_dim
        if isinstance(latent, UnsetType) or isinstance(rope, UnsetType):
            return None
        return model.layers * (latent + rope) * width
    if isinstance(model.head_dim, UnsetType):
        return None
    return 2 * model.layers * model.kv_heads * model.head_dim * width


def _is_unshared(facts: Facts) -> bool:
    """Say whether no decode rank holds a copy of another one's KV, so that every token is sent once."""
    return facts.model.attention != "mla" and all(
        instance.tp <= facts.model.kv_heads for instance in facts.trial.topology.instances
    )


def _handed_over_nics(facts: Facts) -> Iterator[Check]:
    """C7: between nodes apart, the NICs of the prefill nodes sent at least what was handed over."""
    total = facts.get("/handoff/bytes_total")
    if total is None:
        return
    nodes = _nodes_by_role(facts)
    prefill, decode = nodes.get("prefill", set()), nodes.get("decode", set())
    links = {} if isinstance(facts.window.links, UnsetType) else facts.window.links
    # Only where every way out of the prefill nodes is counted can the sum be too small.
    owed = {name for name, node in facts.nics.items() if node in prefill}
    ways = {name: link.nic for name, link in facts.links.items() if link.nic in owed}
    if not prefill or not decode or prefill & decode or not ways or owed != set(ways.values()):
        return
    counters = {name: _sent(links.get(name, {})) for name in sorted(ways)}
    known = [sent for sent in counters.values() if sent is not None]
    if len(known) < len(counters):
        return
    sent = sum(known, Fraction(0))
    fields = ("/handoff/bytes_total", *(f"/links/{name}" for name in counters))
    sentence = f"{int(total):,} bytes handed over; the NICs of the prefill nodes sent {int(sent):,}."
    yield kept("C7", fields) if at_most(total, sent, facts.tolerance) else broken("C7", fields, sentence)


def _nodes_by_role(facts: Facts) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    start = 0
    for instance in facts.trial.topology.instances:
        places = facts.trial.rank_map[start : start + instance.world_size]
        start += instance.world_size
        if not isinstance(instance.role, UnsetType):
            found.setdefault(instance.role, set()).update(place.node for place in places)
    return found


def _sent(phases: Mapping[Phase, LinkCounters]) -> Fraction | None:
    """Add up what a link sent in every phase; None where one of them, or all, are not recorded."""
    totals = [number(counters.tx_bytes_total) for counters in phases.values()]
    known = [total for total in totals if total is not None]
    return sum(known, Fraction(0)) if totals and len(known) == len(totals) else None


# Experts


def _expert_tokens(facts: Facts) -> Iterator[Check]:
    """C8: in every layer the experts handled each token of the window ``experts_per_token`` times."""
    per_token, seconds = facts.model.experts_per_token, window_seconds(facts.window)
    experts = {} if isinstance(facts.window.experts, UnsetType) else facts.window.experts
    if not experts or isinstance(per_token, UnsetType) or not seconds or not _counts_every_token(facts):
        return
    for name, load in sorted(experts.items()):
        tokens, sources = _tokens(facts, load)
        interval = number(load.interval_s)
        layers = {} if isinstance(load.layers, UnsetType) else load.layers
        if tokens is None or interval is None or not equal(interval, seconds, facts.tolerance):
            continue
        for layer_id, layer in sorted(layers.items()):
            at = f"/experts/{name}/layers/{layer_id}"
            yield from _layer_tokens(facts, at, layer, tokens * per_token, sources)


def _layer_tokens(
    facts: Facts, at: str, layer: ExpertLayer, expected: Exact, sources: tuple[str, ...]
) -> Iterator[Check]:
    """Compare both counts of a layer. Tensor ranks that share an expert may each count its tokens."""
    shares = {1, *(instance.tp for instance in facts.trial.topology.instances)}
    dropped = number(layer.dropped_tokens) or Fraction(0)
    for field, times in (("tokens_by_expert", {1}), ("tokens_by_rank", shares)):
        handled = _sum(getattr(layer, field))
        if handled is None:
            continue
        holds = any(
            at_most(handled, expected * each, facts.tolerance)
            and at_most(expected * each, handled + dropped * each, facts.tolerance)
            for each in times
        )
        sentence = (
            f"{field} of layer {at.rpartition('/')[2]} sum to {grouped(handled, 0)}; the tokens of the window × "
            f"{facts.model.experts_per_token} experts are {grouped(expected, 0)}."
        )
        fields = (f"{at}/{field}", *sources)
        yield kept("C8", fields) if holds else broken("C8", fields, sentence)


def _counts_every_token(facts: Facts) -> bool:
    """Say whether the totals hold every token that passed the model: none of other requests, none tried in vain."""
    speculation = facts.workload.speculation
    is_plain = isinstance(speculation, UnsetType) or speculation == "none"
    return is_plain and all(facts.recorded(f"/load/requests/{name}") == 0 for name in ("failed", "cut_off"))


def _tokens(facts: Facts, load: ExpertLoad) -> tuple[Exact | None, tuple[str, ...]]:
    """Return the tokens that passed the model in the record's phase, with their fields.

    The first output token comes out of the prompt's own pass; tokens from the prefix cache pass nothing.
    """
    prompts, outputs = "/load/input_tokens_total", ("/load/output_tokens_total", COMPLETED)
    fields = {"prefill": (prompts,), "decode": outputs}.get(
        "mixed" if isinstance(load.phase, UnsetType) else load.phase, (prompts, *outputs)
    )
    found = facts.values(*fields)
    if found is None or (prompts in fields and _shares_prefixes(facts)):
        return None, ()
    value = dict(zip(fields, found, strict=True))
    return value.get(prompts, 0) + value.get(outputs[0], 0) - value.get(COMPLETED, 0), fields


def _sum(recorded: Values | UnsetType) -> Fraction | None:
    """Add up an array; None where a place of it is not recorded."""
    values = () if isinstance(recorded, UnsetType) else recorded
    known = [found for found in map(number, values) if found is not None]
    return sum(known, Fraction(0)) if values and len(known) == len(values) else None


# Energy


def _energy(facts: Facts) -> Iterator[Check]:
    """C9: a rank used at most its peak power x the window's length."""
    metrics = {} if isinstance(facts.window.per_rank, UnsetType) else facts.window.per_rank
    energy, peak = metrics.get("energy_joules", NONE), metrics.get("power_peak_watts", NONE)
    seconds = window_seconds(facts.window)
    fields = ("/per_rank/energy_joules", "/per_rank/power_peak_watts", "/start", "/end")
    if seconds is None or not energy.values or not peak.values or peak.bound == "lower" or energy.bound == "upper":
        return
    pairs = [(number_at(energy.values, rank), number_at(peak.values, rank)) for rank in range(facts.ranks)]
    both = [(rank, used, most) for rank, (used, most) in enumerate(pairs) if used is not None and most is not None]
    over = [entry for entry in both if not at_most(entry[1], entry[2] * seconds, facts.tolerance)]
    if over:
        rank, used, most = max(over, key=lambda entry: entry[1] - entry[2] * seconds)
        sentence = (
            f"Rank {rank} used {grouped(used)} J; {grouped(most)} W at its peak allow {grouped(most * seconds)} J."
        )
        yield broken("C9", fields, sentence)
    elif both:
        yield kept("C9", fields)


NONE = PerRank(values=())

IDENTITIES: tuple[Identity, ...] = (
    _longest_held,
    _full_concurrency,
    _handed_bytes,
    _handed_over_nics,
    _expert_tokens,
    _energy,
)
