"""Which acts beside reviewing a reader may propose or carry out on a decision, and why they may not.

It says of a form what the act itself would say of the person; what the form is filled with is the act's own question.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from planner.records.plan import Plan
from reviews.blobs import checked
from reviews.facts import Authentication, Standing
from reviews.models import Decision, Revision, TeamSeat
from reviews.policies.document import PolicyDocument, read_policy, releasing_teams
from reviews.policies.permissions import ALLOWED, Verdict, may_decide, may_retract
from reviews.policies.two_persons import waiving
from reviews.policies.waiving import INTEGRITY_GATES
from reviews.selectors.judgement import authors
from reviews.selectors.rows import DecisionPage, SignOffRow

T = TypeVar("T")

Gate = tuple[str, str]
"""Trial and gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offers:
    """What a reader may do. ``gates``, ``objections`` and ``earlier`` are what they could name, all where it is off.

    ``verdicts`` has a row for each act.
    """

    verdicts: Mapping[str, Verdict]
    gates: tuple[Gate, ...]
    objections: tuple[SignOffRow, ...]
    earlier: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class _Ground:
    """A decision's newest policy and everybody who made a revision of it."""

    document: PolicyDocument
    author_ids: frozenset[int]


def offers_of(
    decision: Decision,
    page: DecisionPage,
    plan: Plan | None,
    *,
    standing: Standing,
    earlier: Sequence[tuple[int, str]],
) -> Offers:
    """Return what a reader may do with a decision; ``earlier``: number and topology of what was in force before.

    Raises:
        TamperedError: a policy is not what was stored.
    """
    grounds = _grounds(decision, [number for number, _ in earlier])
    asked = _Asked(standing, page, plan, grounds)
    gates = _allowed([(gate, asked.waiver(*gate)) for gate in asked.open_gates()])
    objecting = [row for row in page.signoffs if is_objection(row)]
    leads = _led(standing) if objecting else frozenset()
    objections = _allowed([(row, asked.lifting(row, leads)) for row in objecting])
    back = _allowed([(row, asked.rollback(row[0])) for row in earlier])
    return Offers(
        verdicts={
            "waiver": gates[1],
            "emergency": asked.seat({asked.ground.document.duties.emergency}),
            "lift_objection": objections[1],
            "revocation": asked.seat(asked.ground.document.duties.revocation),
            "rollback": back[1],
            "retract": may_retract(standing),
        },
        gates=gates[0],
        objections=objections[0],
        earlier=back[0],
    )


def _led(standing: Standing) -> frozenset[str]:
    """Return the teams that the reader leads."""
    seats = TeamSeat.objects.filter(
        membership__workspace_id=standing.workspace_id, membership__person_id=standing.person_id, is_lead=True
    )
    return frozenset(seats.order_by().values_list("team__slug", flat=True))


def is_objection(row: SignOffRow) -> bool:
    """Whether a sign-off is an objection that stands."""
    return row.meaning == "object" and row.withdrawn_at is None


def _allowed(rows: Sequence[tuple[T, Verdict]]) -> tuple[tuple[T, ...], Verdict]:
    """Return what is allowed with that; all of it with the last reason where nothing is."""
    found = tuple(value for value, verdict in rows if verdict.allowed)
    return (found, ALLOWED) if found or not rows else (tuple(value for value, _ in rows), rows[-1][1])


def _grounds(decision: Decision, earlier: Sequence[int]) -> dict[int, _Ground]:
    rows = Revision.objects.filter(
        decision__workspace_id=decision.workspace_id, decision__number__in=[decision.number, *earlier]
    ).select_related("decision", "contract", "evidence", "policy__blob")
    revisions = list(rows.order_by("number"))
    made_by = authors(revisions)
    newest = {row.decision.number: row for row in revisions}
    return {
        number: _Ground(
            read_policy(checked(bytes(row.policy.blob.data), row.policy.blob.sha256, "policy")),
            made_by[row.decision_id],
        )
        for number, row in newest.items()
    }


@dataclass(frozen=True, slots=True)
class _Asked:
    """The questions of one reader."""

    standing: Standing
    page: DecisionPage
    plan: Plan | None
    grounds: Mapping[int, _Ground]

    @property
    def ground(self) -> _Ground:
        return self.grounds[self.page.number]

    def seat(self, teams: Iterable[str], *, author_ids: frozenset[int] = frozenset()) -> Verdict:
        """Whether they act from the seat of one of the teams; ``author_ids`` beside the decision's own."""
        return may_decide(
            self.standing,
            teams=frozenset(teams),
            author_ids=self.ground.author_ids | author_ids,
            authentication=Authentication(),
        )

    def open_gates(self) -> list[Gate]:
        """Return what a waiver could be of."""
        candidates = self.plan.candidates.items() if self.plan else ()
        return [
            (trial, gate)
            for trial, candidate in candidates
            for gate in (*candidate.failing, *candidate.unknown)
            if gate not in INTEGRITY_GATES
        ]

    def waiver(self, trial: str, gate: str) -> Verdict:
        return self.seat(waiving(self.ground.document, self._family(trial, gate)))

    def lifting(self, row: SignOffRow, leads: frozenset[str]) -> Verdict:
        verdict = self.seat({row.team})
        if verdict.allowed and row.team not in leads:
            return Verdict(False, f"Lifting somebody else's objection takes the lead of {row.team}.")
        return verdict

    def rollback(self, number: int) -> Verdict:
        target = self.grounds[number]
        return self.seat(releasing_teams(target.document), author_ids=target.author_ids)

    def _family(self, trial: str, gate: str) -> str:
        candidate = self.plan.candidates.get(trial) if self.plan else None
        outcome = candidate.gates.get(gate) if candidate else None
        return outcome.family if outcome else ""
