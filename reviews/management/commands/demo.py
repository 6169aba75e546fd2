"""``manage.py demo``: load the demo workspace and print logins that are good until the next start."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.errors import ConflictError
from reviews.services.demo import demo_logins, demo_submit
from reviews.services.demo_launch import EXAMPLE, demo_launch


class Command(BaseCommand):
    """Prints one line per person: login, password, what they do."""

    help = "Load the demo workspace (once) and print generated logins."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the folder with the examples."""
        parser.add_argument("--examples", type=Path, default=settings.BASE_DIR / "examples")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load what is missing."""
        try:
            logins = demo_logins()
        except ConflictError as error:
            raise CommandError(error.message) from error
        submitted = demo_submit(options["examples"])
        for refused in submitted.refused:
            self.stderr.write(f"example {refused.name} is refused: {refused.reason}")
        if EXAMPLE in submitted.revisions and (because := demo_launch(submitted.revisions[EXAMPLE])):
            self.stderr.write(f"example {EXAMPLE} is not in force: {because}")
        width = max(len(login.login) for login in logins)
        for login in logins:
            self.stdout.write(f"{login.login:<{width}}  {login.password}  {login.does}")
