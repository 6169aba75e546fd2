"""Bytes that cross each boundary of a topology.

Formulas: tensor, two all-reduces of tokens x hidden a layer (Megatron-LM, arXiv 1909.08053) and one for the split
embedding (vLLM 0.33.0 ``vocab_parallel_embedding.py``); pipeline, tokens x hidden a boundary (arXiv 2104.04473), twice
that where residual and hidden states travel apart (vLLM ``IntermediateTensors``); experts, top-k copies of a token each
way, or one for each different rank it visits (hypergeometric, uniform routing); hand-off, the KV cache of the prompt.
Widths are bytes of an element; results are exact.
"""

from fractions import Fraction
from math import comb

from planner.hypotheses.facts import SplitRefusedError

__all__ = ["distinct_ranks", "expert_step_time", "reduced_per_forward", "token_bytes"]


def token_bytes(tokens: int, hidden: int, width: Fraction) -> Fraction:
    """Return the bytes of activations of ``tokens``: tokens x hidden x width."""
    return tokens * hidden * width


def reduced_per_forward(layers: int) -> int:
    """Return the all-reduces of one forward pass: two a layer and one for the embedding."""
    return 2 * layers + 1


def distinct_ranks(experts: int, ranks: int, visited: int) -> Fraction:
    """Return on how many ranks the experts of one token lie on average, if all choices are alike.

    Formula: ``ep * (1 - C(E - E/ep, k) / C(E, k))``; of these (ep - 1) / ep are remote.

    Raises:
        SplitRefusedError: experts do not split evenly over the ranks.
    """
    if experts % ranks:
        raise SplitRefusedError("ep", f"{experts} experts do not split evenly over {ranks} ranks")
    return ranks * (1 - Fraction(comb(experts - experts // ranks, visited), comb(experts, visited)))


def expert_step_time(tokens: int, copies: int, hidden: int, width: Fraction, bandwidth: Fraction) -> Fraction:
    """Return seconds of dispatch and combine of one layer: ``width * tokens * copies * hidden / bandwidth``.

    ``width`` is the sum of both directions. Source: "Insights into DeepSeek-V3", arXiv 2505.09343 section 2.3.2.
    """
    return width * tokens * copies * hidden / bandwidth
