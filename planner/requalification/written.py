"""What has to be qualified again as files: JSON for programs (``topogate.requalification/v1``), Markdown for a ticket.

Rules kept: equal answers give equal bytes; text of documents is escaped where Markdown or HTML would act on it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from planner.document_diff import ABSENT
from planner.requalification import Change, Requalification
from planner.shown import printable, shown

__all__ = ["UNCOUNTED", "because_text", "change_sides", "requalification_markdown", "requalification_tree"]

UNCOUNTED = ("age", "limit", "contract")
"""Kinds of which ``requalify_on`` says nothing."""


def requalification_tree(answer: Requalification) -> dict[str, Any]:
    """Return the answer in values of JSON; what was or is not there is null."""
    names = ("key", "kind", "section", "before", "after", "counts", "load_point")
    changes = [{name: getattr(change, name) for name in names} for change in answer.changes]
    return {
        "schema": "topogate.requalification/v1",
        "changes": [{**each, "before": _json(each["before"]), "after": _json(each["after"])} for each in changes],
        "gates": [asdict(gate) for gate in answer.gates],
        "runs": [asdict(run) for run in answer.runs],
        "sections": answer.sections,
        "kept": [asdict(gate) for gate in answer.kept],
        "kept_runs": answer.kept_runs,
    }


def change_sides(change: Change) -> tuple[str, str]:
    """Return what was decided and what is found, each on one short line."""
    return shown(_json(change.before)), shown(_json(change.after))


def because_text(keys: tuple[str, ...]) -> str:
    """Return the first key, and how many more there are."""
    return f"{keys[0]} and {len(keys) - 1} more" if len(keys) > 1 else keys[0]


def requalification_markdown(answer: Requalification, title: str, owners: Sequence[str]) -> str:
    """Return the answer as Markdown, a line feed at the end; ``owners`` are who answers for each change."""
    return "\n".join((f"# {_escaped(title)}", *_parts(answer, owners))) + "\n"


def _parts(answer: Requalification, owners: Sequence[str]) -> Iterator[str]:
    if not answer.changes:
        yield from ("", "Nothing changed.")
        return
    yield from _table(
        "Changed",
        ("key", "kind", "owned by", "decided", "found", "ends the decision"),
        (_change_row(change, owner) for change, owner in zip(answer.changes, owners, strict=True)),
    )
    for how, heading in (("measure", "Measure again"), ("judge", "Judge again on the evidence there is")):
        held = [gate for gate in answer.gates if gate.how == how]
        rows = ((gate.gate, ", ".join(gate.limits), because_text(gate.because)) for gate in held)
        yield from _table(heading, ("gate", "limits", "because"), rows)
    runs = ((run.run, ", ".join(run.trials), because_text(run.because)) for run in answer.runs)
    yield from _table("Run again", ("run", "trials that had it", "because"), runs)
    yield from _table("Stays valid", ("gate", "limits"), ((gate.gate, ", ".join(gate.limits)) for gate in answer.kept))
    yield from _table("Runs that stay valid", ("run",), ((run,) for run in answer.kept_runs))


def _change_row(change: Change, owner: str) -> tuple[str, ...]:
    counts = "" if change.kind in UNCOUNTED else "yes" if change.counts else "no: not in requalify_on"
    where = f"{change.kind} at {change.load_point}" if change.load_point else change.kind
    return (change.key, where, owner, *change_sides(change), counts)


def _table(heading: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    lines = [f"| {' | '.join(map(_escaped, row))} |" for row in rows]
    if lines:
        yield from ("", f"## {heading}", "", f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *lines)


def _escaped(text: str) -> str:
    """Escape what Markdown or HTML would act on, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|&~])", r"\\\1", " ".join(printable(text).split()))


def _json(value: Any) -> Any:
    return None if value is ABSENT else value
