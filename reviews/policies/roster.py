"""Who may change whose place in a workspace. Admins keep people; nobody keeps themselves, and no admin ever signs."""

from reviews.facts import Standing
from reviews.policies.permissions import ALLOWED, SIGNING_ROLES, Verdict, may_administer

ROLE_WORDS = {
    "member": ("Member", "reads and comments"),
    "author": ("Author", "submits as well"),
    "auditor": ("Auditor", "reads, exports and verifies everything, changes nothing"),
    "admin": ("Admin", "keeps people and policy, never signs"),
}
"""What each role is called and does. Members and authors with a seat are team members or leads, and sign for it."""


def may_change_member(standing: Standing, *, person_id: int) -> Verdict:
    """Admins change the place of others.

    That nobody changes their own keeps one admin in every workspace, and keeps an admin from giving themselves a seat
    to sign from.
    """
    verdict = may_administer(standing)
    if verdict.allowed and person_id == standing.person_id:
        return Verdict(False, "You cannot change your own place. Another admin can.")
    return verdict


def may_hold_seat(role: str) -> Verdict:
    """Seats are signed from, so only roles that sign hold them."""
    if role not in SIGNING_ROLES:
        return Verdict(False, f"{ROLE_WORDS[role][0]}s never sign, so they hold no seat. Change the role first.")
    return ALLOWED


def may_touch_account(standing: Standing, *, person_id: int, are_all_administered: bool) -> Verdict:
    """An account is more than its place here: closing it or its password takes an admin of all its workspaces."""
    verdict = may_change_member(standing, person_id=person_id)
    if verdict.allowed and not are_all_administered:
        return Verdict(False, "This account belongs to workspaces that you are no admin of. Remove it from this one.")
    return verdict
