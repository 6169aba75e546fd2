"""Judge a file of any kind: what it is, whether it is accepted, its digests, and every problem.

Evidence is judged by itself here; whether it belongs to a contract is judged where both are given
(``planner.intake.read_evidence``).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from planner.canonical import content_id, file_sha256
from planner.errors import DocumentRefusedError, Problem
from planner.intake.contract import CONTRACT_SCHEMA, contract_from
from planner.intake.evidence import EVIDENCE_SCHEMA, evidence_from
from planner.intake.places import with_places
from planner.intake.plan import PLAN_SCHEMA, plan_content_id, plan_from
from planner.shown import shown
from planner.strict_json import Reading, read

__all__ = ["Kind", "Verdict", "judge"]

Kind = Literal["contract", "evidence", "plan"]

_SCHEMAS: dict[str, tuple[Kind, Callable[[Reading], object]]] = {
    CONTRACT_SCHEMA: ("contract", contract_from),
    EVIDENCE_SCHEMA: ("evidence", evidence_from),
    PLAN_SCHEMA: ("plan", plan_from),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is known of a file. ``content_id`` is None where the bytes are no strict JSON.

    ``contract_named`` is the content id of the contract that accepted evidence belongs to, None for other files.
    """

    kind: Kind | None
    file_sha256: str
    content_id: str | None
    problems: tuple[Problem, ...]
    contract_named: str | None = None

    @property
    def ok(self) -> bool:
        """Say whether the file is an accepted document."""
        return not self.problems


def judge(raw: bytes) -> Verdict:
    """Judge the bytes of a file; never raises for what they hold."""
    digest = file_sha256(raw)
    try:
        reading = read(raw)
    except DocumentRefusedError as refused:
        return Verdict(kind=None, file_sha256=digest, content_id=None, problems=refused.problems)
    kind, problems = _judged(reading)
    # Stand-ins took the place of refused values, so the tree is not what the file says.
    whole = None if reading.problems else _content_id(reading.tree, kind)
    named = reading.tree["contract_content_id"] if kind == "evidence" and not problems else None
    return Verdict(kind=kind, file_sha256=digest, content_id=whole, problems=problems, contract_named=named)


def _judged(reading: Reading) -> tuple[Kind | None, tuple[Problem, ...]]:
    schema = reading.tree.get("schema") if type(reading.tree) is dict else None
    known = _SCHEMAS.get(schema) if type(schema) is str else None
    if known is None:
        return None, with_places([*reading.problems, _unknown_kind(reading.tree)], reading.raw.decode())
    kind, document_from = known
    try:
        document_from(reading)
    except DocumentRefusedError as refused:
        return kind, refused.problems
    return kind, ()


def _unknown_kind(tree: Any) -> Problem:
    expected = "one of " + ", ".join(f'"{schema}"' for schema in _SCHEMAS)
    if type(tree) is not dict:
        return Problem("document/schema", "", f'an object with "schema", {expected}', shown(tree))
    return Problem("document/schema", "/schema", expected, shown(tree["schema"]) if "schema" in tree else "nothing")


def _content_id(tree: Any, kind: Kind | None) -> str:
    return plan_content_id(tree) if kind == "plan" else content_id(tree)
