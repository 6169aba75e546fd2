"""The record of one decision as Markdown (MADR 4), for a repository of text: what, why, what not, who, until when.

It is of the revision put into force last, else of the newest. It changes only when something does, for it holds
no moment of its making. Names are printed as on the page, to members alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planner.figures import SIGNS, readable
from planner.records.plan import LimitOutcome, Plan
from planner.records.validity import Validity
from reviews.blobs import blob_read
from reviews.markdown import bullets, plain, table
from reviews.models import AuditEntry, Person, SignOff, Workspace
from reviews.planning import contract_tree
from reviews.policies.signoff_status import AGAINST, OBJECT
from reviews.selectors.decision_page import decision_page
from reviews.selectors.rows import DecisionPage, SignOffRow
from reviews.selectors.validity import decision_validity

__all__ = ["decision_record"]

MOST_ROWS = 200
MOST_FLIPS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    page: DecisionPage
    validity: Validity
    contract: Mapping[str, Any]
    plan: Plan | None
    seqs: Mapping[int, int]

    @property
    def chosen(self) -> str:
        """The trial in force, else the one that the planner selects, else ""."""
        if self.validity.decision.in_force:
            return self.validity.decision.in_force.trial
        return self.plan.selected.trial if self.plan and self.plan.selected else ""


def decision_record(*, actor: Person, workspace: Workspace, number: int) -> bytes:
    """Return the record of a decision.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        TamperedError: stored bytes that it tells of were changed.
    """
    found = decision_validity(actor=actor, workspace=workspace, number=number)
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=found.revision.number)
    facts = _Facts(
        page=page,
        validity=found.record(workspace.slug, {}),
        contract=contract_tree(blob_read(found.revision.contract.blob_id, "contract")),
        plan=page.plan(),
        seqs=_seqs(workspace, number),
    )
    parts = (_head, _context, _drivers, _options, _outcome, _flips, _waivers, _signed, _validity, _digests, _verify)
    return "\n".join(line for part in parts for line in part(facts)).encode()


def _seqs(workspace: Workspace, number: int) -> Mapping[int, int]:
    """Return sign-off id -> seq of its entry; turns of one person for a team stand in the order of their entries."""
    waiting: dict[tuple[Any, ...], list[int]] = {}
    entries = AuditEntry.objects.filter(workspace=workspace, action="signoff.given", decision_number=number)
    for *key, seq in entries.order_by("seq").values_list("revision_number", "team", "actor_token", "seq"):
        waiting.setdefault(tuple(key), []).append(seq)
    given = SignOff.objects.filter(revision__decision__workspace=workspace, revision__decision__number=number)
    rows = given.order_by("turn").values_list("revision__number", "team__slug", "person__token", "pk")
    return {pk: waiting[tuple(key)].pop(0) for *key, pk in rows if waiting.get(tuple(key))}


def _head(facts: _Facts) -> Iterator[str]:
    page, told = facts.page, facts.validity.decision
    yield from ("---", f"status: {told.state.lower()}", f"date: {told.state_since[:10]}", "---", "")
    yield from (f"# {page.label}: {plain(page.title)}", "")


def _context(facts: _Facts) -> Iterator[str]:
    identity = facts.contract["identity"]
    model, engine = identity.get("model", {}), identity.get("stack", {}).get("engine", {})
    devices = identity.get("hardware", {}).get("devices", {})
    types = sorted({str(one.get("type")) for one in devices.values()})
    yield from ("## Context and Problem Statement", "")
    yield f"Which topology serves the slot {plain(facts.page.slot)}?"
    yield ""
    yield from bullets(
        [
            f"owner: {plain(facts.contract.get('owner', 'not named'))}",
            f"model: {plain(model.get('name', ''))} at {plain(model.get('revision', 'an unknown revision'))}",
            f"engine: {plain(engine.get('name', ''))} {plain(engine.get('version', ''))}",
            f"workload: {plain(identity.get('workload', {}).get('name', ''))}",
            f"devices: {len(devices)} of {plain(', '.join(types))}",
            f"judged as of {plain(facts.page.shown.as_of)} by planner {plain(facts.page.shown.planner_version)}",
        ],
        "",
    )


def _drivers(facts: _Facts) -> Iterator[str]:
    """The contract's limits; what is not declared limits nothing, which is said."""
    rows = [
        (gate, name, ", ".join(f"{key} {value}" for key, value in limit.items() if key != "because"), limit["because"])
        for gate, limits in facts.contract["gates"].items()
        for name, limit in limits.items()
        if isinstance(limit, dict) and "because" in limit
    ]
    yield from ("## Decision Drivers", "", "Every limit of the contract has to hold:", "")
    yield from table(("gate", "limit", "value", "because"), rows, "The contract declares no limit.")
    if facts.plan and facts.plan.undeclared:
        yield from ("Not declared, so not judged:", "")
        yield from bullets([plain(one.sentence) for one in facts.plan.undeclared], "")


def _options(facts: _Facts) -> Iterator[str]:
    yield from ("## Considered Options", "")
    candidates = facts.plan.candidates if facts.plan else {}
    rows = [(trial, one.topology, one.state.lower(), one.charged_devices) for trial, one in candidates.items()]
    yield from table(("trial", "topology", "outcome", "devices"), rows[:MOST_ROWS], "There is no plan yet.")
    failed = [
        (trial, f"{gate_id}/{limit_id}", limit.outcome, *_readings(limit), limit.sentence)
        for trial, one in candidates.items()
        for gate_id, gate in one.gates.items()
        for limit_id, limit in gate.limits.items()
        if limit.outcome in ("FAIL", "UNKNOWN")
    ]
    if candidates:
        head = ("trial", "gate", "outcome", "measured", "limit", "in words")
        yield from ("### What each did not pass", "")
        yield from table(head, failed[:MOST_ROWS], "Every trial passed every gate.")
    left_out = max(len(rows) - MOST_ROWS, 0) + max(len(failed) - MOST_ROWS, 0)
    if left_out:
        yield from (f"And {left_out:,} lines more, which the plan lists.", "")


def _readings(limit: LimitOutcome) -> tuple[str, str]:
    measured = readable(limit.measured, limit.unit)
    if limit.limit is None:
        return measured, "none"
    sign = SIGNS.get(limit.comparator or "", "")
    return measured, f"{sign} {readable(limit.limit, limit.unit)}".strip()


def _outcome(facts: _Facts) -> Iterator[str]:
    yield from ("## Decision Outcome", "")
    in_force, plan = facts.validity.decision.in_force, facts.plan
    if plan is None:
        yield from ("There is no plan yet.", "")
        return
    chosen = plan.candidates.get(facts.chosen)
    if chosen is None:
        yield from (f"Nothing is chosen. The planner says: {plain(plan.decision)}.", "")
        return
    act = {"review": "in force after its review", "rollback": "in force by rollback", "emergency": "an emergency"}
    how = act[in_force.kind] if in_force else "selected by the planner, not put into force"
    yield from (f"Chosen option: {plain(facts.chosen)} ({plain(chosen.topology)}), {how}.", "")
    if facts.page.activation and in_force:
        row = facts.page.activation
        yield from (f"Put into force by {plain(row.persons)} on {in_force.valid_from}: {plain(row.statement)}", "")
    if in_force and in_force.emergency:
        gates = ", ".join(map(plain, in_force.emergency.failing_gates))
        yield from (f"Incident {plain(in_force.emergency.incident)}. Gates gone past: {gates}.", "")
    yield from ("### Why its size", "")
    yield from bullets([plain(one.sentence) for one in plan.justification], plain(plan.baseline))
    if plan.justification:
        yield from (plain(plan.baseline), "")
    readings = [
        (f"{gate_id}/{limit_id}", *_readings(limit), readable(limit.margin, limit.unit), limit.sentence)
        for gate_id, gate in chosen.gates.items()
        for limit_id, limit in gate.limits.items()
        if limit.margin is not None
    ]
    yield from ("### Its readings", "")
    yield from table(("gate", "measured", "limit", "margin", "in words"), readings, "No gate has a limit.")


def _flips(facts: _Facts) -> Iterator[str]:
    flips = facts.plan.flips[:MOST_FLIPS] if facts.plan else ()
    yield from ("## What Would Turn It", "", "Arithmetic on one reading or limit at a time, no measurement:", "")
    yield from bullets([plain(one.sentence) for one in flips], "No single change turns it.")


def _waivers(facts: _Facts) -> Iterator[str]:
    rows = [
        (
            row.trial,
            row.gate,
            row.persons,
            f"{row.granted_at:%Y-%m-%d}",
            f"{row.ends_at:%Y-%m-%d %H:%M} UTC",
            row.reason,
        )
        for row in facts.page.waivers
    ]
    yield from ("## Waivers", "")
    yield from table(("trial", "gate", "granted by", "granted", "ends", "reason"), rows, "No gate is waived.")


def _signed(facts: _Facts) -> Iterator[str]:
    given = sorted(facts.page.signoffs, key=lambda row: row.id)
    against = [row for row in given if row.meaning in AGAINST or row.meaning == OBJECT]
    yield from ("## Signatures", "")
    yield from bullets([_signature(row, facts) for row in given if row not in against], "Nobody has signed.")
    yield from ("## Dissent", "")
    yield from bullets([_signature(row, facts) for row in against], "Nobody spoke against it.")


def _signature(row: SignOffRow, facts: _Facts) -> str:
    seq = facts.seqs.get(row.id)
    entry = f", entry {seq}" if seq is not None else ""
    meaning = row.meaning.replace("_", " ")
    said = f"{plain(row.person)} for {plain(row.team)} on r{row.revision}, {row.signed_at:%Y-%m-%d}{entry}: {meaning}"
    points = "".join(
        f" {word.capitalize()}: {plain(point.text)} ({'settled' if point.settled_by else 'open'})."
        for point in row.points
        for word in [point.kind.replace("_", " ")]
    )
    taken = f" Taken back: {plain(row.withdrawn_reason)}" if row.withdrawn_reason else ""
    return f"{said}. {plain(row.statement)}{points}{taken} Status: {row.status.lower()}."


def _validity(facts: _Facts) -> Iterator[str]:
    told = facts.validity
    yield from ("## Validity", "", plain(told.because), "")
    if told.decision.in_force:
        row = told.decision.in_force
        yield from bullets(
            [
                f"valid from: {row.valid_from}",
                f"valid until: {row.valid_until or 'nothing limits it'}",
                f"to go back to: {plain(row.rollback or 'nothing')}",
                *(f"rests on the waiver of {plain(one.gate)} until {one.ends_at}" for one in told.decision.waivers),
            ],
            "",
        )


def _digests(facts: _Facts) -> Iterator[str]:
    told = facts.validity.decision
    named = {
        "subject": told.subject,
        "contract": told.contract.content_id,
        "contract, its file": told.contract.file_sha256,
        "evidence": told.evidence.content_id,
        "evidence, its file": told.evidence.file_sha256,
        "identity": told.identity,
        "plan": told.plan,
        "policy": told.policy,
        "rank map": told.in_force.rank_map_digest if told.in_force else None,
    }
    yield from ("## Digests", "")
    yield from table(("what", "digest"), [(name, digest) for name, digest in named.items() if digest], "")


def _verify(facts: _Facts) -> Iterator[str]:
    page = facts.page
    yield from ("## How to Verify", "")
    yield "This text proves nothing by itself. With contract and evidence of the digests above, and without a server:"
    yield from ("", "```", "topogate digest contract.json evidence.json")
    yield f"topogate plan contract.json evidence.json --as-of {page.shown.as_of} --format json"
    yield from ("```", "", f"gives the plan of the digest above, made by planner {plain(page.shown.planner_version)}.")
    yield f"An export of {page.label} holds log, documents and signatures, and"
    yield "`topogate verify BUNDLE.zip --key KEY` checks them."
    yield ""
