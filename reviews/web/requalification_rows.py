"""What has to be measured again as rows of text: changed keys by what told them, gates, runs, what stays. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from planner.document_diff import ABSENT
from planner.requalification import AffectedGate, Change
from planner.requalification.written import UNCOUNTED, because_text
from planner.shown import shown
from reviews.clock import when
from reviews.models import DecisionState
from reviews.policies.document import team_title
from reviews.selectors.requalification import Because, RequalificationView, Told
from reviews.web.formats import DIGEST, ago, count, listed, moment, short_digest
from reviews.web.page_rows import Strip
from reviews.web.words import Word

__all__ = ["RequalificationTable", "requalification_strips", "requalification_table"]

MOST_KEYS = 100
"""Changed keys of one source that a page shows; the files have all."""
KINDS: Mapping[str, str] = {
    "collective_library": "collective library",
    "age": "age of evidence",
    "contract": "contract, beside identity and limits",
}
COUNTS = Word("Ends the decision", "stale", "unk")
LET_PASS = Word("Let pass", "na", "na")
NOT_BOUND = Word("Judged, not bound", "nd", "nd")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """A changed key."""

    key: str
    kind: str
    team: str
    before: str
    after: str
    word: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """What told some changes: ``text`` says what was held against what; ``more`` is how many keys are not shown."""

    id: Because
    title: str
    text: str
    total: int
    changes: tuple[ChangeRow, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """A gate that does not hold any more."""

    gate: str
    limits: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run to be made again."""

    run: str
    href: str
    trials: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RequalificationTable:
    """Everything that the page shows."""

    sources: tuple[SourceRow, ...]
    measured: tuple[GateRow, ...]
    judged: tuple[GateRow, ...]
    runs: tuple[RunRow, ...]
    kept: tuple[tuple[str, str], ...]
    kept_runs: tuple[str, ...]
    kept_text: str
    counted: str


def requalification_strips(found: RequalificationView) -> tuple[Strip, ...]:
    """Say first whether anything has to be done, then what ends the decision, then what is not told."""
    answer = found.answer
    measured = sum(gate.how == "measure" for gate in answer.gates)
    judged = len(answer.gates) - measured
    is_stale = found.page.state == DecisionState.STALE
    strips = [_stale_strip(found)] if is_stale else []
    if answer.gates or answer.runs:
        teams = tuple(dict.fromkeys(team_title(each.team) for each in found.told))
        lead = f"{count(len(answer.runs), 'run')} to be made again." if answer.runs else "No run has to be made again."
        text = f"{count(measured, 'gate')} measured again, {judged} judged again on the evidence there is."
        strips.append(Strip(lead=lead, text=f"{text} Owned by {listed(teams)}.", icon="stale", css="unk"))
    elif not is_stale:
        lead = "Nothing has to be measured again." if not found.told else "What changed touches no gate and no run."
        strips.append(Strip(lead=lead, text=f"Held against {found.page.label} r{found.base.number}.", icon="pass"))
    if found.too_large:
        text = f"{found.too_large} `topogate requalify` tells trials and ages."
        strips.append(Strip(lead="Trials are not told here.", text=text, icon="unk", css="unk"))
    return tuple(strips)


def _stale_strip(found: RequalificationView) -> Strip:
    """Say why a decision is stale, and what ends that."""
    because = found.page.state_because or "What ended it is in the history."
    touches = found.answer.gates or found.answer.runs
    steps = "Measure and judge that again" if touches else "Have the hosts report every key"
    return Strip(
        lead="It is stale.",
        text=because if touches else f"{because} No gate and no run is known to be touched by that.",
        icon="stale",
        css="unk",
        more=f"{steps}, then submit a new revision: only that puts it into force again.",
        href="../identity/",
        action="What runs now",
    )


def requalification_table(
    found: RequalificationView, now: datetime, run_href: Callable[[str], str]
) -> RequalificationTable:
    """Return the rows; ``run_href`` makes the address of a run's cells from its name."""
    answer = found.answer
    return RequalificationTable(
        sources=tuple(_sources(found, now)),
        measured=tuple(_gate_row(gate) for gate in answer.gates if gate.how == "measure"),
        judged=tuple(_gate_row(gate) for gate in answer.gates if gate.how == "judge"),
        runs=tuple(
            RunRow(run=run.run, href=run_href(run.run), trials=run.trials, because=because_text(run.because))
            for run in answer.runs
        ),
        kept=tuple((gate.gate, ", ".join(gate.limits)) for gate in answer.kept),
        kept_runs=answer.kept_runs,
        kept_text=f"{count(len(answer.kept), 'gate')}, {count(len(answer.kept_runs), 'run')}",
        counted=_counted(found),
    )


def _sources(found: RequalificationView, now: datetime) -> list[SourceRow]:
    told: dict[Because, list[Told]] = {"report": [], "age": [], "contract": []}
    for each in found.told:
        told[each.because].append(each)
    titles: dict[Because, str] = {"report": "The hosts", "age": "Age of the evidence", "contract": "The contract"}
    texts: dict[Because, str] = {
        "report": _report_text(found, now),
        "age": _age_text(found, now),
        "contract": _contract_text(found),
    }
    return [
        SourceRow(
            id=name,
            title=titles[name],
            text=texts[name],
            total=len(held),
            changes=tuple(_change_row(each) for each in held[:MOST_KEYS]),
            more=max(0, len(held) - MOST_KEYS),
        )
        for name, held in told.items()
    ]


def _report_text(found: RequalificationView, now: datetime) -> str:
    if found.given:
        ranks = "" if found.was_in_force else " Nothing was put into force, so places of ranks are not compared."
        return f"Of {count(found.given, 'file')} that {'was' if found.given == 1 else 'were'} given, not stored.{ranks}"
    if not found.was_in_force:
        return "Nothing was put into force, so no host is held against it."
    if found.reported_at is None:
        return "No host has reported since the decision was put into force."
    return f"Newest report {when(found.reported_at)} UTC ({ago(found.reported_at, now)}), of all hosts."


def _age_text(found: RequalificationView, now: datetime) -> str:
    if found.max_age_s is None:
        return "The contract sets no largest age of evidence."
    most = f"At most {found.max_age_s:,} s."
    if found.next_age is None:
        return most
    at = moment(found.next_age.at)
    which = f"{found.next_age.trial} at {found.next_age.load_point}"
    return f"{most} Next, {which} is too old after {when(at)} UTC ({ago(at, now)})."


def _contract_text(found: RequalificationView) -> str:
    base = f"r{found.base.number}, which was {'put into force' if found.was_in_force else 'submitted last'}"
    if found.is_thought_of:
        return f"The contract that was given, against {base}. It was not stored."
    if found.compared is None:
        return f"The same contract as in {base}."
    return f"r{found.compared.number} against {base}."


def _change_row(each: Told) -> ChangeRow:
    change = each.change
    before, after = _side(change.before), _side(change.after)
    return ChangeRow(
        key=change.key,
        kind=_kind(change),
        team=team_title(each.team),
        before=before,
        after=after,
        word=NOT_BOUND if change.kind in UNCOUNTED else COUNTS if change.counts else LET_PASS,
    )


def _side(value: Any) -> str:
    """Return a value in short: digests as pages write them, nothing where there is none."""
    if value is ABSENT or value is None:
        return "nothing"
    if isinstance(value, str):
        return short_digest(value) if DIGEST.fullmatch(value) else shown(value, quote=False)
    return shown(value)


def _kind(change: Change) -> str:
    kind = KINDS.get(change.kind, change.kind)
    return f"{kind} at {change.load_point}" if change.load_point else kind


def _gate_row(gate: AffectedGate) -> GateRow:
    return GateRow(gate=gate.gate, limits=", ".join(gate.limits), because=because_text(gate.because))


def _counted(found: RequalificationView) -> str:
    """Say which keys end a decision in force."""
    if found.requalify_on is None:
        return "Every key of the identity ends the decision where it differs: validity.requalify_on is not set."
    named = listed(found.requalify_on) or "nothing"
    return f"validity.requalify_on names {named}: other keys do not end the decision, but are told all the same."
