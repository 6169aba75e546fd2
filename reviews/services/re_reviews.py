"""Asks teams to review again: what they signed so far counts no more, whatever carried it."""

from collections.abc import Sequence

from reviews.clock import database_now
from reviews.errors import Finding, InvalidRequestError, printable
from reviews.models import DecisionState, Person, ReReview, Revision, SignOff, Team, Workspace
from reviews.policies.permissions import may_ask_again
from reviews.services.acting import acting, require, require_prose
from reviews.services.people import UNTRACED, Trace
from reviews.services.states import not_in_review

OPEN = (DecisionState.IN_REVIEW, DecisionState.EMERGENCY)


def re_review_ask(
    *, actor: Person, workspace: Workspace, number: int, teams: Sequence[str], reason: str, trace: Trace = UNTRACED
) -> tuple[ReReview, ...]:
    """Ask teams to look again; an author asks any team, a member their own. The same again changes nothing.

    Raises:
        NotFoundError: no such decision, or the actor is no member of the workspace.
        NotAllowedError: the actor is neither an author of it nor a member of every team named.
        InvalidRequestError: no reason, or no team that the policy has.
        ConflictError: the decision is not in review.
    """
    with acting(actor=actor, workspace=workspace, number=number, refused="re_review.refused", trace=trace) as act:
        judgement = act.judged()
        wanted = sorted(set(teams))
        require(may_ask_again(act.standing, teams=wanted, author_ids=judgement.author_ids))
        unknown = [team for team in wanted if team not in judgement.document.teams]
        if unknown or not wanted:
            expected = f"teams of the policy: {', '.join(sorted(judgement.document.teams))}"
            problem = Finding("request", "request/teams", "teams", expected, printable(", ".join(unknown)) or "nothing")
            raise InvalidRequestError((problem,))
        said = require_prose("reason", reason)
        if act.decision.state not in OPEN:
            raise not_in_review(act.decision)
        last = SignOff.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        newest = Revision.objects.get(decision=act.decision, number=judgement.newest.number)
        same = ReReview.objects.filter(revision=newest, person_id=act.standing.person_id, reason=said, up_to=last)
        earlier = {row.team.slug: row for row in same.filter(team__slug__in=wanted).select_related("team")}
        if sorted(earlier) == wanted:  # as after a double click: nobody signed anything since
            return tuple(earlier[team] for team in wanted)
        asked = tuple(
            ReReview.objects.create(
                revision=newest,
                team=team,
                person_id=act.standing.person_id,
                reason=said,
                up_to=last,
                asked_at=database_now(),
            )
            for team in Team.objects.filter(workspace=workspace, slug__in=wanted).order_by("slug")
        )
        act.record(
            "re_review.asked",
            revision=newest.number,
            subject=judgement.newest.subject,
            reason=said,
            payload_type="topogate.re_review/v1",
            payload={"teams": wanted},
        )
        return asked
