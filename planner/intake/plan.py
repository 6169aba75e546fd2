"""Read a plan back from the bytes of its file, to check, show or compare it; the planner itself never reads one."""

from collections.abc import Iterator, Mapping
from typing import Any

from planner.canonical import content_id
from planner.errors import Problem
from planner.intake.opening import opened
from planner.records.plan import Plan
from planner.shown import shown
from planner.strict_json import Reading, read

__all__ = ["PLAN_SCHEMA", "plan_content_id", "plan_from", "read_plan"]

PLAN_SCHEMA = "topogate.plan/v1"


def read_plan(raw: bytes) -> Plan:
    """Read a plan; one whose ``plan_id`` is not that of its content was changed and is refused.

    Raises:
        DocumentRefusedError: with every problem found.
    """
    return plan_from(read(raw))


def plan_from(reading: Reading) -> Plan:
    """Read a plan from strict JSON; see ``read_plan``."""
    return opened(reading, Plan, PLAN_SCHEMA, _identified)


def plan_content_id(tree: Mapping[str, Any]) -> str:
    """Return the content id of a plan: of all of it but ``plan_id`` (spec 1a, rule 30)."""
    return content_id({name: value for name, value in tree.items() if name != "plan_id"})


def _identified(tree: Any) -> Iterator[Problem]:
    claimed, own = tree.get("plan_id"), plan_content_id(tree)
    if claimed != own:
        found = shown(claimed) if "plan_id" in tree else "nothing"
        yield Problem("document/plan_id", "/plan_id", f"{shown(own)}, the content id of the rest", found)
