"""Who is told about a proposal: whoever can countersign it when it is made, and who made it of what became of it."""

from collections.abc import Mapping, Sequence

from reviews.models import Membership, Person, Proposal, Workspace
from reviews.models.notices import NoticeReason
from reviews.selectors.attention import Said, Told
from reviews.selectors.countersigning import Waits, waits_of
from reviews.selectors.countersigning_facts import proposed_body

MADE = "proposal.made"
ENDED = ("proposal.countersigned", "proposal.declined", "proposal.lapsed")
OF_PROPOSALS = frozenset({MADE, *ENDED})


def told_of_proposals(workspace: Workspace, entries: Sequence[Said], *, is_judged: bool = True) -> list[Told]:
    """Return who is told about entries of proposals, in their order; nobody where ``is_judged`` is off.

    Whoever took a proposal back knows of it; of one that is over by now nobody is asked any more.

    Raises:
        TamperedError: what is proposed, or a policy, is not what was stored.
    """
    proposals = {row.pk: row for row in _proposals(workspace, entries)}
    made = [proposals[one.proposal] for one in entries if one.entry.action == MADE and one.proposal in proposals]
    still_open = set(Proposal.objects.still_open().filter(pk__in=[row.pk for row in made]).values_list("pk", flat=True))
    asking = [(row, proposed_body(row)) for row in made if row.pk in still_open] if is_judged else []
    waits = waits_of(workspace, asking)
    tokens = {one.entry.actor_token for one in entries} - {""}
    actors = {person.token: person for person in Person.objects.filter(token__in=tokens)}
    active = {"workspace": workspace, "person__is_active": True}
    present = set(Membership.objects.filter(**active).values_list("person_id", flat=True))
    told = []
    for one in entries:
        proposal = proposals.get(one.proposal or 0)
        if proposal is None:
            continue
        actor = actors.get(one.entry.actor_token)
        people = _people(one, proposal, waits) if is_judged else {}
        reached = {pk: why for pk, why in people.items() if pk in present and (actor is None or pk != actor.pk)}
        told.append(Told(one, proposal.decision, actor, reached, proposal))
    return told


def _people(said: Said, proposal: Proposal, waits: Mapping[int, Waits]) -> dict[int, NoticeReason]:
    if said.entry.action != MADE:
        return {proposal.person_id: NoticeReason.PROPOSER}
    found = waits.get(proposal.pk)
    return dict.fromkeys(found.seconds, NoticeReason.SECOND) if found else {}


def _proposals(workspace: Workspace, entries: Sequence[Said]) -> list[Proposal]:
    rows = Proposal.objects.filter(workspace=workspace, pk__in=[one.proposal for one in entries if one.proposal])
    return list(rows.select_related("body", "decision", "person").order_by("pk"))
