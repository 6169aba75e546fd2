"""What a person has to say, or may: every field that the document needs and no file fills, as a short form.

Rules kept: a question that a file answered is not asked; a hint, a name or the contract's own value is only a proposal
that a person confirms; what must always be asked (revision of the model, state of the cache, which files belong
together, warm-up or counted) is needed; the rest of the identity may be left open, and the gates then say so.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from planner.builder.degrees import proposed_instances, stated_instances
from planner.builder.facts import RunFacts, facts_of
from planner.builder.files import file_of, run_of
from planner.builder.naming_proposals import device_proposal, link_proposal, rank_map_proposal
from planner.builder.placing import ALL, feeding
from planner.builder.pointing import most_exact, variants
from planner.builder.records import Draft, DraftWindow
from planner.builder.resolving import Found, Resolved
from planner.builder.shapes import choices_of, kind_of
from planner.builder.state import Proposal, Question, QuestionKind
from planner.builder.times import span_before
from planner.builder.trial_tree import TrialTree
from planner.documents import ContractDocument
from planner.identity import UNKNOWN, contract_leaves
from planner.importers.quantities import QUANTITIES
from planner.natural_order import natural
from planner.pointers import joined, steps

__all__ = ["questions_of"]

Path = tuple[str, ...]

ALWAYS_ASKED = (("model", "revision"), ("workload", "prefix_cache"))
"""Leaves of the identity that no file of a benchmark says and that no decision does without."""

_TEXT: Mapping[Path, str] = {
    ("model", "revision"): "Which revision (commit) of the model ran?",
    ("stack", "engine", "name"): "Which engine served?",
    ("stack", "engine", "version"): "Which version of the engine?",
    ("stack", "driver", "version"): "Which driver?",
    ("stack", "collective_library", "version"): "Which version of the collective library?",
    ("workload", "prefix_cache"): "Was the prefix cache on, and was it warm?",
    ("precision", "weights"): "In which number format were the weights?",
    ("precision", "activations"): "In which number format were the activations?",
    ("precision", "kv_cache"): "In which number format was the KV cache?",
}


_THINGS = {"devices": "device", "nodes": "node", "nics": "NIC", "islands": "island", "links": "link"}
_HARDWARE: Mapping[Path, str] = {
    ("devices", "node"): "On which node was the device?",
    ("devices", "type"): "Of which type was the device?",
    ("devices", "memory_bytes"): "How many bytes of memory had the device?",
    ("nics", "node"): "On which node was the NIC?",
    ("nics", "use"): "What was the NIC used for?",
    ("islands", "devices"): "Which devices did the island join?",
    ("islands", "kind"): "Of which kind was the island?",
    ("islands", "bytes_per_s_one_way"): "How many bytes per second did the island carry in one direction?",
    ("links", "class"): "Of which class was the link?",
    ("links", "nic"): "On which NIC was the link?",
    ("links", "bytes_per_s_one_way"): "How many bytes per second did the link carry in one direction?",
}
"""Leaves of hardware, asked in the same words of every device or the like, so that one answer may do for all."""


def questions_of(draft: Draft, contract: ContractDocument, trees: Mapping[str, TrialTree]) -> tuple[Question, ...]:
    """Return every question, answered ones too, in the order in which a form asks them."""
    asked = [*_provenance(draft, trees)]
    for name, tree in trees.items():
        own = [*_of_trial(draft, contract, tree)]
        for window, held in draft.trials[name].windows.items():
            own += _of_window(draft, contract, tree, window, held)
        own += _of_identity(draft, contract, tree)
        own += _of_runs(draft, tree, {question.field for question in own})
        asked += own
    return tuple(asked)


def _question(
    draft: Draft,
    field: str,
    text: str,
    group: str,
    *,
    needed: bool = True,
    kind: QuestionKind | None = None,
    choices: tuple[str, ...] = (),
    rows: tuple[str, ...] = (),
    unit: str = "",
    proposals: Sequence[Proposal] = (),
) -> Question:
    path = steps(field)
    said = most_exact(draft.answers, field)
    return Question(
        field=field,
        answer_at=variants(field),
        group=group,
        trial=path[1] if path[0] in ("trials", "identities") else None,
        window=path[3] if path[2:3] == ("windows",) else None,
        kind=kind or kind_of(field),
        question=text,
        unit=unit,
        choices=choices or choices_of(field),
        rows=rows,
        needed=needed,
        proposals=tuple(proposals),
        answered=None if said is None else said[0],
        answer=None if said is None else said[1].value,
    )


# The whole document


def _provenance(draft: Draft, trees: Mapping[str, TrialTree]) -> Iterator[Question]:
    said = {to for tree in trees.values() for to in tree.placing.found if to.startswith("/provenance/")}
    yield _question(draft, "/provenance/collected_by", "Who or which program collected the evidence?", "provenance")
    ends = sorted(str(what.value) for tree in trees.values() for to, what in tree.values.items() if to.endswith("/end"))
    last = [Proposal(value=ends[-1], sentence="the end of the last window")] if ends else []
    text = "When was it collected, in UTC?"
    yield _question(draft, "/provenance/collected_at", text, "provenance", proposals=last)
    if "/provenance/tool/name" not in said:
        yield _question(draft, "/provenance/tool/name", "Which program wrote the figures?", "provenance")
    if "/provenance/tool/version" not in said:
        unknown = [Proposal(value=UNKNOWN, sentence="no file says the version of its tool")]
        text = "Which version of the program that wrote the figures?"
        yield _question(draft, "/provenance/tool/version", text, "provenance", proposals=unknown)


# A trial


def _of_trial(draft: Draft, contract: ContractDocument, tree: TrialTree) -> Iterator[Question]:
    at = joined(("trials", tree.id))
    sure = [Proposal(value=True, sentence=draft.trials[tree.id].why or "a person arranged it")]
    text = "Do all files of this trial belong to the same runs on the same machine?"
    yield _question(draft, f"{at}/same_run", text, "trial", proposals=sure)
    if f"{at}/topology/layout" not in tree.fields:
        text = "Which engine's layout of ranks was it?"
        yield _question(draft, f"{at}/topology/layout", text, "trial", proposals=_layouts(tree))
    yield from _degrees(draft, contract, tree)
    proposal = rank_map_proposal(contract, tree.names, tree.placing.measured)
    text = "Which device of which node did each rank use?"
    yield _question(draft, f"{at}/rank_map", text, "trial", proposals=[proposal] if proposal else [])
    if tree.placing.devices:
        rows = tuple(sorted(tree.placing.devices, key=natural))
        named = device_proposal(contract, rows, tree.names)
        known = tuple(contract.record.identity.hardware.devices)
        text = "Which device of the contract is each device of the files?"
        yield _question(
            draft,
            f"{at}/device_names",
            text,
            "trial",
            needed=bool(tree.placing.measured),
            choices=known,
            rows=rows,
            proposals=[named] if named else [],
        )
    if tree.placing.links:
        links = contract.record.identity.hardware.links
        rows = tuple(sorted(tree.placing.links, key=natural))
        known = () if links is UNSET else tuple(links)
        text = "Which link of the contract is each port of the files?"
        named = link_proposal(rows, known)
        proposals = [named] if named else []
        yield _question(
            draft, f"{at}/link_names", text, "trial", choices=known, rows=rows, needed=False, proposals=proposals
        )


def _layouts(tree: TrialTree) -> list[Proposal]:
    """Propose the layout of the engine that a file names."""
    engine = tree.values.get(joined(("identities", tree.id, "stack", "engine", "name")))
    name = str(engine.value).lower() if engine is not None else ""
    layout = {"vllm": "vllm", "sglang": "sglang", "tensorrt-llm": "trtllm", "trtllm": "trtllm"}.get(name)
    return [Proposal(value=layout, sentence=f"the engine is {engine.value}")] if layout and engine else []


def _degrees(draft: Draft, contract: ContractDocument, tree: TrialTree) -> Iterator[Question]:
    at = joined(("trials", tree.id))
    stated = stated_instances(draft, tree.id, tree.placing.found)
    answered = most_exact(draft.answers, f"{at}/topology/instances")
    if f"{at}/topology/instances" in tree.values and answered is None:
        return
    layout = tree.values.get(f"{at}/topology/layout")
    moe = contract.record.identity.model.architecture == "moe"
    value = proposed_instances(stated or _hinted(draft, tree), layout.value if layout else None, moe=moe)
    known = sorted({name for one in stated for name in one})
    said = f"files state {', '.join(known)}; " if known else "no file states a degree; "
    sentence = f"{said}every other degree as 1 and the product as world size have to be confirmed"
    text = "Which degrees and world size had each engine instance?"
    proposals = [Proposal(value=value, sentence=sentence)]
    yield _question(draft, f"{at}/topology/instances", text, "trial", proposals=proposals)


def _hinted(draft: Draft, tree: TrialTree) -> Sequence[Any]:
    """Return degrees that names hint at, in the form of stated ones."""
    hints: dict[str, int] = {}
    for run, _, read in feeding(draft, draft.trials[tree.id]):
        for name, degree in facts_of(run, file_of(draft, run), read).hints.items():
            hints.setdefault(name, degree)
    return [{name: ((), Resolved(value=degree)) for name, degree in hints.items() if name not in ("cp", "dcp")}]


# A window


def _of_window(
    draft: Draft, contract: ContractDocument, tree: TrialTree, window: str, held: DraftWindow
) -> Iterator[Question]:
    at = joined(("trials", tree.id, "windows", window))
    loads = [facts_of(run, file_of(draft, run), run_of(draft, run)) for run in held.runs]
    if held.load_point is None:
        known = tuple(sorted(contract.record.identity.workload.load_points))
        text = "At which load point of the contract was it measured?"
        yield _question(draft, f"{at}/load_point", text, "window", kind="choice", choices=known)
    text = "Was this a warm-up, or does it count?"
    yield _question(draft, f"{at}/purpose", text, "window", proposals=[_purpose(loads)])
    spans = list(_span(loads))
    for end, name in enumerate(("start", "end")):
        if f"{at}/{name}" not in tree.fields:
            proposals = [Proposal(value=span[end], sentence=why, run=run) for span, why, run in spans]
            text = f"When did it {name}, in UTC?"
            yield _question(draft, f"{at}/{name}", text, "window", proposals=proposals)


def _purpose(loads: Sequence[RunFacts]) -> Proposal:
    first = [facts for facts in loads for remark in facts.run.remarks if remark.code == "import/first_repeat"]
    if first:
        sentence = "the first of its repeats, perhaps of a cold server"
        return Proposal(value="warmup", sentence=sentence, run=first[0].id)
    return Proposal(value="counted", sentence="nothing in the files says that it was a warm-up")


def _span(loads: Sequence[RunFacts]) -> Iterator[tuple[tuple[str, str], str, str]]:
    """Yield start and end as a local time would give them, were it UTC."""
    for facts in loads:
        local, seconds = facts.value("local_time"), facts.value("duration_s")
        span = None if local is None or seconds is None else span_before(str(local.value), seconds.value)
        if span is not None:
            yield span, "the file's local time as the end, taken as UTC: its zone is not in the file", facts.id


# The identity


def _of_identity(draft: Draft, contract: ContractDocument, tree: TrialTree) -> Iterator[Question]:
    """Ask for every leaf that the contract binds and no file says, the contract's value as what to confirm."""
    for path, bound in contract_leaves(contract.record.identity).items():
        to = joined(("identities", tree.id, *path))
        if tree.fields.get(to):
            continue
        always = any(path[: len(wanted)] == wanted for wanted in ALWAYS_ASKED)
        text = _TEXT.get(path) or _TEXT.get(path[:2]) or _asked_of(path)
        hinted = [_hint(one) for one in _hints_of(tree, path)]
        named = Proposal(value=bound, sentence="what the contract names; confirm it only where it was really so")
        # What a file hints at comes first: it may be right where the contract is not.
        proposals = [*hinted, named]
        yield _question(draft, to, text, path[0], needed=always, proposals=proposals)


def _asked_of(path: Path) -> str:
    """Ask for a leaf; of hardware in the same words for every device or the like."""
    if path[0] == "hardware" and len(path) > 3:
        thing = _THINGS.get(path[1], path[1])
        return _HARDWARE.get((path[1], *path[3:])) or f"What was {'.'.join(path[3:])} of the {thing} really?"
    return f"What was {'.'.join(path)} really?"


def _hints_of(tree: TrialTree, path: Path) -> Iterator[Found]:
    """Yield hints of a leaf, of an object around it, and of every device alike."""
    at = ("identities", tree.id)
    for length in range(1, len(path) + 1):
        yield from tree.placing.hints.get(joined((*at, *path[:length])), ())
    if path[:2] == ("hardware", "devices"):
        yield from tree.placing.hints.get(joined((*at, *path[:2], ALL, *path[3:])), ())


def _hint(one: Found) -> Proposal:
    sentence = f"{one.format} says {one.read.name} {one.value}, which is a hint"
    return Proposal(value=one.value, sentence=sentence, run=one.run, place=one.read.place)


# What importers ask beyond


def _of_runs(draft: Draft, tree: TrialTree, known: set[str]) -> Iterator[Question]:
    """Ask what importers ask of the runs in use and nothing above asks; measurements may stay open."""
    seen = set(known)
    around = {above for field in known for above in _above(field)}
    for _, window, read in feeding(draft, draft.trials[tree.id]):
        for asked in read.asked:
            to = _field(tree.id, window, asked.document, asked.field)
            # No question stands in another one's field, or around it.
            if to is None or to in seen or to in around or tree.has(to) or not known.isdisjoint(_above(to)):
                continue
            seen.add(to)
            unit = QUANTITIES[asked.name].unit if asked.name in QUANTITIES else ""
            yield _question(draft, to, asked.question, "asked", needed=False, unit=unit)


def _above(field: str) -> Iterator[str]:
    """Yield the pointers of what a field stands in."""
    at = field.rpartition("/")[0]
    while at:
        yield at
        at = at.rpartition("/")[0]


def _field(trial: str, window: str | None, document: str | None, field: str | None) -> str | None:
    """Return the field of a question in this trial and window, None where it belongs to no field here."""
    if document != "evidence" or field is None or field == "/provenance/files":
        return None
    path = list(steps(field))
    if path[:1] == ["identities"]:
        path[1] = trial
    elif path[:1] == ["trials"]:
        path[1] = trial
        if path[2:3] == ["windows"]:
            if window is None:
                return None
            path[3] = window
    return None if any(step in ("<id>", "<index>") for step in path) else joined(path)
