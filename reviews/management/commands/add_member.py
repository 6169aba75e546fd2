"""``manage.py add_member``: bring somebody into a workspace from the server's shell, with a role and seats in teams."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.clock import when
from reviews.models import Person, Role, Team, Workspace
from reviews.policies.roster import may_hold_seat
from reviews.services.people import member_add, seat_give
from reviews.services.people_invitations import invitation_make


class Command(BaseCommand):
    """Makes the account too when there is none. Nobody's password passes through here: a link that works once does."""

    help = "Add a person to a workspace; print a one-time link for a new account."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take who, where and what for."""
        parser.add_argument("workspace")
        parser.add_argument("login", help="lower-case letters, digits, hyphens")
        parser.add_argument("--name", help="printed name; needed for a new account")
        parser.add_argument("--role", choices=Role.values, help="member, unless they have one already")
        parser.add_argument("--team", action="append", default=[], help="may be given several times")
        parser.add_argument("--link", action="store_true", help="print a link for an account that is there, too")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add them, or say why not."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']}.")
        known = set(Team.objects.filter(workspace=workspace).values_list("slug", flat=True))
        unknown = sorted(set(options["team"]) - known)
        if unknown:
            raise CommandError(f"{workspace.slug} has no team {unknown[0]}. It has {', '.join(sorted(known))}.")
        person = Person.objects.filter(login=options["login"]).first()
        role = self._role(person, workspace, options["role"])
        verdict = may_hold_seat(role)
        if options["team"] and not verdict.allowed:
            raise CommandError(verdict.reason)
        needs_link = person is None or options["link"]
        person = person or self._new(options["login"], options["name"])
        membership = member_add(workspace=workspace, person=person, role=role)
        for team in options["team"]:
            seat_give(membership=membership, team=team)
        self.stdout.write(f"{person.login} is {membership.role} in {workspace.slug}")
        if needs_link:
            made = invitation_make(workspace=workspace, person=person)
            self.stdout.write(f"sets the password once, until {when(made.expires_at)} UTC: {made.address}")

    def _role(self, person: Person | None, workspace: Workspace, asked: str | None) -> Role:
        held = workspace.memberships.filter(person=person).first() if person else None
        return Role(asked or (held.role if held else Role.MEMBER))

    def _new(self, login: str, name: str | None) -> Person:
        if not name:
            raise CommandError(f"There is no account {login}. Give --name to make one.")
        person = Person(login=login, display_name=name)
        person.set_unusable_password()
        try:
            person.clean_fields(exclude=["password"])
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        person.save()
        return person
