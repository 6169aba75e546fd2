"""What a proposal does once it is countersigned, in a sentence, and whom it waits for."""

from collections.abc import Mapping, Sequence
from typing import Any

from planner.decision_numbers import decision_label
from planner.times import parsed_time
from reviews.clock import when
from reviews.models import ProposalKind
from reviews.policies.document import team_title

MOST_NAMED = 4


def asked_text(kind: str, body: Mapping[str, Any], objection: str = "") -> str:
    """Say what is done when a second person agrees; ``objection`` says whose one is lifted."""
    if kind == ProposalKind.WAIVER:
        return f"Lets {body['gate']} of {body['trial']} pass by until {_time(body['ends_at'])}."
    if kind == ProposalKind.EMERGENCY:
        gates = ", ".join(body["failing_gates"])
        past = f", past {gates}" if gates else ""
        return f"Puts {body['trial']} into force for {body['hours']} h{past}. Incident {body['incident']}."
    if kind == ProposalKind.ROLLBACK:
        return f"Goes back to {decision_label(body['to'])}."
    if kind == ProposalKind.LIFT_OBJECTION:
        return f"Lifts the objection {objection}." if objection else "Lifts an objection."
    return "Revokes it for good." if kind == ProposalKind.REVOCATION else "Puts another policy in place of this one."


def objection_text(person: str, team: str) -> str:
    """Say whose objection it is."""
    return f"of {person} for {team_title(team).lower()}"


def waiting_text(names: Sequence[str], takes: str) -> str:
    """Say who can be the second person, or that nobody can and what to do then; ``takes`` says whom it takes."""
    if names:
        shown = names if len(names) <= MOST_NAMED else names[: MOST_NAMED - 1]
        last = shown[-1] if len(shown) == len(names) else f"{len(names) - len(shown)} more"
        before = shown[:-1] if len(shown) == len(names) else shown
        return f"Waits for a second person: {', '.join(before)}{' or ' if before else ''}{last}."
    return (
        f"Waits for a second person, and nobody can be it: it takes {takes}. An admin adds one under People, or it is "
        "taken back."
    )


def takes_text(teams: frozenset[str] | None) -> str:
    """Say whom it takes as a second person; ``teams`` is None where it takes an admin."""
    if teams is None:
        return "another admin"
    named = " or ".join(team_title(team) for team in sorted(teams))
    return f"another member of {named or 'a team that the policy does not have'} who is no author of the decision"


def _time(value: object) -> str:
    at = parsed_time(str(value))
    return f"{when(at)} UTC" if at else str(value)
