"""Answer one question about a figure, in the form of one JSON object: inputs in, value or refusal out.

Rules kept: what cannot be answered is an answer (``valid`` false, the input named), never an exception; every wrong
input of a question is named; a value that a question leaves open and that its formula has is said (``assumed``).

Not handled: reading lines and bytes (``planner.command.hypotheses``).
"""

from typing import Any

from planner.hypotheses.asks import collectives, kv, traffic, weights
from planner.hypotheses.asks.inputs import Inputs, Refused, RefusedAskError
from planner.hypotheses.asks.quantity import Ask, Quantity
from planner.hypotheses.asks.shapes import Models, read_models
from planner.hypotheses.facts import SplitRefusedError
from planner.registry import collect
from planner.shown import shown

__all__ = ["QUANTITIES", "Answerer"]

MODULES = (weights, kv, collectives, traffic)
QUANTITIES: tuple[Quantity, ...] = collect(MODULES, Quantity)

LONGEST_TEXT = 4096


class Answerer:
    """Answers questions one after the other; keeps what a later one may refer to: models, and the last step's time."""

    def __init__(self) -> None:
        self._models: Models = {}
        self._step_s: Any = None

    def answer(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Answer one question, or take note of the shapes under ``models``."""
        named = {"id": shown(ask["id"], quote=False)} if "id" in ask else {}
        try:
            if "models" in ask and "inputs" not in ask:
                found = read_models(ask["models"])
                self._models |= found
                return {**named, "valid": True, "models": sorted(found)}
            return {**named, **self._answered(ask)}
        except RefusedAskError as refused:
            return {**named, **_refusal(refused.problems)}
        except SplitRefusedError as refused:
            return {**named, **_refusal([(refused.name, refused.message)])}

    def _answered(self, ask: dict[str, Any]) -> dict[str, Any]:
        quantity = _quantity(ask)
        inputs = Inputs(ask.get("inputs"))
        found = quantity.answer(Ask(inputs=inputs, texts=_texts(ask), models=self._models, step_s=self._step_s))
        inputs.check()
        value = found.value()
        if quantity.id == "expert_step_time":
            self._step_s = found.exact
        answer = {"valid": True, "quantity": quantity.id, "value": value, "unit": found.unit, "formula": found.formula}
        more = {"also": found.also(), "assumed": inputs.assumed, "not_read": inputs.not_read()}
        return answer | {name: part for name, part in more.items() if part}


def _texts(ask: dict[str, Any]) -> dict[str, str]:
    return {name: str(ask[name]) for name in ("id", "formula", "unit") if isinstance(ask.get(name), str)}


def _quantity(ask: dict[str, Any]) -> Quantity:
    """Return what is asked for: by ``quantity``, else by the formula's text, else by how the id starts."""
    for name in ("id", "formula", "unit", "quantity"):
        text = ask.get(name, "")
        if not (isinstance(text, str) and len(text) <= LONGEST_TEXT):
            message = f"{name} is a text of at most {LONGEST_TEXT} characters; found {shown(text)}"
            raise RefusedAskError([(name, message)])
    texts = _texts(ask)
    if "quantity" in ask:
        found = [quantity for quantity in QUANTITIES if quantity.id == ask["quantity"]]
    else:
        found = [quantity for quantity in QUANTITIES if quantity.has_formula(texts.get("formula", ""))]
        found += [quantity for quantity in QUANTITIES if quantity.has_id(texts.get("id", ""))]
    if found:
        return found[0]
    known = ", ".join(sorted(quantity.id for quantity in QUANTITIES))
    if "quantity" in ask:
        raise RefusedAskError([("quantity", f"quantity is one of {known}; found {shown(ask['quantity'])}")])
    raise RefusedAskError([("formula", f"formula is none that is known, and quantity is missing (one of {known})")])


def _refusal(problems: Refused) -> dict[str, Any]:
    return {
        "valid": False,
        "constraint": problems[0][0],
        "error": "; ".join(message for _, message in problems),
        "inputs": [name for name, _ in problems],
    }
