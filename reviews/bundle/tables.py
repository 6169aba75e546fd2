"""The tables of a bundle: entries of the log and sign-offs, as CSV that runs nothing."""

from collections.abc import Iterator

import msgspec

from reviews.bundle.log_files import is_shown
from reviews.bundle.reviewed import Names
from reviews.models import AuditEntry, Checkpoint
from reviews.spreadsheet import Value, csv_lines

ENTRY_COLUMNS = (
    *("seq", "at", "action", "decision", "revision", "who", "actor", "team", "meaning", "reason"),
    *("subject", "payload_type", "payload_sha256", "sha256"),
)
SIGNOFF_COLUMNS = (
    *("seq", "at", "decision", "revision", "team", "who", "person", "in_place_of", "meaning", "statement"),
    *("subject", "scope", "auth_method", "auth_age_s"),
)


def entries_csv(checkpoint: Checkpoint, decision: int | None, names: Names) -> Iterator[bytes]:
    """Yield the entries that are in the bundle in full."""
    entries = AuditEntry.objects.filter(workspace=checkpoint.workspace, seq__lt=checkpoint.size).order_by("seq")
    rows = entries.values_list("action", "decision_number", "sha256", "data").iterator(chunk_size=500)
    return csv_lines(
        ENTRY_COLUMNS,
        (
            _entry(msgspec.json.decode(bytes(data)), sha256, names)
            for action, about, sha256, data in rows
            if is_shown(action, about, decision)
        ),
    )


def _entry(fields: dict[str, Value], sha256: str, names: Names) -> list[Value]:
    values = fields | {"who": names(fields["actor"]), "sha256": sha256}
    return [values[column] for column in ENTRY_COLUMNS]


def signoffs_csv(checkpoint: Checkpoint, decision: int | None, names: Names) -> Iterator[bytes]:
    """Yield every sign-off that was given, whatever became of it."""
    entries = AuditEntry.objects.filter(
        workspace=checkpoint.workspace, seq__lt=checkpoint.size, action="signoff.given"
    ).order_by("seq")
    if decision is not None:
        entries = entries.filter(decision_number=decision)
    rows = entries.values_list("data", "payload__data").iterator(chunk_size=500)
    return csv_lines(
        SIGNOFF_COLUMNS,
        (_signoff(msgspec.json.decode(bytes(data)), msgspec.json.decode(bytes(said)), names) for data, said in rows),
    )


def _signoff(fields: dict[str, Value], said: dict[str, Value], names: Names) -> list[Value]:
    values = {"in_place_of": None} | fields | said | {"who": names(said["person"])}
    return [values[column] for column in SIGNOFF_COLUMNS]
