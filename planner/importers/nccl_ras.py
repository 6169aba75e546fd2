"""NCCL RAS (``ncclras``), text and JSON: what a running job's communicators look like at one moment.

A health flag, never a source of speed. A mismatch is normal for a moment and no error is no proof of health (jobs hung
with every communicator "OK"), so the flag needs a second snapshot; one that stays the same is named. Addresses of nodes
and process ids are not kept.
"""

import re
from collections.abc import Iterator

from planner.importers.checks import check_name
from planner.importers.model import Importer, Recognised, Run
from planner.importers.ras_json import communicator_state, counts_of, ranks_of
from planner.importers.ras_text import Group, Snapshot, snapshots
from planner.importers.sheet import Sheet
from planner.importers.source import Source

__all__ = ["IMPORTER"]

_SHOWN = re.compile(
    r"^[ \t]*(?:Job summary[ \t\r]*$|Communicators\.\.\. \([0-9.]{1,20}s\)|"
    r"Group[ \t]+Comms[ \t]+Nodes[ \t]+Ranks\b)",
    re.M,
)
_JSON = {"communicators", "nccl_version"}
_EXPECTED = ("nodes", "devices", "communicators", "collective_library_version")
MAX_GROUPS = 1000
_SNAPSHOT = "one moment: a mismatch may be gone in the next snapshot, and no error is no proof of health"


def _recognise(source: Source) -> Recognised | None:
    first = source.first
    if isinstance(first, dict) and first.keys() >= _JSON:
        version = first["nccl_version"]
        return Recognised(version=f"JSON, NCCL {version[:20]}" if isinstance(version, str) else "JSON")
    if not source.shows(("Job summary", "Communicators...", "Group"), _SHOWN):
        return None
    version = re.search(r"^NCCL version ([0-9][0-9.]{1,15})", source.head, re.M)
    return Recognised(version=f"text, NCCL {version[1]}" if version else "text")


def _read(source: Source, recognised: Recognised) -> Iterator[Run]:
    runs = _json_runs(source) if recognised.version.startswith("JSON") else _text_runs(source)
    earlier: set[str] = set()
    for sheet, mismatches in runs:
        for communicator in sorted({mismatch.partition(" ")[0] for mismatch in mismatches & earlier}):
            sentence = f"{communicator}: ranks stand where they stood in the snapshot before; it may hang"
            sheet.remark("import/communicator", sentence, effect="held")
        earlier = mismatches
        sheet.remark("import/snapshot", _SNAPSHOT)
        check_name(sheet, source.name)
        yield sheet.finish(_EXPECTED)


def _text_runs(source: Source) -> Iterator[tuple[Sheet, set[str]]]:
    for number, snapshot in enumerate(snapshots(source), start=1):
        sheet = Sheet(f"run-{number}", {}, line=snapshot.line)
        if snapshot.version:
            sheet.put_text("collective_library_version", snapshot.version[0], snapshot.version[1])
        for name, (value, place) in snapshot.totals.items():
            sheet.put(name, value, place)
        _take_groups(sheet, snapshot)
        _take_errors(sheet, snapshot)
        yield sheet, snapshot.mismatches


def _take_groups(sheet: Sheet, snapshot: Snapshot) -> None:
    if not snapshot.groups and not snapshot.totals:
        sheet.remark("import/no_counters", "no table of a job or of communicators is in the text", effect="refused")
    if snapshot.groups:
        sheet.put("communicators", sum(group.communicators for group in snapshot.groups), snapshot.groups[0].place)
    for group in snapshot.groups[:MAX_GROUPS]:
        of = f"group-{group.number}"
        if group.ranks_each:
            sheet.put("group_ranks", group.ranks_each, group.place, of=of)
        sheet.put("communicators", group.communicators, group.place, of=of)
        sheet.put_text("communicators_state", f"{group.status} {group.errors}", group.place, of=of, standing="measured")
        if group.errors != "OK":
            sentence = f"{of}: {group.communicators} communicators are {group.errors} ({group.status})"
            sheet.remark("import/communicator", sentence, group.place, "held")
        _check_group(sheet, group, of)


def _check_group(sheet: Sheet, group: Group, of: str) -> None:
    known = sheet.value("devices")
    if group.ranks_each and known is not None and group.ranks_each > known:
        sentence = f"{of} has {group.ranks_each} ranks, the job {known} devices: the tool prints what cannot be meant"
        sheet.remark("import/implausible", sentence, group.place, "held")


def _take_errors(sheet: Sheet, snapshot: Snapshot) -> None:
    for kind, place in snapshot.errors.items():
        sentence = f"the job reports {kind}: processes or ranks do not answer"
        sheet.remark("import/communicator", sentence, place, "held")
    largest = max((group.ranks_each or 0 for group in snapshot.groups), default=0)
    for missing, place in snapshot.missing_ranks:
        if missing > largest:
            sentence = f"{missing} ranks are missing of communicators of at most {largest}: left out"
            sheet.remark("import/implausible", sentence, place)


def _json_runs(source: Source) -> Iterator[tuple[Sheet, set[str]]]:
    for number, document in enumerate(source.documents(), start=1):
        sheet = Sheet(f"run-{number}", document.tree, line=document.line)
        mismatches: set[str] = set()
        if isinstance(document.tree, dict) and isinstance(sheet.get("communicators"), list):
            sheet.text("collective_library_version", "nccl_version", standing="measured")
            sheet.text("local_time", "timestamp", standing="hint")
            sheet.number("communicators", "communicators_count")
            _take_places(sheet)
            for index in range(min(len(sheet.get("communicators")), MAX_GROUPS)):
                mismatches |= _take_communicator(sheet, index)
        else:
            sheet.remark("import/format", "this value is no answer of ncclras", effect="refused")
        yield sheet, mismatches


def _take_places(sheet: Sheet) -> None:
    every = [
        rank
        for communicator in sheet.get("communicators")
        for key in ("ranks", "missing_ranks")
        for rank in ranks_of(communicator, key)
    ]
    hosts = {repr(rank.get("host")) for rank in every}
    if every:
        sheet.put("nodes", len(hosts), sheet.place("communicators"))
        devices = {(repr(rank.get("host")), repr(rank.get("cuda_dev"))) for rank in every}
        sheet.put("devices", len(devices), sheet.place("communicators"))


def _take_communicator(sheet: Sheet, index: int) -> set[str]:
    of, at = f"communicator-{index}", ("communicators", index)
    communicator = sheet.get(*at)
    sheet.number("group_ranks", *at, "size", of=of)
    state, missing = communicator_state(communicator), ranks_of(communicator, "missing_ranks")
    sheet.put_text("communicators_state", ",".join(state) or "OK", sheet.place(*at), of=of, standing="measured")
    if state:
        unanswered = f", {len(missing)} ranks do not answer" if missing else ""
        sheet.remark("import/communicator", f"{of} is {','.join(state)}{unanswered}", sheet.place(*at), "held")
    counts = {repr(sorted(counts_of(rank).items(), key=repr)) for rank in ranks_of(communicator, "ranks")}
    return {f"{of} {sorted(counts)}"} if "MISMATCH" in state else set()


IMPORTER = Importer(id="nccl-ras", title="NCCL RAS", recognise=_recognise, read=_read)
