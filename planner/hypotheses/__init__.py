"""Hypotheses: what a shape and a topology let one expect, beside what was measured; never read by a gate.

Rules kept: a figure is exact arithmetic on stated facts and carries its formula; a fact that is not stated is asked
for by its name, never guessed. Sources of the formulas stand in ``docs/reference/hypotheses.md``.

Not handled: how long a step takes on a machine; kernels, overlap, allocators and fragmentation are measured, not
derived. Import rules keep this package out of gates, evaluation and selection.
"""
