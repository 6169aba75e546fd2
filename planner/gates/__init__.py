"""The gates: families in the order in which they are listed, and every gate in them.

A new gate is one function in its family's module and a table in that module's twin test; a new family also stands in
``FAMILIES``.
"""

from types import ModuleType

from planner.gates import cost, evidence, fabric, failure, memory, shape, slo
from planner.gates.base import Gate
from planner.registry import collect

FAMILIES: tuple[ModuleType, ...] = (shape, fabric, evidence, memory, slo, failure, cost)
GATES: tuple[Gate, ...] = collect(FAMILIES, Gate)

__all__ = ["FAMILIES", "GATES", "Gate"]
