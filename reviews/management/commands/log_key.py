"""``manage.py log_key``: make the key that signs the logs, or print the public keys to check them with."""

import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reviews.log_keys import log_signer
from reviews.models import Checkpoint, Workspace
from reviews.transparency.keys import new_key


class Command(BaseCommand):
    """Exit 0: done. 1: the file is there already or cannot be made."""

    help = "Make the key that signs checkpoints, or print the public keys that have signed them."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file to make."""
        parser.add_argument("--new", type=Path, metavar="FILE", help="write a new private key there; never over one")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make or print.

        Raises:
            CommandError: the file could not be made.
        """
        if options["new"]:
            self._make(options["new"])
            return
        for workspace in Workspace.objects.order_by("slug"):
            for key in public_keys(workspace):
                self.stdout.write(key)

    def _make(self, path: Path) -> None:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}. No key was made.", returncode=1) from error
        with os.fdopen(handle, "w") as file:
            file.write(new_key())
        self.stdout.write(f"{path} holds a new key. Give it to workers as LOG_SIGNING_KEY_FILE.")


def public_keys(workspace: Workspace) -> list[str]:
    """Return the keys that signed a log, in that order, and the one that signs it next if this process holds it."""
    keys = list(Checkpoint.objects.filter(workspace=workspace).order_by("pk").values_list("key", flat=True))
    signer = log_signer(workspace)
    return list(dict.fromkeys([*keys, *([str(signer.verifier)] if signer else [])]))
