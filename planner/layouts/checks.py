"""Tests of a model's dimensions against the degree that really shards each of them.

Rules kept: a test whose fact the contract does not state is left out, never guessed; a split that the engine
accepts although it is uneven passes with a notice, and fails only where work would be lost.
"""

from collections.abc import Iterator

from planner.layouts.base import DivisibilityCheck, LayerSplit, LayoutRefusedError, Shards
from planner.records.base import stated
from planner.records.contract import Model


def attention_heads(heads: int, ranks: int) -> DivisibilityCheck:
    """Query heads split evenly over the ranks of an attention-tensor group."""
    passed = heads % ranks == 0
    verb = "split evenly" if passed else "do not split evenly"
    return DivisibilityCheck(
        name="attention_heads", passed=passed, sentence=f"{heads} attention heads {verb} over {ranks} tensor ranks"
    )


def kv_heads(heads: int, ranks: int) -> DivisibilityCheck:
    """Key-value heads split evenly, or are copied a whole number of times."""
    if heads % ranks == 0:
        return DivisibilityCheck(
            name="kv_heads", passed=True, sentence=f"{heads} KV heads split evenly over {ranks} tensor ranks"
        )
    if ranks % heads:
        return DivisibilityCheck(
            name="kv_heads",
            passed=False,
            sentence=f"{heads} KV heads are neither a multiple nor a divisor of {ranks} tensor ranks",
        )
    copies = ranks // heads
    return DivisibilityCheck(
        name="kv_heads",
        passed=True,
        sentence=f"{heads} KV heads are copied to {ranks} tensor ranks",
        notice=f"each KV head is held {copies} times",
    )


def kv_heads_up(heads: int, ranks: int) -> DivisibilityCheck:
    """Key-value heads of an engine that rounds the share up instead of refusing."""
    share = -(-heads // ranks)
    if heads % ranks == 0 or ranks % heads == 0:
        return kv_heads(heads, ranks)
    return DivisibilityCheck(
        name="kv_heads",
        passed=True,
        sentence=f"{heads} KV heads over {ranks} tensor ranks are uneven; the engine accepts that",
        notice=f"every rank holds {share} KV heads, {share * ranks} in all",
        danger=True,
    )


def latent_kv(copies: int) -> DivisibilityCheck:
    """Multi-head latent attention keeps one latent vector a token, which tensor ranks cannot share."""
    return DivisibilityCheck(
        name="kv_heads",
        passed=True,
        sentence="latent attention has one KV vector a token; the count of KV heads does not matter",
        notice=None if copies == 1 else f"the KV cache is held {copies} times in a tensor group",
    )


def layers(count: int, stages: int, split: LayerSplit) -> DivisibilityCheck:
    """Layers split over stages by the engine's own rule."""
    try:
        counts = split(count, stages)
    except LayoutRefusedError as refused:
        uneven = f"{count} layers do not split evenly over {stages} stages"
        given = refused.constraint == "layer_partition"
        return DivisibilityCheck(name="layers", passed=False, sentence=refused.message if given else uneven)
    if len(set(counts)) == 1:
        return DivisibilityCheck(
            name="layers", passed=True, sentence=f"{count} layers split evenly over {stages} stages"
        )
    listed = ", ".join(str(layers) for layers in counts)
    return DivisibilityCheck(
        name="layers",
        passed=min(counts) > 0,
        sentence=f"{count} layers over {stages} stages: {listed}",
        notice="stages are uneven" if min(counts) > 0 else "a stage holds no layer",
    )


def dense_with_experts(ranks: int) -> DivisibilityCheck:
    """Expert parallelism needs experts."""
    return DivisibilityCheck(name="experts", passed=False, sentence=f"ep {ranks} needs experts, and the model is dense")


def experts_even(experts: int, redundant: int, ranks: int) -> DivisibilityCheck:
    """Physical experts (with redundant copies) split evenly over expert ranks."""
    total = experts + redundant
    passed = total % ranks == 0
    verb = "split evenly" if passed else "do not split evenly"
    return DivisibilityCheck(
        name="experts", passed=passed, sentence=f"{_experts(experts, redundant)} {verb} over {ranks} expert ranks"
    )


def expert_checks(model: Model, ranks: int, redundant: int) -> Iterator[DivisibilityCheck]:
    """Experts of an engine that accepts equal shares only."""
    experts = stated(model.experts)
    if model.architecture == "dense":
        if ranks > 1:
            yield dense_with_experts(ranks)
    elif experts is not None:
        yield experts_even(experts, redundant, ranks)


def experts_uneven(experts: int, ranks: int) -> DivisibilityCheck:
    """Experts of an engine that gives the first ranks one more instead of refusing."""
    if experts % ranks == 0:
        return experts_even(experts, 0, ranks)
    base, rest = divmod(experts, ranks)
    notice = f"{rest} ranks hold {base + 1} experts, {ranks - rest} hold {base}"
    return DivisibilityCheck(
        name="experts",
        passed=True,
        sentence=f"{experts} experts over {ranks} expert ranks are uneven; the engine accepts that",
        notice=notice,
        danger=True,
    )


def experts_floored(experts: int, ranks: int) -> DivisibilityCheck:
    """Experts of an engine that floors the share and drops the rest."""
    rest = experts % ranks
    if rest == 0:
        return experts_even(experts, 0, ranks)
    return DivisibilityCheck(
        name="experts",
        passed=False,
        sentence=f"{experts} experts over {ranks} expert ranks: the engine floors the share and drops {rest} experts",
        danger=True,
    )


def width(name: str, label: str, value: int, ranks: int, block: int | None) -> DivisibilityCheck:
    """A sharded width splits evenly, and every shard is whole quantisation blocks."""
    if value % ranks:
        return DivisibilityCheck(
            name=name, passed=False, sentence=f"{label} {value} does not split evenly over {ranks} ranks"
        )
    share = value // ranks
    if block is not None and ranks > 1 and share % block:
        return DivisibilityCheck(
            name="quantisation_block",
            passed=False,
            sentence=f"{label} {value} over {ranks} ranks is {share}, not a multiple of the block of {block}",
        )
    return DivisibilityCheck(name=name, passed=True, sentence=f"{label} {value} splits evenly over {ranks} ranks")


def attention_checks(model: Model, shards: Shards) -> Iterator[DivisibilityCheck]:
    """Query and key-value heads."""
    yield attention_heads(model.attention_heads, shards.attention)
    if model.attention == "mla":
        yield latent_kv(shards.kv_copies_of_mla)
    else:
        yield kv_heads(model.kv_heads, shards.attention)


def width_checks(model: Model, shards: Shards, block: int | None) -> Iterator[DivisibilityCheck]:
    """Widths of dense layers and experts."""
    dense = stated(model.intermediate_size)
    expert = stated(model.expert_intermediate_size)
    if dense is not None:
        yield width("dense_width", "dense width", dense, shards.dense, block)
    if expert is not None and model.architecture == "moe":
        yield width("expert_width", "expert width", expert, shards.expert_width, block)


def _experts(experts: int, redundant: int) -> str:
    return f"{experts} experts" if redundant == 0 else f"{experts} + {redundant} redundant experts"
