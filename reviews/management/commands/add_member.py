"""``manage.py add_member``: add somebody to a workspace, with a role and seats in teams."""

import sys
from getpass import getpass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.models import Person, Role, Team, Workspace
from reviews.services.people import member_add, seat_give


class Command(BaseCommand):
    """Makes the account too when there is none; the password is asked for or read from standard input."""

    help = "Add a person to a workspace."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take who, where and what for."""
        parser.add_argument("workspace")
        parser.add_argument("login", help="lower-case letters, digits, hyphens")
        parser.add_argument("--name", help="printed name; needed for a new account")
        parser.add_argument("--role", choices=Role.values, default=Role.MEMBER.value)
        parser.add_argument("--team", action="append", default=[], help="may be given several times")

    def handle(self, *args: Any, **options: Any) -> None:
        """Add them, or say why not."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']}.")
        known = set(Team.objects.filter(workspace=workspace).values_list("slug", flat=True))
        unknown = sorted(set(options["team"]) - known)
        if unknown:
            raise CommandError(f"{workspace.slug} has no team {unknown[0]}. It has {', '.join(sorted(known))}.")
        person = Person.objects.filter(login=options["login"]).first() or self._new(options["login"], options["name"])
        membership = member_add(workspace=workspace, person=person, role=Role(options["role"]))
        for team in options["team"]:
            seat_give(membership=membership, team=team)
        self.stdout.write(f"{person.login} is {membership.role} in {workspace.slug}")

    def _new(self, login: str, name: str | None) -> Person:
        if not name:
            raise CommandError(f"There is no account {login}. Give --name to make one.")
        password = getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
        person = Person(login=login, display_name=name)
        try:
            person.clean_fields(exclude=["password"])
            validate_password(password, person)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        person.set_password(password)
        person.save()
        return person
