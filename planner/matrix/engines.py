"""Which layout a contract's engine has, by the name it goes by.

Not handled: what a version changed; layouts name the version that their rules were read from.
"""

from collections.abc import Mapping

from planner.layouts import LAYOUTS
from planner.records.contract import Engine
from planner.records.evidence import LayoutName
from planner.records.matrix import PlannedEngine

__all__ = ["engine_of"]

NAMES: Mapping[str, LayoutName] = {
    "vllm": "vllm",
    "sglang": "sglang",
    "tensorrtllm": "trtllm",
    "trtllm": "trtllm",
    "trtllmserve": "trtllm",
    "megatron": "megatron",
    "megatroncore": "megatron",
    "megatronlm": "megatron",
}
"""Names without case, spaces and hyphens."""


def engine_of(engine: Engine) -> PlannedEngine:
    """Return the engine with its layout; one that is not known gets ``closed``, and a note that says so."""
    key = "".join(character for character in engine.name.lower() if character.isalnum())
    layout = NAMES.get(key, "closed")
    note = None
    if layout == "closed":
        note = (
            f"No engine layout is known for {engine.name}: decompositions are those of the closed layout, which no "
            "engine builds, and how the engine is started is left to you."
        )
    return PlannedEngine(
        name=engine.name, version=engine.version, layout=layout, title=LAYOUTS[layout].title, note=note
    )
