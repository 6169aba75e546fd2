"""Everything that is to be said of a draft at once, for a page, the API and the command line."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from planner.builder.assembly import assembled
from planner.builder.by_hand import asked_by_hand, with_asked
from planner.builder.conflicts import conflicts_of
from planner.builder.coverage import judged_trials
from planner.builder.facts import RunFacts, facts_of
from planner.builder.files import file_of, placed_runs, runs_of
from planner.builder.grouping import repeats, why_unused
from planner.builder.pointing import ANY
from planner.builder.questions import questions_of
from planner.builder.records import Draft, ReadRun
from planner.builder.shapes import DEVICE_NAMES
from planner.builder.state import DraftState, HeldRun, Prediction, Question, RunNote, TrialCoverage, Unplaced
from planner.builder.trees import Trees, trees_of
from planner.documents import ContractDocument
from planner.pointers import joined, steps

__all__ = ["state_of"]

DEVICES = ("hardware", "devices")


def state_of(draft: Draft, contract: ContractDocument, as_of: str) -> DraftState:
    """Return what is open, what is known, and what the gates lack.

    ``as_of`` (``YYYY-MM-DDThh:mm:ssZ``) is when the age of evidence is judged, as for a plan.

    Raises:
        ValueError: ``as_of`` is no such time.
    """
    trees = trees_of(draft, contract)
    questions = questions_of(draft, contract, trees.trials)
    made = assembled(draft, contract, trees, questions)
    judged = judged_trials(draft, contract, trees, questions, as_of)
    by_hand = asked_by_hand(draft, questions, judged.coverage)
    return DraftState(
        complete=bool(made.document),
        questions=tuple(_with_gates((*questions, *by_hand), judged.coverage)),
        conflicts=conflicts_of(draft, trees),
        held=tuple(_held(draft)),
        refused=tuple(_refused(draft)),
        unused=tuple(_unused(draft, contract)),
        repeated=tuple(_repeated(draft)),
        idle=tuple(_idle(draft)),
        unplaced=tuple(_unplaced(draft, trees)),
        predictions=tuple(_predictions(draft)),
        differences=judged.differences,
        checks=judged.checks,
        coverage=with_asked(judged.coverage, by_hand),
        open=made.open,
    )


def _with_gates(questions: Iterable[Question], coverage: Iterable[TrialCoverage]) -> Iterator[Question]:
    """Add to each question the gates that lack its answer; names of devices stand for what files say of devices."""
    titles: dict[str, dict[str, None]] = {}
    for trial in coverage:
        for gate in trial.gates:
            for lack in gate.lacks:
                path = steps(lack.field)
                named = {joined(("trials", trial.trial, DEVICE_NAMES))} if path[2:4] == DEVICES else set()
                for field in (lack.field, *named):
                    titles.setdefault(field, {})[gate.title] = None
    for question in questions:
        yield replace(question, gates=tuple(titles.get(question.field, ())))


def _reasons(read: ReadRun, effect: str) -> tuple[str, ...]:
    return tuple(remark.sentence for remark in read.remarks if remark.effect == effect)


def _held(draft: Draft) -> Iterator[HeldRun]:
    earlier = {file.before for file in draft.files.values()}
    for run, file, read in runs_of(draft.files):
        if read.status == "held" and run not in draft.left_out and file.sha256 not in earlier:
            decision = draft.held.get(run)
            decided = None if decision is None else decision.use
            yield HeldRun(run=run, file=file.name, reasons=_reasons(read, "held"), decided=decided)


def _refused(draft: Draft) -> Iterator[RunNote]:
    for run, file, read in runs_of(draft.files):
        if read.status == "refused":
            yield RunNote(run=run, file=file.name, sentence="; ".join(_reasons(read, "refused")))


def _unused(draft: Draft, contract: ContractDocument) -> Iterator[RunNote]:
    used = {run for trial in draft.trials.values() for run in placed_runs(trial)}
    repeated = repeats(draft)
    for run, file, read in runs_of(draft.files):
        if run in used or read.status == "refused" or run in repeated:
            continue
        yield RunNote(run=run, file=file.name, sentence=_why_unused(facts_of(run, file, read), draft, contract))


def _why_unused(facts: RunFacts, draft: Draft, contract: ContractDocument) -> str:
    out, decision = draft.left_out.get(facts.id), draft.held.get(facts.id)
    if out is not None:
        return f"left out: {out.because}"
    if decision is not None and not decision.use:
        return f"not to be used: {decision.because}"
    return why_unused(facts, draft, contract)


def _idle(draft: Draft) -> Iterator[str]:
    """Yield what was said of trials and windows that are not there (any more)."""
    for at in sorted({*draft.answers, *draft.settled}):
        path = steps(at)
        if path[0] not in ("trials", "identities") or len(path) < 2:
            continue
        trials = [trial for name, trial in draft.trials.items() if path[1] in (ANY, name)]
        in_window = path[0] == "trials" and path[2:3] == ("windows",) and path[3:4] != (ANY,)
        if not trials or (in_window and not any(path[3] in trial.windows for trial in trials)):
            yield at


def _repeated(draft: Draft) -> Iterator[RunNote]:
    for run, first in sorted(repeats(draft).items()):
        file, earlier = file_of(draft, run), file_of(draft, first)
        sentence = f"the same figures as run {first.partition('.')[2]} of {earlier.name}: taken twice, it counts twice"
        yield RunNote(run=run, file=file.name, sentence=sentence)


def _unplaced(draft: Draft, trees: Trees) -> Iterator[Unplaced]:
    for tree in trees.trials.values():
        for (run, sentence), names in tree.placing.unplaced.items():
            file = file_of(draft, run).name
            yield Unplaced(trial=tree.id, run=run, file=file, names=tuple(names), sentence=sentence)


def _predictions(draft: Draft) -> Iterator[Prediction]:
    for run, file, read in runs_of(draft.files):
        for value in read.values:
            if value.standing == "predicted":
                yield Prediction(run=run, file=file.name, value=value)
