"""``manage.py planner_dry_run``: which effective decisions the planner of this release would decide otherwise."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from reviews.models import Workspace
from reviews.planning import PLANNER_VERSION
from reviews.selectors.upgrade import upgraded_decisions


class Command(BaseCommand):
    """Run it with the new release against the database before the release is used. Exit 1 where something changes."""

    help = "Plan every effective decision with this release's planner and say what would change; stores nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the workspaces."""
        parser.add_argument("workspace", nargs="*", help="all workspaces when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say it decision by decision."""
        workspaces = Workspace.objects.order_by("slug")
        if options["workspace"]:
            workspaces = workspaces.filter(slug__in=options["workspace"])
        changed = total = 0
        for workspace in workspaces:
            for row in upgraded_decisions(workspace):
                total += 1
                changed += bool(row.changes)
                said = "; ".join(row.changes) or "same"
                self.stdout.write(f"{workspace.slug} {row.label} {row.slot} (planner {row.planner_version}): {said}")
        self.stdout.write(f"planner {PLANNER_VERSION}: {changed} of {total} effective decisions would change")
        if changed:
            raise SystemExit(1)
