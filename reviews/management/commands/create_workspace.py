"""``manage.py create_workspace``: the first step of a real installation, which starts with no account at all."""

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.policies.document import DEFAULT_POLICY
from reviews.services.people import workspace_create


class Command(BaseCommand):
    """Creates a workspace with the six default teams."""

    help = "Create a workspace with the default policy."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take name and title."""
        parser.add_argument("slug", help="name in addresses: lower-case letters, digits, hyphens")
        parser.add_argument("--title", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Create it, or say why not."""
        try:
            workspace = workspace_create(slug=options["slug"], title=options["title"], policy=DEFAULT_POLICY)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"workspace {workspace.slug} is there, its log is {workspace.log_origin}")
