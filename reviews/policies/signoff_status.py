"""Whether a sign-off counts on the newest revision, and if not, for which reason. Nothing of this is stored.

Rules kept: a sign-off counts only while it is CURRENT (given on the newest subject) or CARRIED (what its team owns is
byte for byte the same, and an entry of the log says so); an objection stays over all revisions until it is lifted;
authors and people without a seat never count as approvers; a request to review again voids what came before it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from reviews.facts import Member, Newest, SignOffFact
from reviews.policies.scope import ScopeChange

SignOffStatus = Literal["CURRENT", "CARRIED", "STALE", "WITHDRAWN", "VOID"]
COUNTING = ("CURRENT", "CARRIED")
APPROVING = frozenset({"approve", "approve_with_conditions", "accept_risk"})
"""Meanings that fill a seat of the quorum."""
AGAINST = {"request_changes": "Changes requested", "reject": "Rejected"}
"""Meanings that the author answers with a new revision, as words."""
OBJECT = "object"
NEVER_CARRIED = frozenset({"accept_risk"})
"""A risk is accepted for what was shown, and for nothing else."""


@dataclass(frozen=True, slots=True)
class JudgedSignOff:
    """A sign-off's status with its reason; ``keys`` names what a reason refers to (parts of subject or scope)."""

    fact: SignOffFact
    status: SignOffStatus
    reason: str = ""
    keys: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether it says something about the newest revision."""
        return self.status in COUNTING


def judge_signoff(
    fact: SignOffFact,
    *,
    newest: Newest,
    members: Sequence[Member],
    author_ids: Collection[int],
    change: ScopeChange | None = None,
) -> JudgedSignOff:
    """Say whether a sign-off counts on the newest revision.

    ``change`` is how the team's scope differs from the signed one, where that was looked up; it names the keys.
    """
    if fact.is_withdrawn:
        return JudgedSignOff(fact, "WITHDRAWN")
    if not fact.is_latest:
        return JudgedSignOff(fact, "VOID", "REPLACED")
    is_signed_here = newest.parts == fact.signed
    if fact.meaning == OBJECT:
        # Nothing but its being lifted ends an objection: not a new revision, not that its signer left the team.
        return JudgedSignOff(fact, "CURRENT" if is_signed_here else "CARRIED")
    void = _void_reason(fact, newest, members, author_ids)
    if void:
        return JudgedSignOff(fact, "VOID", void)
    if is_signed_here:
        return _on_its_own_revision(fact, newest)
    return _on_a_later_revision(fact, newest, change)


def _void_reason(fact: SignOffFact, newest: Newest, members: Sequence[Member], author_ids: Collection[int]) -> str:
    people = {fact.person_id} if fact.giver_id is None else {fact.person_id, fact.giver_id}
    if people & set(author_ids):
        return "SIGNER_BECAME_AUTHOR"
    if not newest.is_past_review and not is_eligible(fact, members):
        return "SIGNER_INELIGIBLE"
    return "RE_REVIEW_REQUESTED" if fact.is_re_review_asked else ""


def is_eligible(fact: SignOffFact, members: Sequence[Member]) -> bool:
    """Whether the seat that was signed from is still held, and the signer could still sign at all.

    A delegation is judged when it is used; that it ran out since takes nothing back. That its taker left the workspace
    or got a role that never signs does, as it does for who signs from a seat of their own.
    """
    if not fact.is_signer_able:
        return False
    holder = fact.person_id if fact.giver_id is None else fact.giver_id
    return any(m.person_id == holder and m.team == fact.team and m.is_active and m.in_place_of is None for m in members)


def _on_its_own_revision(fact: SignOffFact, newest: Newest) -> JudgedSignOff:
    if newest.policy_in_force not in (None, newest.parts.policy):
        return JudgedSignOff(fact, "STALE", "POLICY_CHANGED", ("policy",))
    return _with_what_may_pass(fact, newest, "CURRENT")


def _with_what_may_pass(fact: SignOffFact, newest: Newest, status: SignOffStatus) -> JudgedSignOff:
    """Judge what moves without a new revision: the age of the evidence, and waivers."""
    if newest.evidence_until is not None and newest.now > newest.evidence_until:
        return JudgedSignOff(fact, "STALE", "EVIDENCE_EXPIRED", ("evidence",))
    if fact.waivers != newest.waivers:
        return JudgedSignOff(fact, "STALE", "SCOPE_CHANGED", ("waivers",))
    return JudgedSignOff(fact, status)


def _on_a_later_revision(fact: SignOffFact, newest: Newest, change: ScopeChange | None) -> JudgedSignOff:
    parts = newest.parts
    if parts.policy != fact.signed.policy or newest.policy_in_force not in (None, parts.policy):
        return JudgedSignOff(fact, "STALE", "POLICY_CHANGED", ("policy",))
    if parts.planner_version != fact.signed.planner_version:
        return JudgedSignOff(fact, "STALE", "PLANNER_CHANGED", ("planner_version",))
    if newest.scopes is None:
        return JudgedSignOff(fact, "STALE", "SUBJECT_CHANGED", parts.moved_from(fact.signed))
    scope = newest.scopes.get(fact.team)
    if scope is not None and fact.carried_scope == scope.digest:
        if fact.is_replaced:
            return JudgedSignOff(fact, "VOID", "REPLACED")
        return _with_what_may_pass(fact, newest, "CARRIED")
    if change is not None and change.keys:
        return JudgedSignOff(fact, "STALE", change.reason, change.keys)
    return JudgedSignOff(fact, "STALE", "SUBJECT_CHANGED", parts.moved_from(fact.signed))


def points_of(text: str) -> tuple[str, ...]:
    """Return the conditions or follow-ups of a text, one to a line; empty lines say nothing."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())
