"""Two candidates side by side, of one revision, of two revisions or of two decisions of a workspace.

Rules kept: the side that the address names is ``after``, what it is compared with is ``before``; without more being
said that is the revision before it. Stored bytes passed intake when they were uploaded, so of the evidence only the
trials that are compared are decoded, whatever its size; ``whole`` asks for the fields of all others too.

Not handled: what is comparable and what a change means (``planner.candidate_diff``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from planner.candidate_diff import CandidateDiff, CandidateSide, TrialChange, candidate_diff, trial_changes
from planner.decision_numbers import decision_label
from planner.document_diff import FieldChange, document_diff
from planner.map_diff import MapDiff, map_diff, placed_map
from planner.records.contract import Contract
from planner.records.evidence import Trial
from planner.records.plan import Plan
from reviews.blobs import blob_read
from reviews.errors import NotFoundError
from reviews.models import Person, Policy, Revision, Workspace
from reviews.planning import contract_tree, decode_plan
from reviews.policies.document import PolicyDocument, read_policy
from reviews.selectors.decision_page import decision_page
from reviews.selectors.documents import RevisionBytes, revision_bytes
from reviews.selectors.revisions import revision_row, with_digests
from reviews.selectors.rows import DecisionPage, RevisionRow
from reviews.selectors.stress import in_order

Kind = Literal["candidates", "revisions", "decisions"]
DocumentKind = Literal["contract", "evidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an address asks for; what is None or empty is chosen.

    ``decision``, ``revision`` and ``trial`` are of what it is compared with.
    """

    decision: int | None = None
    revision: int | None = None
    trial: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSide:
    """One side: a revision and one of its trials. ``trial`` is empty and ``placed`` None until there is a plan."""

    number: int
    label: str
    slot: str
    row: RevisionRow
    plan: Plan | None
    trial: str
    contract: Mapping[str, Any]
    records: tuple[Contract, Trial] | None

    @property
    def name(self) -> str:
        """What people call it: ``D-0004 r2``."""
        return f"{self.label} r{self.row.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """Both sides with all that differs; ``page`` is that of ``after``, ``policy`` the one that it is bound to.

    ``diff`` is None until both sides are planned, ``map`` where ranks and degrees of one do not fit together either.
    """

    page: DecisionPage
    kind: Kind
    before: ComparedSide
    after: ComparedSide
    policy: PolicyDocument
    diff: CandidateDiff | None
    trials: tuple[TrialChange, ...]
    map: MapDiff | None
    fields: tuple[tuple[DocumentKind, FieldChange], ...]

    def trials_of(self, side: ComparedSide) -> tuple[str, ...]:
        """Return the trials of a side in the order of its plan."""
        return in_order(side.plan) if side.plan else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """A revision as it is stored; ``evidence`` holds the members of the document as bytes, trials one by one."""

    number: int
    label: str
    slot: str
    row: RevisionRow
    plan: Plan | None
    contract: bytes
    tree: Mapping[str, Any]
    evidence: Mapping[str, msgspec.Raw]
    trials: Mapping[str, msgspec.Raw]


def comparison_view(
    *,
    actor: Person,
    workspace: Workspace,
    number: int,
    revision: int | None = None,
    trial: str = "",
    base: Asked | None = None,
    whole: bool = False,
) -> ComparisonView:
    """Return a trial of a revision beside another one.

    Raises:
        NotFoundError: no such decision, revision or trial, or the actor is no member of the workspace.
        TamperedError: stored bytes are not the ones that were stored.
    """
    base = base or Asked()
    page = decision_page(actor=actor, workspace=workspace, number=number, revision=revision)
    label, slot, row = _base_row(workspace, page, base)
    after = _stored(actor, workspace, page.number, page.label, page.slot, page.shown)
    is_one = row.id == page.shown.id
    before = after if is_one else _stored(actor, workspace, base.decision or page.number, label, slot, row)
    trials = _trials(before, after, base.trial, trial)
    sides = _side(before, trials[0]), _side(after, trials[1])
    kind: Kind = "candidates" if is_one else "revisions" if before.number == after.number else "decisions"
    return ComparisonView(
        page=page,
        kind=kind,
        before=sides[0],
        after=sides[1],
        policy=_policy(workspace, page.shown),
        diff=_diff(before, after, trials),
        trials=trial_changes(before.plan, after.plan) if before.plan and after.plan and not is_one else (),
        map=_map(sides),
        fields=() if is_one else _fields(before, after, None if whole else frozenset(trials)),
    )


def _base_row(workspace: Workspace, page: DecisionPage, base: Asked) -> tuple[str, str, RevisionRow]:
    """Find the revision that it is compared with: the one asked for, the one before, or the newest of another decision.

    Raises:
        NotFoundError: there is none such.
    """
    if base.decision in (None, page.number):
        wanted = base.revision or max(page.shown.number - 1, 1)
        row = next((row for row in page.revisions if row.number == wanted), None)
        if row is None:
            raise NotFoundError(f"{page.label} has no revision {wanted}. The newest is {page.newest.number}.")
        return page.label, page.slot, row
    found = with_digests(Revision.objects.filter(decision__workspace=workspace, decision__number=base.decision))
    chosen = (found.filter(number=base.revision) if base.revision else found).order_by("-number").first()
    if chosen is None:
        what = f" r{base.revision}" if base.revision else ""
        raise NotFoundError(f"There is no {decision_label(base.decision)}{what} in {workspace.slug}.")
    return chosen.decision.label, chosen.decision.slot, revision_row(chosen)


def _stored(actor: Person, workspace: Workspace, number: int, label: str, slot: str, row: RevisionRow) -> _Stored:
    raw: RevisionBytes = revision_bytes(actor=actor, workspace=workspace, revision_id=row.id)
    evidence = msgspec.json.decode(raw.evidence, type=dict[str, msgspec.Raw])
    return _Stored(
        number=number,
        label=label,
        slot=slot,
        row=row,
        plan=decode_plan(raw.plan) if raw.plan else None,
        contract=raw.contract,
        tree=contract_tree(raw.contract),
        evidence={name: value for name, value in evidence.items() if name != "trials"},
        trials=msgspec.json.decode(evidence["trials"], type=dict[str, msgspec.Raw]),
    )


def _trials(before: _Stored, after: _Stored, base: str, trial: str) -> tuple[str, str]:
    """Choose the trials: selected ones; the same trial of both revisions; of one plan two different ones."""
    same_trial = trial if before is not after and before.plan and trial in before.plan.candidates else ""
    chosen = _named(before, base) or same_trial or _first(before)
    if trial or before is not after:
        return chosen, _named(after, trial) or _first(after)
    others = in_order(after.plan) if after.plan else ()
    return chosen, next((other for other in others if other != chosen), chosen)


def _named(side: _Stored, trial: str) -> str:
    if trial and (side.plan is None or trial not in side.plan.candidates):
        raise NotFoundError(f"The plan of {side.label} r{side.row.number} has no trial {trial[:80]}.")
    return trial


def _first(side: _Stored) -> str:
    if side.plan is None:
        return ""
    return side.plan.selected.trial if side.plan.selected else next(iter(in_order(side.plan)), "")


def _side(stored: _Stored, trial: str) -> ComparedSide:
    records = None
    if trial:
        contract = msgspec.json.decode(stored.contract, type=Contract)
        records = contract, msgspec.json.decode(stored.trials[trial], type=Trial)
    return ComparedSide(
        number=stored.number,
        label=stored.label,
        slot=stored.slot,
        row=stored.row,
        plan=stored.plan,
        trial=trial,
        contract=stored.tree,
        records=records,
    )


def _policy(workspace: Workspace, row: RevisionRow) -> PolicyDocument:
    blob = Policy.objects.values_list("blob_id", flat=True).get(workspace=workspace, version=row.policy_version)
    return read_policy(blob_read(blob, "policy"))


def _diff(before: _Stored, after: _Stored, trials: tuple[str, str]) -> CandidateDiff | None:
    plans = before.plan, after.plan
    if plans[0] is None or plans[1] is None or not all(trials):
        return None
    return candidate_diff(
        CandidateSide(plan=plans[0], trial=trials[0], contract=before.tree, observed=_observed(before, trials[0])),
        CandidateSide(plan=plans[1], trial=trials[1], contract=after.tree, observed=_observed(after, trials[1])),
    )


def _observed(stored: _Stored, trial: str) -> Mapping[str, Any]:
    """Return the identity that a trial's runs recorded."""
    identities: Mapping[str, msgspec.Raw] = msgspec.json.decode(
        stored.evidence["identities"], type=dict[str, msgspec.Raw]
    )
    found: dict[str, Any] = msgspec.json.decode(identities[_identity_id(stored.trials[trial])])
    return found


class _Named(msgspec.Struct):
    """A trial as far as its identity."""

    identity_id: str


def _identity_id(trial: msgspec.Raw) -> str:
    return msgspec.json.decode(trial, type=_Named).identity_id


def _map(sides: tuple[ComparedSide, ComparedSide]) -> MapDiff | None:
    records = sides[0].records, sides[1].records
    if records[0] is None or records[1] is None:
        return None
    before, after = placed_map(*records[0]), placed_map(*records[1])
    return map_diff(before, after) if before and after else None


def _fields(
    before: _Stored, after: _Stored, only: frozenset[str] | None
) -> tuple[tuple[DocumentKind, FieldChange], ...]:
    """Return every field that differs; of trials ``only`` those, all of them where it is None."""
    contract: tuple[tuple[DocumentKind, FieldChange], ...] = tuple(
        ("contract", change) for change in document_diff(before.tree, after.tree)
    )
    if before.row.evidence == after.row.evidence:
        return contract
    trials = {
        trial
        for trial in {*before.trials, *after.trials}
        if only is None or trial in only
        if _bytes(before.trials.get(trial)) != _bytes(after.trials.get(trial))
    }
    return (
        *contract,
        *(("evidence", change) for change in document_diff(_tree(before, trials), _tree(after, trials))),
    )


def _bytes(raw: msgspec.Raw | None) -> bytes:
    return b"" if raw is None else bytes(raw)


def _tree(stored: _Stored, trials: set[str]) -> dict[str, Any]:
    """Return the evidence with only the named trials."""
    tree = {name: msgspec.json.decode(value) for name, value in stored.evidence.items()}
    tree["trials"] = {trial: msgspec.json.decode(value) for trial, value in stored.trials.items() if trial in trials}
    return tree
