"""The decision record of one decision, in the form that architectural decision records have (MADR 4).

Everything that people wrote is quoted as text: no line of it can become a heading, a list or a link of the record.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from reviews.bundle.reviewed import Entry, Names, ReviewedDecision, persons
from reviews.markdown import plain

OUTCOMES = {
    "decision.activated": "in force",
    "decision.rolled_back": "in force, by rollback",
    "emergency.declared": "in force as an emergency",
    "decision.superseded": "superseded",
    "decision.withdrawn": "withdrawn",
    "decision.rejected": "rejected",
    "decision.closed": "closed without a selection",
    "decision.revoked": "revoked",
    "decision.ran_out": "revoked: its emergency ran out",
    "decision.contested": "contested",
    "decision.stale": "stale",
    "decision.expired": "expired",
}
"""Action -> the status of a record after it."""
PROPOSED = "proposed"
IN_FORCE = ("decision.activated", "decision.rolled_back", "emergency.declared")
MOST_OPTIONS = 50
PARTS = {
    "subject": "subject",
    "contract file": "contract",
    "evidence file": "evidence",
    "plan file": "plan",
    "policy": "policy",
}
"""What a digest is called, as pages call it -> the fact that holds it."""
_MARKS_IN_YAML = frozenset('\\"`*_{}[]<>#!|~&')


def status_of(decision: ReviewedDecision) -> str:
    """Return what became of a decision, as far as its entries say."""
    found = (OUTCOMES[entry.action] for entry in reversed(decision.entries) if entry.action in OUTCOMES)
    return next(found, PROPOSED)


def put_into_force(decision: ReviewedDecision) -> Entry | None:
    """Return the entry that last put a revision of a decision into force."""
    return next((entry for entry in reversed(decision.entries) if entry.action in IN_FORCE), None)


def decision_record(decision: ReviewedDecision, names: Names) -> bytes:
    """Return the record."""
    lines = (*_head(decision, names), *_options(decision), *_outcome(decision, names), *_more(decision))
    return "\n".join(lines).encode()


def _head(decision: ReviewedDecision, names: Names) -> Iterator[str]:
    signed = [entry for entry in decision.entries if entry.action == "signoff.given"]
    authors = {names(entry.fields["actor"]) for entry in decision.entries if entry.action == "revision.created"}
    last = decision.entries[-1].fields["at"][:10] if decision.entries else ""
    yield from ("---", f"status: {status_of(decision)}", f"date: {last}")
    yield f"decision-makers: {_listed({names(entry.payload['person']) for entry in signed})}"
    yield from (f"consulted: {_listed(authors)}", "---", "", f"# {decision.label}: {plain(decision.title)}", "")
    yield from ("## Context and Problem Statement", "")
    yield f"Which topology serves the slot {plain(decision.slot)}?"
    if decision.newest:
        said = decision.newest.said
        yield f"Judged as of {plain(said['as_of'])} by planner {plain(said['planner_version'])}."
    yield ""


def _options(decision: ReviewedDecision) -> Iterator[str]:
    yield from ("## Considered Options", "")
    candidates = decision.newest.plan["candidates"] if decision.newest else {}
    for trial, candidate in list(candidates.items())[:MOST_OPTIONS]:
        blocked = [*candidate["failing"], *candidate["unknown"]]
        because = f", not passed: {', '.join(map(plain, blocked))}" if blocked else ""
        yield f"* {plain(trial)}: {plain(candidate['topology'])} ({candidate['state'].lower()}{because})"
    if len(candidates) > MOST_OPTIONS:
        yield f"* and {len(candidates) - MOST_OPTIONS} more, which the plan lists"
    if not candidates:
        yield "* none yet: there is no plan"
    yield ""


def _outcome(decision: ReviewedDecision, names: Names) -> Iterator[str]:
    yield from ("## Decision Outcome", "")
    put = put_into_force(decision)
    if put is not None:
        yield f"Chosen option: {plain(put.payload['trial'])} ({plain(put.payload['topology'])})."
        who, why = plain(persons(put, names)), plain(put.fields["reason"] or "")
        yield f"Put into force by {who} on {plain(put.fields['at'])}: {why}"
        yield from ("", "### Consequences", "", *_consequences(put))
    else:
        word = decision.newest.plan["decision"] if decision.newest else "no plan yet"
        yield f"Nothing was put into force. The planner says: {plain(word)}."
    yield from ("", "### Confirmation", "")
    for entry in decision.entries:
        if entry.action in ("signoff.given", "signoff.withdrawn", "signoff.carried"):
            yield f"* {_signoff(entry, names)}"
    yield ""


def _consequences(put: Entry) -> Iterator[str]:
    until = put.payload.get("valid_until") or put.payload.get("until")
    yield f"* Valid until: {plain(until) if until else 'nothing limits it'}"
    yield f"* To go back to: {plain(put.payload.get('rollback') or 'nothing')}"
    if put.payload.get("failing_gates"):
        yield f"* Gates gone past: {', '.join(map(plain, put.payload['failing_gates']))}"


def _signoff(entry: Entry, names: Names) -> str:
    said: Mapping[str, Any] = entry.payload
    who, team = (
        plain(names(said["person"]) if said.get("person") else persons(entry, names)),
        plain(entry.fields["team"]),
    )
    seq, revision = entry.fields["seq"], entry.fields["revision"]
    if entry.action == "signoff.carried":
        return f"{who} for {team}: carried from r{said['from_revision']} to r{said['to_revision']} (entry {seq})"
    if entry.action == "signoff.withdrawn":
        return f"{who} for {team}: taken back: {plain(entry.fields['reason'])} (entry {seq})"
    place = f" in place of {plain(names(said['in_place_of']))}" if said.get("in_place_of") else ""
    meaning = plain(said["meaning"].replace("_", " "))
    return f"{who}{place} for {team} on r{revision}: {meaning}. {plain(said['statement'])} (entry {seq})"


def _more(decision: ReviewedDecision) -> Iterator[str]:
    yield from ("## More Information", "")
    if decision.newest:
        facts = decision.newest.facts
        for name, fact in PARTS.items():
            yield f"* {name}: {getattr(facts, fact)}"
    yield f"* {len(decision.entries)} entries of the log are about this decision."
    yield ""


def _listed(names: set[str]) -> str:
    return ", ".join(map(_quoted, sorted(names))) or "nobody yet"


def _quoted(name: str) -> str:
    """Return a name as YAML 1.2 quotes it; what Markdown or HTML would read as a mark stands there by its number."""
    line = " ".join(name.split())
    shown = (one if one.isprintable() and one not in _MARKS_IN_YAML else f"\\U{ord(one):08x}" for one in line)
    return f'"{"".join(shown)}"'
