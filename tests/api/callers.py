"""Every kind of caller of the API, with the token that they come with."""

from datetime import timedelta

from django.utils import timezone

from reviews.models import ApiToken, Membership, Person
from reviews.services.tokens import token_revoke
from tests.api.asking import token_of
from tests.reviews.factories import Cast, cast

CALLERS = (
    "nobody",
    "unknown token",
    "member elsewhere",
    "token of another workspace",
    "reader",
    "author",
    "author, expired",
    "author, revoked",
    "author, switched off",
    "author, no longer a member",
)


def token(people: Cast, kind: str) -> str:
    """Make the token of one kind of caller."""
    if kind == "nobody":
        return ""
    if kind == "unknown token":
        return "tg_" + "a" * 43
    if kind in ("member elsewhere", "token of another workspace"):
        elsewhere = cast(slug="elsewhere")
        person = elsewhere.alice
        if kind == "token of another workspace":
            person = people.alice
            Membership.objects.create(workspace=elsewhere.workspace, person=person, role="author")
        return token_of(elsewhere, person, "submit")
    if kind == "reader":
        return token_of(people, people.alice, "read")
    secret = token_of(people, people.alice, "submit")
    end(people, kind)
    return secret


def end(people: Cast, kind: str) -> None:
    made = ApiToken.objects.get()
    if kind == "author, expired":
        ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif kind == "author, revoked":
        token_revoke(actor=people.alice, workspace=people.workspace, token_id=made.pk)
    elif kind == "author, switched off":
        Person.objects.filter(pk=people.alice.pk).update(is_active=False)
    elif kind == "author, no longer a member":
        Membership.objects.filter(person=people.alice).delete()
