"""A new version of the policy: one admin proposes it, another countersigns."""

from typing import Any

from planner import strict_json
from planner.canonical import canonical_bytes, content_id
from planner.errors import DocumentRefusedError
from reviews.errors import ConflictError, Finding, InvalidRequestError, is_prose, length_of
from reviews.models import Person, Policy, ProposalKind
from reviews.policies.document import PolicyDocument, read_policy
from reviews.policies.permissions import may_administer
from reviews.services.acting import require
from reviews.services.people import policy_set
from reviews.services.two_persons import Handler, Proposing, wrong


def policy_tree(raw: bytes) -> Any:
    """Read the JSON of a proposed policy, as strictly as documents are read; what it says is judged when proposed.

    Raises:
        InvalidRequestError: with every problem of it as JSON.
    """
    try:
        return strict_json.parse(raw)
    except DocumentRefusedError as refused:
        raise InvalidRequestError(
            tuple(Finding.of(problem, "request", pointer=f"policy{problem.pointer}") for problem in refused.problems)
        ) from refused


def _may(proposing: Proposing) -> None:
    require(may_administer(proposing.standing))


def _check(proposing: Proposing) -> str:
    body = proposing.body
    newest = Policy.objects.filter(workspace=proposing.workspace).order_by("-version").first()
    if newest is not None and body.get("base") != newest.content_id:
        raise ConflictError(f"The policy moved: its newest version is {newest.version}. Propose a change of that one.")
    if newest is not None and newest.content_id == content_id(body.get("policy")):
        raise ConflictError("This is the policy already.")
    try:
        document = read_policy(canonical_bytes(body.get("policy")))
    except (TypeError, ValueError) as error:
        raise wrong("policy", "a policy document", error) from error
    _require_workable(document)
    return ""


def _require_workable(document: PolicyDocument) -> None:
    """Refuse what is well formed and could not be read or worked with; policies that are in force are not asked."""
    for slug, team in document.teams.items():
        if not is_prose(team.title, len(team.title)):
            raise wrong("policy", f"a title of {slug} that people can read", length_of(team.title))
    if len(set(document.duties.revocation)) < len(document.duties.revocation):
        raise wrong("policy", "two teams that revoke together", f"{document.duties.revocation[0]} twice")


def _carry_out(proposing: Proposing) -> None:
    policy_set(
        workspace=proposing.workspace,
        policy=proposing.body["policy"],
        actor=Person.objects.get(pk=proposing.standing.person_id),
    )


POLICY_CHANGE = Handler(
    kind=ProposalKind.POLICY,
    may_propose=_may,
    may_countersign=_may,
    propose=_check,
    countersign=_check,
    carry_out=_carry_out,
)
