"""Carries sign-offs to a new revision, where what their team owns is byte for byte the same; each carry is an entry.

A sign-off that once lost its ground is not carried again when an old state comes back: it has to stand on every
planned revision in between. An objection is carried whatever changed.
"""

from dataclasses import replace

from reviews.audit import Act, append
from reviews.clock import database_now
from reviews.facts import SignOffFact
from reviews.models import Revision, SignOff, SignOffCarry, TeamScope, Workspace
from reviews.policies.signoff_status import NEVER_CARRIED, OBJECT, judge_signoff
from reviews.selectors.judgement import Found, fetched, newest_fact
from reviews.selectors.revisions import revisions_of
from reviews.selectors.signoff_facts import signoff_facts


def signoffs_carry(workspace: Workspace, revision: Revision) -> tuple[SignOffCarry, ...]:
    """Carry every sign-off that stood until now to a planned newest revision. Call it inside ``workspace_write``."""
    found = fetched(workspace, [revision], revisions_of((revision.decision_id,)))
    newest, authors = newest_fact(revision, found), found.authors[revision.decision_id]
    rows = {row.pk: row for row in found.signoffs.rows.get(revision.decision_id, ())}
    digests = _digests_by_team(revision)
    carried = []
    for fact in signoff_facts(found.signoffs, revision, found.signers):
        row = rows[fact.id]
        if row.revision_id == revision.pk or fact.is_replaced or fact.meaning in NEVER_CARRIED:
            continue
        scope = digests.get(fact.team, {}).get(revision.number, "")
        if fact.meaning != OBJECT and not _has_stood(fact, found, digests.get(fact.team, {}), revision.number):
            continue
        judged = judge_signoff(
            replace(fact, carried_scope=scope), newest=newest, members=found.members, author_ids=authors
        )
        if judged.status == "CARRIED":
            carried.append(_carry(workspace, revision, row, scope))
    return tuple(carried)


def _digests_by_team(revision: Revision) -> dict[str, dict[int, str]]:
    """Return team -> revision number -> scope digest, over the planned revisions of the decision."""
    scopes = TeamScope.objects.filter(basis__planned__revision__decision_id=revision.decision_id)
    found: dict[str, dict[int, str]] = {}
    for team, number, digest in scopes.values_list("team", "basis__planned__revision__number", "digest"):
        found.setdefault(team, {})[number] = digest
    return found


def _has_stood(fact: SignOffFact, found: Found, digests: dict[int, str], newest: int) -> bool:
    """Whether the scope was the same on every planned revision from the one it last stood on."""
    carries = found.signoffs.carries.get(fact.id, ())
    stands_on = max([fact.revision, *(carry.revision.number for carry in carries)])
    between = {digest for number, digest in digests.items() if stands_on <= number <= newest}
    return stands_on in digests and len(between) == 1


def _carry(workspace: Workspace, revision: Revision, row: SignOff, scope: str) -> SignOffCarry:
    entry = append(
        workspace,
        Act(
            action="signoff.carried",
            decision=revision.decision.number,
            revision=revision.number,
            subject=revision.planned.subject,
            team=row.team.slug,
            meaning=row.meaning,
            payload_type="topogate.carry/v1",
            payload={
                "person": row.person.token,
                "turn": row.turn,
                "scope": scope,
                "from_revision": row.revision.number,
                "from_subject": row.subject,
                "to_revision": revision.number,
                "to_subject": revision.planned.subject,
            },
        ),
    )
    return SignOffCarry.objects.create(
        signoff=row, revision=revision, scope=scope, entry=entry.seq, carried_at=database_now()
    )
