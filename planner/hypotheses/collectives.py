"""Collectives: what a rank sends, and how long it takes with a start-up time and a bandwidth.

Formulas: bus bandwidth factors of nccl-tests ``doc/PERFORMANCE.md``, where the size of all-gather and reduce-scatter
is the total array; the alpha-beta model of Thakur, Rabenseifner and Gropp (IJHPCA 19(1), 2005): ``steps * alpha +
factor * bytes * beta``, alpha seconds a message, beta seconds a byte; pipeline bubbles of GPipe (arXiv 1811.06965) and
Narayanan et al. (arXiv 2104.04473). All results are exact fractions.
"""

from fractions import Fraction
from typing import Literal

__all__ = ["OPERATIONS", "Operation", "bubble", "bus_factor", "gathered", "ring_time", "wire_time"]

Operation = Literal["allreduce", "reducescatter", "allgather", "alltoall", "broadcast", "reduce"]

OPERATIONS: tuple[Operation, ...] = ("allreduce", "reducescatter", "allgather", "alltoall", "broadcast", "reduce")


def bus_factor(operation: Operation, ranks: int) -> Fraction:
    """Return bus bandwidth / algorithm bandwidth: all-reduce 2(n-1)/n, gather and scatter kinds (n-1)/n, else 1.

    It is also the share of the array that each rank sends in a ring.
    """
    if operation in ("broadcast", "reduce"):
        return Fraction(1)
    share = Fraction(ranks - 1, ranks)
    return 2 * share if operation == "allreduce" else share


def wire_time(operation: Operation, ranks: int, size: Fraction, bandwidth: Fraction) -> Fraction:
    """Return seconds without start-up: ``size / bandwidth * factor``; bytes and bytes per second."""
    return size / bandwidth * bus_factor(operation, ranks)


def ring_time(operation: Operation, ranks: int, size: Fraction, alpha: Fraction, beta: Fraction) -> Fraction:
    """Return seconds of a ring: all-reduce ``2(n-1) alpha + 2(n-1)/n S beta``, the others half of it.

    ``operation`` is one of all-reduce, reduce-scatter, all-gather and all-to-all.
    """
    steps = (ranks - 1) * (2 if operation == "allreduce" else 1)
    return steps * alpha + bus_factor(operation, ranks) * size * beta


def gathered(shard: Fraction, ranks: int) -> tuple[Fraction, Fraction]:
    """Return what all-gather leaves on a rank, and how much of it is newly received: n shards, n - 1 shards."""
    return shard * ranks, shard * (ranks - 1)


def bubble(stages: int, micro_batches: int, virtual_stages: int = 1) -> tuple[Fraction, Fraction]:
    """Return the idle share of a pipeline, of total and of ideal time: (p-1)/(v m+p-1) and (p-1)/(v m).

    The literature calls both "bubble fraction". v virtual stages on each rank divide the idle time by v.
    """
    idle, busy = stages - 1, micro_batches * virtual_stages
    return Fraction(idle, busy + idle), Fraction(idle, busy)
