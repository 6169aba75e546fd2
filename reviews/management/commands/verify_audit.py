"""``manage.py verify_audit``: check the audit log of one workspace or of all; the exit code tells."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.models import Workspace
from reviews.verification import verify


class Command(BaseCommand):
    """Exit 0: every entry holds. 1: an entry is at fault. 2: there is no such workspace, or none at all."""

    help = "Check the audit log, and the documents, plans and sign-offs that it records."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a workspace's name."""
        parser.add_argument("--workspace", help="name of the workspace; all when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one line per workspace."""
        workspaces = Workspace.objects.order_by("slug")
        if options["workspace"]:
            workspaces = workspaces.filter(slug=options["workspace"])
        results = [(workspace, verify(workspace)) for workspace in workspaces]
        if not results:
            raise CommandError("There is no such workspace.", returncode=2)
        for workspace, result in results:
            if result.holds:
                self.stdout.write(f"{workspace.slug}: {result.entries} entries hold, head {result.head}")
            else:
                self.stdout.write(f"{workspace.slug}: broken at seq {result.bad_seq}: {result.reason}")
        self.stdout.write("Not checked: whether the tail of a log was cut off. Compare head with one kept elsewhere.")
        if not all(result.holds for _, result in results):
            raise CommandError("The log does not hold.", returncode=1)
