"""Who may do what in a workspace. Every answer comes with its reason; being a superuser changes none of them."""

from collections.abc import Collection
from dataclasses import dataclass

from reviews.facts import Authentication, Member, Standing

SUBMITTING_ROLES = frozenset({"author", "admin"})
SIGNING_ROLES = frozenset({"member", "author"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether it is allowed, and in words why not."""

    allowed: bool
    reason: str = ""


ALLOWED = Verdict(True)


def _role(standing: Standing) -> str:
    """Say a role; members with a seat are team members."""
    if standing.role == "member" and standing.teams:
        return f"You are a team member of {' and '.join(sorted(standing.teams))} (role member)."
    return f"Your role is {standing.role}."


def may_submit(standing: Standing) -> Verdict:
    """Authors submit. Auditors never write; plain members read and comment."""
    if standing.role not in SUBMITTING_ROLES:
        return Verdict(False, f"{_role(standing)} Submitting needs the role author.")
    return ALLOWED


def may_administer(standing: Standing) -> Verdict:
    """Admins keep people and policy."""
    if standing.role != "admin":
        return Verdict(False, f"{_role(standing)} Changing people and policy needs the role admin.")
    return ALLOWED


def may_sign(
    standing: Standing,
    *,
    team: str,
    author_ids: Collection[int],
    other_seats: Collection[str],
    authentication: Authentication,
    giver: Member | None = None,
) -> Verdict:
    """A member of the team signs for it, unless they ever made a revision of this decision.

    ``author_ids``: people who made any revision over the decision's whole life. ``other_seats``: teams for which this
    person has already signed in this decision; one person fills one team's seat. ``giver``: the member of the team in
    whose place they sign under a delegation. How recent the proof is, is asked apart (``proof``).
    """
    if authentication.method == "token":
        return Verdict(False, "An API token cannot sign. Sign on the page.")
    if standing.role not in SIGNING_ROLES:
        return Verdict(False, f"Your role is {standing.role}. Members with the role {standing.role} never sign.")
    if standing.person_id in author_ids:
        return Verdict(False, "You made a revision of this decision. Its authors never sign it.")
    if team not in standing.teams and giver is None:
        return Verdict(False, f"You are not a member of {team}. Only its members sign for it.")
    if team not in standing.teams and giver is not None and giver.person_id in author_ids:
        return Verdict(False, f"{giver.name} made a revision of this decision, so nobody signs it in their place.")
    taken = sorted(set(other_seats) - {team})
    if taken:
        return Verdict(False, f"You signed for {taken[0]} in this decision. One person fills one team's seat.")
    return ALLOWED


def may_release(
    standing: Standing, *, releasing: Collection[str], author_ids: Collection[int], authentication: Authentication
) -> Verdict:
    """A member of a releasing team puts a decision into force or closes it, unless they are an author of it."""
    if authentication.method == "token":
        return Verdict(False, "An API token puts nothing into force. Do it on the page.")
    if standing.role not in SIGNING_ROLES:
        return Verdict(False, f"Your role is {standing.role}. Members with the role {standing.role} never sign.")
    if standing.person_id in author_ids:
        return Verdict(False, "You made a revision of this decision. Its authors neither sign nor release it.")
    if not standing.teams & set(releasing):
        return Verdict(False, f"{_role(standing)} Only members of {' or '.join(sorted(releasing))} release decisions.")
    return ALLOWED


def may_decide(
    standing: Standing, *, teams: Collection[str], author_ids: Collection[int], authentication: Authentication
) -> Verdict:
    """A member of one of ``teams`` takes part in an act of two persons, unless they are an author of the decision."""
    if authentication.method == "token":
        return Verdict(False, "An API token does not do this. Do it on the page.")
    if standing.role not in SIGNING_ROLES:
        return Verdict(False, f"Your role is {standing.role}. Members with the role {standing.role} never sign.")
    if standing.person_id in author_ids:
        return Verdict(False, "You are an author of this decision. Its authors do not decide on it.")
    if not standing.teams & set(teams):
        return Verdict(False, f"This takes a member of {' or '.join(sorted(teams)) or 'a team that there is not'}.")
    return ALLOWED


def may_retract(standing: Standing) -> Verdict:
    """Authors and members of a team take back evidence."""
    if standing.role not in SIGNING_ROLES or (standing.role == "member" and not standing.teams):
        return Verdict(False, "Evidence is retracted by an author or by a member of a team.")
    return ALLOWED


def may_report(standing: Standing) -> Verdict:
    """Everybody who may act at all reports what a machine is; an auditor only reads."""
    if standing.role == "auditor":
        return Verdict(False, "Your role is auditor. Auditors read and verify, and report nothing.")
    return ALLOWED


def may_reproduce(standing: Standing, *, author_ids: Collection[int]) -> Verdict:
    """Everybody but the authors reproduces a plan; its outcome is an entry, and an auditor writes none."""
    if standing.role == "auditor":
        return Verdict(
            False,
            "Your role is auditor. Auditors write nothing: plan the downloaded files with `topogate plan` instead.",
        )
    if standing.person_id in author_ids:
        return Verdict(False, "You are an author of this decision. Somebody else reproduces it.")
    return ALLOWED


def may_act_as_author(standing: Standing, *, author_ids: Collection[int]) -> Verdict:
    """An author of the decision withdraws it or asks for another review."""
    if standing.role not in SUBMITTING_ROLES or standing.person_id not in author_ids:
        return Verdict(False, "You are no author of this decision. Only its authors do this.")
    return ALLOWED


def may_ask_again(standing: Standing, *, teams: Collection[str], author_ids: Collection[int]) -> Verdict:
    """An author of the decision asks any team to review again, a member their own teams."""
    writes = may_comment(standing)
    if not writes.allowed:
        return writes
    if standing.person_id not in author_ids and (not standing.teams or not set(teams) <= standing.teams):
        return Verdict(False, "Another review is asked for by an author of the decision, or by the team itself.")
    return ALLOWED


def may_comment(standing: Standing) -> Verdict:
    """Every member reads and comments, but an auditor only reads."""
    if standing.role == "auditor":
        return Verdict(False, "Your role is auditor. Auditors read and verify, and write nothing.")
    return ALLOWED


def may_resolve(
    standing: Standing,
    *,
    opener_id: int,
    is_blocking: bool,
    leads: Collection[str],
    team: str,
    author_ids: Collection[int],
    authentication: Authentication,
) -> Verdict:
    """Whoever comments resolves a thread; a blocking one only its opener, or the lead of the team that it blocks.

    ``leads``: teams that the person leads. An author of the decision lifts no block that somebody else set.
    """
    comments = may_comment(standing)
    if not comments.allowed or not is_blocking:
        return comments
    if authentication.method == "token":
        return Verdict(False, "An API token resolves no blocking thread. Do it on the page.")
    if standing.person_id == opener_id:
        return ALLOWED
    if team not in leads:
        return Verdict(False, f"Only its opener resolves a blocking thread, or the lead of {team} with a reason.")
    if standing.person_id in author_ids:
        return Verdict(False, "You made a revision of this decision. Its authors lift no block that others set.")
    return ALLOWED
