"""``manage.py erase_person``: erase somebody from the server's shell; what they did stays under their token."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.errors import ConflictError
from reviews.services.erasure import person_erase


class Command(BaseCommand):
    """Erases an account that is closed, or that belongs to no workspace. It cannot be undone."""

    help = "Erase a person: name, address, sessions, factors and salt go, the log stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take whom, twice."""
        parser.add_argument("login")
        parser.add_argument("--repeat", required=True, help="the login once more: there is no way back")

    def handle(self, *args: Any, **options: Any) -> None:
        """Erase them, or say why not.

        Raises:
            CommandError: the login was not repeated, there is no such account, it is open, or was erased before.
        """
        if options["repeat"] != options["login"]:
            raise CommandError(f"--repeat: expected {options['login']}, found {options['repeat']}")
        try:
            erased = person_erase(login=options["login"])
        except ConflictError as refused:
            raise CommandError(refused.message) from refused
        self.stdout.write(f"erased; the rows of {erased.token} now belong to {erased.login}")
        self.stdout.write(f"recorded in the log of: {', '.join(erased.workspaces) or 'no workspace'}")
        if erased.texts_left:
            self.stdout.write(
                f"published comments that still mention the login, as the log holds them: {erased.texts_left}"
            )
