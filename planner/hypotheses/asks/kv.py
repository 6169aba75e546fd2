"""Questions about the KV cache: bytes of a token or of many, on one tensor rank, how many tokens fit, the hand-off."""

import re
from fractions import Fraction

from planner.hypotheses.asks.inputs import DEGREE, LAYERS, SAFE, WIDEST, WIDTH, Inputs
from planner.hypotheses.asks.quantity import GIB, MIB, Ask, Found, Quantity
from planner.hypotheses.asks.shapes import Models, shape_of
from planner.hypotheses.facts import Shape
from planner.hypotheses.kv_cache import kv_bytes

STATED_IN_TEXT = re.compile(r"\b(L|kv|d)=([0-9]{1,8})\b")
"""A shape that ``model`` spells out, as in "L=32, kv=8, d=128"."""


def _kv(ask: Ask) -> Found:
    inputs = ask.inputs
    shape = _cached_shape(inputs, ask.models)
    width = inputs.number_or("bytes", 2, most=WIDEST)
    ranks = inputs.count("tp", most=DEGREE) if "tp" in inputs else 1
    many = "tokens" in inputs
    tokens = inputs.count("tokens", most=SAFE) if many else 1
    inputs.check()
    size = kv_bytes(shape, width, tokens=tokens, ranks=ranks)
    formula = "layers * (kv_lora_rank + rope_head_dim)" if shape.latent else "2 * layers * kv heads * head dim"
    formula += " * bytes" + (" * tokens" if many else "")
    if ranks > 1 and not shape.latent:
        formula = formula.replace("kv heads", "max(1, kv heads // tp)")
    if "(K only)" in ask.formula:
        size, formula = size / 2, f"half of {formula} (keys only)"
    if ask.unit.startswith("GiB"):
        return Found(exact=size / GIB, unit="GiB", formula=f"{formula} / 2^30")
    return Found(exact=size, unit="B" if many else "B/token", formula=formula)


def _cached_shape(inputs: Inputs, models: Models) -> Shape:
    """Return what matters of a shape for its cache: stated, spelled out in the model's text, or by the model's name."""
    if "L" in inputs:
        return _stated(inputs)
    stated = dict(STATED_IN_TEXT.findall(inputs.text("model")))
    if stated.keys() != {"L", "kv", "d"}:
        return shape_of(inputs, models)
    spelled = Inputs({name: int(value) for name, value in stated.items()})
    shape = _stated(spelled)
    spelled.check()
    return shape


def _stated(inputs: Inputs) -> Shape:
    layers = inputs.count("L", most=LAYERS)
    if "kv_lora" in inputs:
        latent, rope = inputs.count("kv_lora", most=WIDTH), inputs.count("rope", most=WIDTH)
        return Shape(layers=layers, latent=True, kv_lora_rank=latent, rope_head_dim=rope)
    if "hidden" in inputs:
        # Multi-head attention: heads x head dim is the hidden size, so one head of that width has the same bytes.
        return Shape(layers=layers, kv_heads=1, head_dim=inputs.count("hidden", most=WIDTH))
    return Shape(layers=layers, kv_heads=inputs.count("kv", most=DEGREE), head_dim=inputs.count("d", most=WIDTH))


def _by_ranks(ask: Ask) -> Found:
    inputs = ask.inputs
    shape = _cached_shape(inputs, ask.models)
    ranks = inputs.counts("tp", most=DEGREE)
    width = inputs.number_or("bytes", 2, most=WIDEST)
    inputs.check()
    whole = kv_bytes(shape, width)
    one = {tp: kv_bytes(shape, width, ranks=tp) for tp in ranks}
    return Found(
        exact={
            str(tp): {
                "bytes_per_token_per_rank": size,
                "cluster_bytes_per_token": size * tp,
                "replication": size * tp / whole,
            }
            for tp, size in one.items()
        },
        unit="B/token",
        formula="2 * layers * max(1, kv heads // tp) * head dim * bytes; a latent is held whole by every tensor rank",
    )


def _fitting(ask: Ask) -> Found:
    inputs = ask.inputs
    available = inputs.number("available_GiB") * GIB
    each = inputs.count("bytes_per_token", most=SAFE)
    inputs.check()
    fitting = available // each
    asked = re.search(r"for ([0-9]{1,15}) tokens", ask.unit)
    if asked is None:
        return Found(exact=fitting, unit="tokens", formula="floor(available / bytes per token)")
    return Found(
        exact=Fraction(int(asked[1]) * each, GIB),
        unit="GiB",
        formula="tokens of the unit * bytes per token / 2^30",
        more={"tokens_that_fit": fitting},
    )


def _handoff(ask: Ask) -> Found:
    inputs = ask.inputs
    shape = _cached_shape(inputs, ask.models)
    width = inputs.number_or("bytes", 2, most=WIDEST)
    tokens, rate = inputs.count("tokens", most=SAFE), inputs.number("rps")
    inputs.check()
    size = kv_bytes(shape, width, tokens=tokens)
    gib = size * rate / GIB
    return Found(
        exact={
            "bytes": size,
            "GiB": size / GIB,
            "GiB_per_s": gib,
            "Gbit_per_s_binary": 8 * gib,
            "Gbit_per_s_decimal": 8 * size * rate / 10**9,
        },
        unit="",
        formula="KV bytes of the prompt; * requests per second",
    )


def _handoff_rate(ask: Ask) -> Found:
    inputs = ask.inputs
    stated = re.match(r"([0-9]{1,9}) MiB", ask.formula)
    inputs.also_stated({"bytes": int(stated[1]) * MIB} if stated else {})
    size, rate = inputs.count("bytes", most=SAFE), inputs.number("rps")
    inputs.check()
    return Found(exact=size * rate, unit="B/s", formula="KV bytes of a request * requests per second")


KV_BY_RANKS = Quantity(
    id="kv_by_tensor_ranks", formulas=r".*max\(1, ?kv ?// ?tp\).*; MLA", answer=_by_ranks, prefix="kvrank_"
)
HANDOFF = Quantity(id="handoff", formulas=r"2\*L\*.*\*rps", answer=_handoff, prefix="pd_")
FITTING = Quantity(id="kv_tokens_that_fit", formulas=r"floor\(available", answer=_fitting)
HANDOFF_RATE = Quantity(id="handoff_rate", formulas=r"[0-9]+ MiB \* [0-9.]+ req/s", answer=_handoff_rate)
KV_BYTES = Quantity(id="kv_bytes", formulas=r"(tokens \* )?(2\*)?L ?\*.*", answer=_kv, prefix="kv_")
