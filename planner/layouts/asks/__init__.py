"""Answer one question about groups, in the form of one JSON object: engine and degrees in, groups or refusal out.

Rules kept: what the engine refuses, and what nobody can build, is an answer (``valid`` false, the constraint named),
never an exception. A question with ``degrees`` is about groups and placement; one with ``num_layers``, ``num_experts``
or ``heads`` is about how that part is split.

Not handled: reading lines and bytes (``planner.command.groups``).
"""

from typing import Any

from planner.layouts import LAYOUTS
from planner.layouts.asks.engines import ENGINES
from planner.layouts.asks.facts import Ask
from planner.layouts.asks.parts import PARTS
from planner.layouts.base import LayoutRefusedError
from planner.shown import shown

__all__ = ["answer"]


def answer(ask: Ask) -> dict[str, Any]:
    """Answer one question."""
    engine = ask.get("engine")
    try:
        if not isinstance(engine, str) or engine not in LAYOUTS:
            raise LayoutRefusedError("engine", f"engine is one of {', '.join(LAYOUTS)}; found {shown(engine)}")
        return {"engine": engine, "valid": True, **_answered(engine, ask)}
    except LayoutRefusedError as refused:
        return {
            "engine": shown(engine, quote=False),
            "valid": False,
            "constraint": refused.constraint,
            "error": refused.message,
        }


def _answered(engine: str, ask: Ask) -> dict[str, Any]:
    if "degrees" in ask:
        return ENGINES[engine](ask)
    for key, part in PARTS.items():
        if key in ask:
            return part(engine, ask)
    raise LayoutRefusedError("degrees", "degrees is missing (or num_layers, num_experts, heads)")
