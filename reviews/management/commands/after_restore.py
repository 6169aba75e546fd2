"""``manage.py after_restore``: check what a backup brought back, and record in every log that it was restored."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.models import Workspace
from reviews.services.restores import RestoredLog, blobs_check, log_check, log_restored
from reviews.transparency.notes import NoteError, Verifier


class Command(BaseCommand):
    """Exit 0: all is what it was, and recorded. 1: something is at fault; nothing is recorded. 2: a file is none."""

    help = "After restoring a backup: hash every blob, check every log against saved checkpoints, record the restore."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take checkpoints that were kept elsewhere, and keys that signed them."""
        parser.add_argument("--checkpoint", type=Path, action="append", default=[], help="file; may be given again")
        parser.add_argument("--key", action="append", default=[], help="name+id+key that signed; may be given again")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one line for the blobs and one for every log.

        Raises:
            CommandError: a file or key cannot be read, or something is at fault.
        """
        try:
            notes = [path.read_bytes() for path in options["checkpoint"]]
            keys = [Verifier.of(key) for key in options["key"]]
        except (OSError, NoteError) as error:
            raise CommandError(str(error), returncode=2) from error
        count, changed = blobs_check()
        self.stdout.write(f"blobs: {count - len(changed)} of {count} hash to their digests")
        for sha256 in changed:
            self.stdout.write(f"  changed: {sha256}")
        logs = [log_check(workspace, notes, keys) for workspace in Workspace.objects.order_by("slug")]
        for log in logs:
            self.stdout.write(line(log))
        unknown = len(notes) - sum(len(log.covered) for log in logs)
        if changed or any(log.faults for log in logs) or unknown:
            raise CommandError("What was restored is not what was saved. Nothing was recorded.", returncode=1)
        for log in logs:
            entry = log_restored(log)
            self.stdout.write(f"{log.workspace.slug}: restored, entry {entry.seq}")


def line(log: RestoredLog) -> str:
    """Say what was found of one log."""
    said = f"{log.workspace.slug}: {log.entries} entries, head {log.head}"
    if log.faults:
        return f"{said}; " + "; ".join(log.faults)
    if not log.covered:
        return f"{said}; not checked against any saved checkpoint: a lost tail would not show"
    return f"{said}; continues the saved checkpoint of {max(log.covered)} entries"
