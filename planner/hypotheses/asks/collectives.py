"""Questions about collectives and pipelines: bus bandwidth factors, times, gathered bytes, bubbles."""

from fractions import Fraction

from planner.hypotheses.asks.inputs import DEGREE, SAFE
from planner.hypotheses.asks.quantity import Ask, Found, Quantity
from planner.hypotheses.collectives import OPERATIONS, Operation, bubble, bus_factor, gathered, ring_time, wire_time

RINGS = ("allreduce", "reducescatter", "allgather", "alltoall")


def _operation(ask: Ask) -> Operation:
    """Return the collective: ``operation``, else what the id names, else what the formula's factor is of."""
    if "operation" in ask.inputs:
        asked = ask.inputs.text("operation").lower().replace("_", "").replace("-", "")
        for operation in OPERATIONS:
            if operation == asked:
                return operation
        ask.inputs.refuse("operation", f"operation is one of {', '.join(OPERATIONS)}")
        return "allreduce"
    text = ask.texts.get("id", "").lower()
    for operation in OPERATIONS:
        if operation in text.replace("_", ""):
            return operation
    if not ask.formula:
        ask.inputs.refuse("operation", f"operation is missing (one of {', '.join(OPERATIONS)})")
    if "(n-1)" not in ask.formula.replace(" ", ""):
        return "broadcast"
    return "allreduce" if "2(n-1)" in ask.formula.replace(" ", "") else "allgather"


def _factors(ask: Ask) -> Found:
    ranks = ask.inputs.count("n", most=DEGREE)
    ask.inputs.check()
    return Found(
        exact={operation: bus_factor(operation, ranks) for operation in OPERATIONS},
        unit="x algbw",
        formula="all-reduce 2(n-1)/n; reduce-scatter, all-gather, all-to-all (n-1)/n; broadcast, reduce 1",
    )


def _wire(ask: Ask) -> Found:
    inputs = ask.inputs
    size, bandwidth, ranks = inputs.count("S", most=SAFE), inputs.number("B"), inputs.count("n", most=DEGREE)
    operation = _operation(ask)
    inputs.check()
    return Found(
        exact=wire_time(operation, ranks, Fraction(size), bandwidth),
        unit="s",
        formula=f"S / B * bus factor of {operation}",
    )


def _ring(ask: Ask) -> Found:
    inputs = ask.inputs
    ranks, alpha, beta = inputs.count("n", most=DEGREE), inputs.number("alpha"), inputs.number("beta")
    size = inputs.count("S_total" if "S_total" in inputs else "S", most=SAFE)
    operation = _operation(ask)
    if ask.formula and "(n-1)*alpha" not in ask.formula.replace(" ", ""):
        inputs.refuse("formula", "formula is not that of a ring, which takes (n-1) * alpha or twice that")
    if operation not in RINGS:
        inputs.refuse("operation", f"operation is one of {', '.join(RINGS)} (a ring); found {operation}")
    inputs.check()
    steps = "2(n-1)" if operation == "allreduce" else "(n-1)"
    return Found(
        exact=ring_time(operation, ranks, Fraction(size), alpha, beta),
        unit="s",
        formula=f"{steps} * alpha + {steps}/n * S * beta",
    )


def _gathered(ask: Ask) -> Found:
    inputs = ask.inputs
    shard, ranks = inputs.number("shard_MiB"), inputs.count("n", most=DEGREE)
    inputs.check()
    output, received = gathered(shard, ranks)
    return Found(
        exact={"output_MiB": output, "recv_MiB": received, "busbw_factor": bus_factor("allgather", ranks)},
        unit="MiB",
        formula="output n * shard; newly received (n-1) * shard",
    )


def _bubble(ask: Ask) -> Found:
    inputs = ask.inputs
    stages, batches = inputs.count("p", most=DEGREE), inputs.count("m", most=SAFE)
    chunks = inputs.count("v", most=DEGREE) if "v" in inputs else 1
    inputs.check()
    total, ideal = bubble(stages, batches, chunks)
    return Found(
        exact={"fraction_of_total": total, "fraction_of_ideal": ideal},
        unit="",
        formula="(p-1)/(v*m+p-1) of total time; (p-1)/(v*m) of ideal time; v virtual stages on a rank, 1 unless given",
    )


BUS_FACTORS = Quantity(id="bus_factors", formulas=r"allreduce 2\(n-1\)/n; ", answer=_factors, prefix="busbw_factor")
WIRE_TIME = Quantity(id="wire_time", formulas=r"t ?= ?S ?/ ?B", answer=_wire, prefix="time_")
RING_TIME = Quantity(id="ring_time", formulas=r"T ?= ?.*alpha", answer=_ring, prefix="alpha_beta_")
GATHERED = Quantity(id="gathered", formulas=r"out ?= ?n ?\* ?shard", answer=_gathered)
BUBBLE = Quantity(id="bubble", formulas=r"\(p-1\)/\(m\+p-1\)", answer=_bubble, prefix="bubble_")
