"""Read a plan back from the bytes of its file."""

from collections.abc import Iterator
from typing import Any

from planner.canonical import content_id
from planner.errors import Problem
from planner.intake.opening import opened
from planner.records.plan import Plan
from planner.strict_json import read

__all__ = ["PLAN_SCHEMA", "read_plan"]

PLAN_SCHEMA = "topogate.plan/v1"


def read_plan(raw: bytes) -> Plan:
    """Read a plan; one whose ``plan_id`` is not that of its content was changed and is refused.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    return opened(read(raw), Plan, PLAN_SCHEMA, _identified)


def _identified(tree: Any) -> Iterator[Problem]:
    claimed = tree.get("plan_id")
    own = content_id({name: value for name, value in tree.items() if name != "plan_id"})
    if claimed != own:
        yield Problem("document/plan_id", "/plan_id", f"{own}, the content id of the rest", str(claimed))
