"""Reads what an exported decision is made of, for statements and for the forms that people read.

Facts come from the log as the verifier replays it; only the printed names of people, which the log does not hold, and
the stored plans are read beside it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from planner.decision_numbers import decision_label, revision_label
from planner.verifier.verify import Rules
from reviews.blobs import blob_read
from reviews.models import AuditEntry, Person
from reviews.planning import plan_tree
from reviews.statements.planning import PlannedFacts

ERASED = "erased person"
_ROWS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry with its payload, as plain values."""

    fields: dict[str, Any]
    payload: dict[str, Any]

    @property
    def action(self) -> str:
        """What happened."""
        return str(self.fields["action"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedRevision:
    """A planned revision; ``said`` is what the replayed log says of it."""

    number: int
    facts: PlannedFacts
    plan: Mapping[str, Any]
    said: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedDecision:
    """One decision with its entries in order of the log. ``newest`` is its newest planned revision, if any."""

    number: int
    title: str
    slot: str
    entries: tuple[Entry, ...]
    newest: ReviewedRevision | None

    @property
    def label(self) -> str:
        """The number as people write it."""
        return decision_label(self.number)


class Names:
    """Printed names by token; who was erased has none any more."""

    def __init__(self) -> None:
        self._names = dict(Person.objects.values_list("token", "display_name"))

    def __call__(self, token: object) -> str:
        """Return the printed name of a person, ``system`` where there is nobody."""
        return "system" if not token else self._names.get(str(token)) or ERASED


def decision_numbers(rules: Rules) -> list[int]:
    """Return the decisions that the replayed log made a revision of."""
    known = rules.decisions.items()
    return sorted(number for number, said in known if type(number) is int and number > 0 and said["revisions"])


def entries_about(own: Sequence[int]) -> tuple[Entry, ...]:
    """Return entries by their rows, in that order.

    Raises:
        ValueError: one of them or its payload is no JSON.
    """
    found: dict[int, Entry] = {}
    for at in range(0, len(own), _ROWS):
        rows = AuditEntry.objects.filter(pk__in=own[at : at + _ROWS]).values_list("pk", "data", "payload__data")
        found |= {pk: _entry(data, payload) for pk, data, payload in rows}
    return tuple(found[pk] for pk in own)


def planned_numbers(rules: Rules, number: int) -> list[int]:
    """Return the revisions of a decision that are planned, in order."""
    return [revision for revision, said in rules.decisions[number]["revisions"].items() if "plan_sha256" in said]


def planned_revision(rules: Rules, number: int, revision: int, entries: Sequence[Entry]) -> ReviewedRevision:
    """Return a planned revision of a decision; ``entries`` are those about the decision.

    Raises:
        TamperedError: the stored plan is not the one that the log names.
    """
    said = rules.decisions[number]["revisions"][revision]
    planned = (one.fields for one in entries if one.action == "revision.planned" and one.fields["revision"] == revision)
    facts = PlannedFacts(
        label=revision_label(number, revision),
        slot=said["slot"],
        subject=said["subject"],
        contract=said["contract_file_sha256"],
        evidence=said["evidence_file_sha256"],
        policy=said["policy"],
        plan=said["plan_sha256"],
        planner_version=said["planner_version"],
        planned_at=[fields["at"] for fields in planned][-1],
    )
    plan = plan_tree(blob_read(facts.plan, "plan"))
    return ReviewedRevision(number=revision, facts=facts, plan=plan, said=said)


def persons(entry: Entry, names: Names) -> str:
    """Name who did what an entry records, and before them who proposed it where that took two persons."""
    first = [names(entry.payload["proposed_by"])] if entry.payload.get("proposed_by") else []
    return " and ".join([*first, names(entry.fields["actor"])])


def reviewed_decision(number: int, entries: tuple[Entry, ...], newest: ReviewedRevision | None) -> ReviewedDecision:
    """Return a decision with the entries about it."""
    created = next((entry.payload for entry in entries if entry.action == "revision.created"), {})
    return ReviewedDecision(
        number=number,
        title=str(created.get("title", "")),
        slot=str(created.get("slot", "")),
        entries=entries,
        newest=newest,
    )


def _entry(data: bytes | memoryview, payload: bytes | memoryview | None) -> Entry:
    said = {} if payload is None else msgspec.json.decode(bytes(payload))
    return Entry(fields=msgspec.json.decode(bytes(data)), payload=said)
