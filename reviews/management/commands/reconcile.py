"""``manage.py reconcile``: put plan jobs right by hand, or only check that they are."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.selectors.jobs import job_faults
from reviews.services.jobs import jobs_sweep


class Command(BaseCommand):
    """Exit 0: all is right. 1: ``--check`` found something."""

    help = "Wake jobs that nobody works on and give up on those that failed too often."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the choice between mending and checking."""
        parser.add_argument("--check", action="store_true", help="change nothing, report what is not right")

    def handle(self, *args: Any, **options: Any) -> None:
        """Sweep once, or check."""
        if not options["check"]:
            sweep = jobs_sweep()
            self.stdout.write(f"{sweep.woken} woken, {sweep.given_up} given up")
            if sweep.unheard:
                self.stdout.write(f"{len(sweep.unheard)} still waiting: the broker takes no messages")
            return
        faults = job_faults()
        for fault in faults:
            self.stdout.write(fault)
        if faults:
            raise CommandError(f"{len(faults)} not right", returncode=1)
        self.stdout.write("all jobs, plans and revisions agree")
