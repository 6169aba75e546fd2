"""What the what-if page offers to be overridden: values, parts and limits of the contract, and candidates. Pure.

Rules kept: today's value stands beside every choice, in the unit in which the contract writes it. Not offered: text,
lists, and what the contract does not have; an address may name those as well.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planner.canonical import canonical_bytes
from planner.docket import ALWAYS
from planner.overrides import FOLLOWS, SECTIONS
from planner.pointers import child, steps
from planner.records.plan import LimitOutcome, Plan, Ratio, Value
from reviews.web.formats import limit_text, number, quantity, unit_of
from reviews.web.names import candidate_names

LONGEST = 60
"""Characters of a value that is no number."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can be chosen: its value in the form, and its name with what it is today."""

    value: str
    text: str


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """Choices of one gate, or of one section of the contract."""

    title: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Everything that the form offers."""

    values: tuple[ChoiceGroup, ...]
    parts: tuple[ChoiceGroup, ...]
    limits: tuple[ChoiceGroup, ...]
    trials: tuple[Choice, ...]


def choices_of(plan: Plan, tree: Mapping[str, Any]) -> Choices:
    """Return the choices of a contract's tree, with the units and candidates of its plan."""
    units = units_at(plan)
    names = candidate_names(plan)
    return Choices(
        values=_grouped((at, f"{short_name(at)} · {raw_text(value, units.get(at))}") for at, value in numbers_of(tree)),
        parts=_grouped(
            (at, "the whole gate" if at.count("/") == 2 and at.startswith("/gates/") else short_name(at))
            for at in parts_of(tree)
        ),
        limits=_limit_choices(plan),
        trials=tuple(
            Choice(trial, name if trial in name else f"{name} · {trial}") for trial, name in sorted(names.items())
        ),
    )


def numbers_of(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield pointer and value of every number and switch that can be overridden."""
    for section in SECTIONS:
        yield from _leaves(child("", section), tree.get(section))


def _leaves(at: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(child(at, name), inner)
    elif isinstance(value, bool | int | float):
        yield at, value


def parts_of(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield the pointers of what can be left out: gates and their limits, and the parts of the other sections."""
    for section in SECTIONS:
        for name, part in _members(tree.get(section)):
            at = child(child("", section), name)
            yield at
            if section == "gates":
                yield from (child(at, limit) for limit, _ in _members(part))


def _members(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def units_at(plan: Plan) -> dict[str, str | None]:
    """Return the unit of every limit that stands in the contract as it is compared, by pointer."""
    return {
        str(outcome.limit_at): outcome.unit
        for candidate in plan.candidates.values()
        for gate in candidate.gates.values()
        for outcome in gate.limits.values()
        if outcome.limit_at
    }


def group_of(at: str) -> str:
    """Name the gate or the section of a pointer."""
    path = steps(at)
    return path[1] if len(path) > 1 and path[0] == "gates" else path[0] if path else ""


def short_name(at: str) -> str:
    """Name what a pointer leads to, within its group."""
    path = steps(at)
    return " ".join(path[2:] if path[:1] == ("gates",) else path[1:]) or at


def full_name(at: str) -> str:
    """Name what a pointer leads to."""
    path = steps(at)
    return " ".join(path[1:] if path[:1] == ("gates",) else path) or at


def _grouped(pairs: Iterator[tuple[str, str]]) -> tuple[ChoiceGroup, ...]:
    groups: dict[str, list[Choice]] = {}
    for at, text in pairs:
        groups.setdefault(group_of(at), []).append(Choice(at, text))
    return tuple(ChoiceGroup(title, tuple(choices)) for title, choices in groups.items())


def _limit_choices(plan: Plan) -> tuple[ChoiceGroup, ...]:
    found: dict[str, dict[str, LimitOutcome]] = {}
    for candidate in plan.candidates.values():
        for gate, outcome in candidate.gates.items():
            for limit_id, limit in outcome.limits.items():
                if gate not in FOLLOWS and limit.comparator in ("<=", ">=") and is_number(limit.limit):
                    found.setdefault(gate, {}).setdefault(limit_id, limit)
    return tuple(
        ChoiceGroup(
            gate,
            tuple(
                Choice(
                    f"{gate}.{limit_id}",
                    f"{'' if limit_id == ALWAYS else limit_id} {limit_text(limit.comparator, limit.limit, limit.unit)}"
                    f"{in_unit(limit.unit)}".strip(),
                )
                for limit_id, limit in limits.items()
            ),
        )
        for gate, limits in found.items()
    )


def is_number(value: Value) -> bool:
    """Say whether a limit is a number."""
    return isinstance(value, int | float | Ratio) and not isinstance(value, bool)


def in_unit(unit: str | None) -> str:
    """Say in which unit a value is typed where the page shows another."""
    return f", typed in {unit}" if unit_of(unit).scale != 1 else ""


def raw_text(value: Any, unit: str | None = None) -> str:
    """Write a value as the contract has it, with its unit; a scaled unit follows in brackets."""
    if isinstance(value, Ratio) or (isinstance(value, int | float) and not isinstance(value, bool)):
        if unit_of(unit).scale != 1:
            return f"{number(value)} {unit} ({quantity(value, unit)})"
        return quantity(value, unit)
    if value is None:
        return "not declared"
    text = canonical_bytes(value).decode()
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
