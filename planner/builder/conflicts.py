"""Sources that say different things of one field, side by side."""

from collections.abc import Iterator, Mapping

from planner.builder.files import file_of
from planner.builder.pointing import ANY, above
from planner.builder.records import Draft
from planner.builder.resolving import Found
from planner.builder.state import Candidate, Conflict
from planner.builder.trees import Trees
from planner.identity import same
from planner.pointers import steps
from planner.shown import shown

__all__ = ["conflict_sentence", "conflicts_of", "open_conflicts"]


def conflicts_of(draft: Draft, trees: Trees) -> tuple[Conflict, ...]:
    """Return every conflict, those that a person settled too, in the order of the document."""
    found = [
        _conflict(draft, to, trees.found[to], what.settled) for to, what in trees.provenance.items() if what.conflict
    ]
    for tree in trees.trials.values():
        found += [_conflict(draft, to, tree.fields[to], settled) for to, settled in sorted(tree.conflicts.items())]
    return tuple(found)


def open_conflicts(draft: Draft, trees: Trees) -> Iterator[Conflict]:
    """Yield the conflicts that nobody settled."""
    return (conflict for conflict in conflicts_of(draft, trees) if not conflict.settled)


def _conflict(draft: Draft, field: str, found: list[Found], settled: bool) -> Conflict:
    return Conflict(
        field=field,
        unit=found[0].read.unit,
        candidates=tuple(
            Candidate(
                value=one.value,
                run=one.run,
                file=file_of(draft, one.run).name,
                format=one.format,
                place=one.read.place,
                raw=one.read.raw,
                raw_unit=one.read.raw_unit,
                standing=one.read.standing,
            )
            for one in found
        ),
        settle_at=tuple(at for at in above(field) if ANY not in steps(at) or _kinds_differ(found)),
        settled=settled,
    )


def _kinds_differ(found: list[Found]) -> bool:
    """Say whether kinds of files tell the sources apart: only then one choice can hold for other trials."""
    return all(same(one.value, other.value) for one in found for other in found if one.format == other.format)


def conflict_sentence(conflict: Conflict) -> str:
    """Say what sources say, shortly."""
    by_value: Mapping[str, None] = dict.fromkeys(
        f"{shown(candidate.value)} ({candidate.file})" for candidate in conflict.candidates
    )
    return f"files say {', '.join(list(by_value)[:4])}: settle which counts"
