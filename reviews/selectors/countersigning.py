"""For whose countersignature a proposal waits now, until when, or why for nobody's.

What a countersignature asks under the lock of one person is asked here of every member. Only that the bytes behind a
revision are untouched is left to the act. The number of queries does not grow with the proposals.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from planner.decision_numbers import decision_label
from reviews.clock import when
from reviews.facts import Authentication, Standing
from reviews.models import Decision, DecisionState, Proposal, ProposalKind, Workspace
from reviews.policies.document import releasing_teams
from reviews.policies.permissions import Verdict, may_administer, may_decide
from reviews.policies.two_persons import (
    TAKEN_IN,
    emergency_second,
    open_until,
    revoking_second,
    waiving,
    waiving_second,
)
from reviews.selectors.countersigning_facts import Ground, SecondFacts, second_facts
from reviews.selectors.proposal_words import objection_text

NO_MORE = "It is not carried out any more."


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """``over``: why it is not carried out any more; ``held``: why nobody can carry it out as things are.

    ``teams`` are those of which one countersigns, None where it takes an admin. ``objection`` says whose one is to be
    lifted. ``seconds``: who may countersign now, person id -> name in order of names. ``verdicts``: what every member
    is told of it, the proposer too.
    """

    until: datetime
    over: str = ""
    held: str = ""
    teams: frozenset[str] | None = None
    objection: str = ""
    seconds: Mapping[int, str] = field(default_factory=dict)
    verdicts: Mapping[int, Verdict] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Act:
    """What a proposal asks: from which seats it is made, and, by the seat it was made from, countersigned.

    ``first`` is None where an admin makes it; ``leads``: as a lead of the team.
    """

    over: str = ""
    held: str = ""
    first: frozenset[str] | None = None
    second: frozenset[str] = frozenset()
    authors: frozenset[int] = frozenset()
    leads: bool = False
    objection: str = ""


def waits_of(workspace: Workspace, proposals: Sequence[tuple[Proposal, Mapping[str, Any]]]) -> dict[int, Waits]:
    """Return proposal id -> for whom it waits; ``proposals`` are open ones of a workspace, each with its body."""
    if not proposals:
        return {}
    facts = second_facts(workspace, proposals)
    return {row.pk: _waits(row, body, facts) for row, body in proposals}


def _waits(row: Proposal, body: Mapping[str, Any], facts: SecondFacts) -> Waits:
    until = open_until(row.kind, body, row.proposed_at)
    past = f"It was open until {when(until)} UTC. {NO_MORE}" if until <= facts.now else _moved(row, body, facts)
    act = _ACTS[ProposalKind(row.kind)](row, body, facts)
    over = past or act.over
    held = "" if over else act.held or _proposer_lost(row, act, facts)
    if over or held:
        verdicts = dict.fromkeys(facts.people, Verdict(False, over or held))
    else:
        verdicts = {pk: _asked(one.standing, _teams(act), act.authors) for pk, one in facts.people.items()}
    able = [pk for pk, verdict in verdicts.items() if verdict.allowed and pk != row.person_id]
    return Waits(
        until=until,
        over=over,
        held=held,
        teams=_teams(act),
        objection=act.objection,
        seconds={pk: facts.people[pk].standing.name for pk in able},
        verdicts=verdicts,
    )


def _teams(act: _Act) -> frozenset[str] | None:
    return None if act.first is None else act.second


def _asked(standing: Standing, teams: Collection[str] | None, authors: frozenset[int]) -> Verdict:
    if teams is None:
        return may_administer(standing)
    return may_decide(standing, teams=teams, author_ids=authors, authentication=Authentication())


def _proposer_lost(row: Proposal, act: _Act, facts: SecondFacts) -> str:
    """Say that who proposed it may not any more, as the countersignature would; empty while they may."""
    proposer, teams = facts.people.get(row.person_id), act.first or frozenset()
    leads = proposer is not None and (not act.leads or bool(proposer.leads & teams))
    if proposer is not None and leads and _asked(proposer.standing, act.first, act.authors).allowed:
        return ""
    return f"{row.person.display_name}, who proposed this, may not propose it any more. Somebody else has to."


def _moved(row: Proposal, body: Mapping[str, Any], facts: SecondFacts) -> str:
    """Say that the decision is past what was proposed; empty while it is not."""
    if row.decision is None:
        return ""
    states, state = TAKEN_IN.get(row.kind), facts.states[row.decision.pk]
    if states is not None and state not in states:
        return f"{row.decision.label} is {DecisionState(state).label.lower()}. {NO_MORE}"
    if "subject" in body and body["subject"] != facts.grounds[row.decision.pk].subject:
        return f"It was proposed for an earlier revision. {NO_MORE}"
    return ""


def _proposed_from(row: Proposal, teams: frozenset[str], facts: SecondFacts) -> str:
    """Return the seat that the proposal is made from as of now, which is the first of those that its proposer holds."""
    proposer = facts.people.get(row.person_id)
    held = proposer.standing.teams & teams if proposer else frozenset()
    return min(held, default=row.team)


def _ground(row: Proposal, facts: SecondFacts) -> tuple[Decision, Ground]:
    if row.decision is None:
        raise ValueError(f"proposal {row.pk} is about no decision")
    return row.decision, facts.grounds[row.decision.pk]


def _policy(row: Proposal, body: Mapping[str, Any], facts: SecondFacts) -> _Act:
    moved = body.get("base") != facts.policy
    return _Act(over=f"It was made for another version of the policy. {NO_MORE}" if moved else "")


def _waiver(row: Proposal, body: Mapping[str, Any], facts: SecondFacts) -> _Act:
    _, ground = _ground(row, facts)
    document, family = ground.document, ground.family(body["trial"], body["gate"])
    first = waiving(document, family)
    signs = document.duties.waiver in document.teams
    second = waiving_second(document, family, _proposed_from(row, first, facts)) if signs else frozenset()
    return _Act(first=first, second=second, authors=ground.authors, held=ground.problem)


def _emergency(row: Proposal, body: Mapping[str, Any], facts: SecondFacts) -> _Act:
    decision, ground = _ground(row, facts)
    running = facts.emergencies.get(decision.slot)
    held = f"{decision_label(running)} is an emergency on this slot whose review is still owed." if running else ""
    families = {ground.family(body["trial"], gate) for gate in body["failing_gates"]}
    return _Act(
        first=frozenset({ground.document.duties.emergency}),
        second=emergency_second(ground.document, families),
        authors=ground.authors,
        held=ground.problem or held,
    )


def _revocation(row: Proposal, body: Mapping[str, Any], facts: SecondFacts) -> _Act:
    _, ground = _ground(row, facts)
    first = frozenset(ground.document.duties.revocation)
    second = revoking_second(ground.document, _proposed_from(row, first, facts))
    return _Act(first=first, second=second, authors=ground.authors)


def _rollback(row: Proposal, body: Mapping[str, Any], facts: SecondFacts) -> _Act:
    decision, ground = _ground(row, facts)
    target = facts.targets.get((decision.slot, body["to"]))
    if target is None:
        return _Act(over=f"{decision_label(body['to'])} is nothing to go back to any more.")
    if target.counted & facts.retracted:
        return _Act(over=f"{decision_label(body['to'])} counted evidence that was retracted. {NO_MORE}")
    return _Act(
        first=releasing_teams(target.document),
        second=frozenset({target.document.duties.emergency}),
        authors=ground.authors | target.authors,
        held=target.problem,
    )


def _lifting(row: Proposal, body: Mapping[str, Any], facts: SecondFacts) -> _Act:
    _, ground = _ground(row, facts)
    objection = facts.objections.get(body["signoff"])
    if objection is None:
        return _Act(over=f"There is no such objection. {NO_MORE}")
    team, whose = frozenset({objection.team}), objection_text(objection.person, objection.team)
    over = f"This objection is lifted already. {NO_MORE}" if objection.is_lifted else ""
    return _Act(over=over, first=team, second=team, authors=ground.authors, leads=True, objection=whose)


_ACTS = {
    ProposalKind.POLICY: _policy,
    ProposalKind.WAIVER: _waiver,
    ProposalKind.EMERGENCY: _emergency,
    ProposalKind.REVOCATION: _revocation,
    ProposalKind.ROLLBACK: _rollback,
    ProposalKind.LIFT_OBJECTION: _lifting,
}
"""Kind of proposal -> what it asks."""
