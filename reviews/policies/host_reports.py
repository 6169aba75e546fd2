"""What of a host's report is taken, and its outcome as it is kept. Pure.

Rules kept: what is refused is named with every fault of every report at once, without repeating a secret; a report
stands for the node that it names, else for its host, because hosts are renamed with every pod; its own time counts, so
nothing from before is played back and nothing is dated ahead.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, TypeVar

import msgspec
from msgspec import UnsetType

from planner.canonical import file_sha256
from planner.errors import DocumentRefusedError
from planner.identity import leaves
from planner.identity_check import How, KeyDifference
from planner.identity_environment import environment_of
from planner.identity_given import is_of_several
from planner.identity_live import Decided, Said, Seen, placed_of
from planner.identity_report import PLACEMENT, read_report
from planner.pointers import joined
from planner.records.identity_report import IdentityReport
from planner.times import parsed_time
from reviews.errors import Finding, InvalidRequestError, printable

T = TypeVar("T")
MAX_REPORT_BYTES = 8 * 2**20
MAX_REPORTS = 200
"""As many as one request has files."""
MAX_RANKS = 65_536
MAX_VALUE = 4096
"""Characters of one value: what differs is kept with every report, and shown with every answer."""
DIFFERENCES_KEPT = 1000
AHEAD = timedelta(seconds=60)
"""How far a host's clock may run ahead."""
SUBJECT = "TOPOGATE_SUBJECT"
RANK_MAP = ("placement", "rank_map")
VALUES_NAMED = 20
POINTER_LENGTH = 512
WHOLE = ""
"""The place of an identity that speaks for the whole slot."""
WHOLE_NAME = "the whole slot"
"""What people call that place."""

_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A report that is taken: what it says, of which place, and from when. ``node`` is "" where it names none.

    ``states_map`` is whether it calls its ranks the whole map, and no log does.
    """

    place: str
    host: str
    node: str = ""
    collected_at: datetime
    raw: bytes
    identity: Mapping[str, Any]
    seen: Seen
    states_map: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def subject(self) -> str:
        """The subject that its processes are labelled with, "" where they have no label."""
        return self.environment.get(SUBJECT, "")

    @property
    def sha256(self) -> str:
        """The digest of its bytes."""
        return file_sha256(self.raw)


def is_of_a_host(raw: bytes) -> bool:
    """Say whether bytes are the report of one host, and not an identity as a whole, or several put together."""
    try:
        tree = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b'"topogate.identity/' in raw
    if not _is_report(tree):
        return False
    host = tree.get("host")
    return not (isinstance(host, str) and is_of_several(host))


def _is_report(tree: Any) -> bool:
    """Read the name of the form out of what was parsed: in bytes the same name can be written in several ways."""
    return isinstance(tree, dict) and str(tree.get("schema", "")).startswith("topogate.identity/")


def time_of_whole(raw: bytes, *, now: datetime, fresh: timedelta) -> datetime | None:
    """Return when reports that were put together were collected, the first of them; None of what is no report.

    Raises:
        InvalidRequestError: the time is none, too long ago, or has not come.
    """
    tree = msgspec.json.decode(raw)
    if not _is_report(tree):
        return None
    said = tree.get("collected_at")
    text = said if isinstance(said, str) else ""
    collected = parsed_time(text)
    problems = tuple(_time_problems(collected, printable(text, 80) or "nothing", "identity", now, fresh))
    if problems:
        raise InvalidRequestError(problems)
    return collected


def each_read(documents: Sequence[bytes], read: Callable[[bytes, str], T]) -> list[T]:
    """Read every document of a request that has reports; ``read`` takes its bytes and the part that it came in.

    Raises:
        InvalidRequestError: with every fault of every one: too many, too large, or what ``read`` refuses.
    """
    problems: list[Finding] = []
    found: list[T] = []
    if len(documents) > MAX_REPORTS:
        problems.append(
            _wrong("request/report_count", "identity", f"at most {MAX_REPORTS} reports", f"{len(documents)}")
        )
    for number, raw in enumerate(documents[:MAX_REPORTS]):
        at = "identity" if len(documents) == 1 else f"identity[{number}]"
        try:
            if len(raw) > MAX_REPORT_BYTES:
                wanted = f"at most {MAX_REPORT_BYTES:,} bytes"
                raise InvalidRequestError((_wrong("request/report_size", at, wanted, f"{len(raw):,} bytes"),))
            found.append(read(raw, at))
        except InvalidRequestError as refused:
            problems += refused.problems
    if problems:
        raise InvalidRequestError(tuple(problems))
    return found


def report_of(raw: bytes, at: str) -> IdentityReport:
    """Read the report of a host.

    Raises:
        InvalidRequestError: with every fault of it.
    """
    try:
        return read_report(raw)
    except DocumentRefusedError as refused:
        found = tuple(Finding.of(one, "request", pointer=f"{at}{one.pointer}") for one in refused.problems)
        raise InvalidRequestError(found) from refused


def sent_reports(documents: Sequence[bytes], *, now: datetime, fresh: timedelta) -> tuple[Sent, ...]:
    """Read the reports of a request.

    Raises:
        InvalidRequestError: with every fault of every report.
    """
    taken: set[str] = set()

    def read(raw: bytes, at: str) -> Sent:
        sent = _sent(raw, at, now, fresh)
        if sent.place in taken:
            twice = _wrong("request/place_twice", at, "one report of each node or host", sent.place)
            raise InvalidRequestError((twice,))
        taken.add(sent.place)
        return sent

    return tuple(each_read(documents, read))


def _wrong(code: str, at: str, expected: str, found: str) -> Finding:
    return Finding("request", code, at, expected, found)


def _sent(raw: bytes, at: str, now: datetime, fresh: timedelta) -> Sent:
    report = report_of(raw, at)
    seen = placed_of(report)
    problems = [problem for check in CHECKS for problem in check(report, seen, at)]
    collected = parsed_time(report.collected_at)
    problems += _time_problems(collected, report.collected_at, at, now, fresh)
    if problems or collected is None:
        raise InvalidRequestError(tuple(problems))
    return Sent(
        place=_node(report) or report.host,
        host=report.host,
        node=_node(report),
        collected_at=collected,
        raw=raw,
        identity=report.identity,
        seen=seen,
        states_map=_states_map(report, seen),
        environment=report.environment,
    )


def _states_map(report: IdentityReport, seen: Seen) -> bool:
    if isinstance(report.placement, UnsetType):
        return False
    from_zero = {entry["rank"] for entry in seen.ranks} == set(range(len(seen.ranks)))
    return PLACEMENT not in report.sources or not from_zero


def part_problems(sent: Sequence[Sent], decided: Decided) -> Iterator[Finding]:
    """Yield every rank map that a node states of its own ranks alone, where more were decided.

    It would say that there are no others, and end the decision. Where a log says so it is true, and counts.
    """
    for number, one in enumerate(sent):
        ranks = {entry["rank"] for entry in one.seen.ranks}
        if not (one.node and one.states_map and ranks < decided.by_rank.keys()):
            continue
        if all(entry["node"] == one.node for entry in one.seen.ranks):
            at = "identity" if len(sent) == 1 else f"identity[{number}]"
            wanted = f"all {len(decided.ranks):,} ranks; of one host its own in `ranks_seen`, with `world_size`"
            found = f"{len(ranks):,}, all on {one.node}"
            yield _wrong("request/rank_map_part", f"{at}/placement/rank_map", wanted, found)


def _node(report: IdentityReport) -> str:
    return "" if isinstance(report.node, UnsetType) else report.node


def _host_problems(report: IdentityReport, seen: Seen, at: str) -> Iterator[Finding]:
    if not _HOST.fullmatch(report.host):
        wanted = "a host's name: 1 to 128 of A-Z a-z 0-9 . _ -"
        yield _wrong("request/host_name", f"{at}/host", wanted, printable(report.host, 80))


def _rank_problems(report: IdentityReport, seen: Seen, at: str) -> Iterator[Finding]:
    if len(seen.ranks) > MAX_RANKS:
        yield _wrong("request/report_ranks", at, f"at most {MAX_RANKS:,} ranks", f"{len(seen.ranks):,}")
        return
    known: dict[Any, Mapping[str, Any]] = {}
    for entry in seen.ranks:
        if known.setdefault(entry["rank"], entry) != entry:
            yield _wrong("request/rank_twice", at, f"one place of rank {entry['rank']}", "two")
            return


def _value_problems(report: IdentityReport, seen: Seen, at: str) -> Iterator[Finding]:
    yield from value_problems(report.identity, f"{at}/identity")
    yield from value_problems(report.environment, f"{at}/environment")


def value_problems(tree: Mapping[str, Any], at: str) -> Iterator[Finding]:
    """Yield the first values that are too long to be kept, of a rank map those of its entries."""
    wanted = f"a value of at most {MAX_VALUE:,} characters"
    too_long = ((path, size) for path, value in _values(tree) if (size := _length(value)) > MAX_VALUE)
    for path, size in islice(too_long, VALUES_NAMED):
        yield _wrong("request/value_size", f"{at}{joined(path)}"[:POINTER_LENGTH], wanted, f"{size:,}")


def _values(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for path, value in leaves(tree):
        if path == RANK_MAP and isinstance(value, list):
            for number, entry in enumerate(value):
                yield from leaves(entry, (*path, f"{number}"))
        else:
            yield path, value


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str) else len(msgspec.json.encode(value))


def _secret_problems(report: IdentityReport, seen: Seen, at: str) -> Iterator[Finding]:
    """Yield the variables that no collector keeps: their values would be stored for everybody to read."""
    kept = environment_of(report.environment)
    for name, value in report.environment.items():
        if kept.get(name) != value:
            wanted = "variables that `topogate identity collect` keeps"
            yield _wrong(
                "request/environment", f"{at}/environment", wanted, f"{printable(name, 80)}, with a value not shown"
            )


Check = Callable[[IdentityReport, Seen, str], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (_host_problems, _rank_problems, _value_problems, _secret_problems)


def _time_problems(
    collected: datetime | None, said: str, at: str, now: datetime, fresh: timedelta
) -> Iterator[Finding]:
    place = f"{at}/collected_at"
    if collected is None:
        yield _wrong("request/report_time", place, "a UTC time that there is", said)
    elif collected > now + AHEAD:
        ahead = int((collected - now).total_seconds())
        yield _wrong("request/report_time", place, "a time that has come", f"{said}, {ahead:,} s ahead")
    elif collected < now - fresh:
        behind, most = int((now - collected).total_seconds()), int(fresh.total_seconds())
        yield _wrong("request/report_time", place, f"at most {most:,} s ago", f"{said}, {behind:,} s ago")


def place_in(raw: bytes) -> tuple[str, str]:
    """Return place and host of a report that may be refused, each "" where it says none that can be kept."""
    try:
        tree = msgspec.json.decode(raw) if len(raw) <= MAX_REPORT_BYTES else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        tree = None
    named = [tree.get(name) for name in ("node", "host")] if isinstance(tree, dict) else ["", ""]
    node, host = (one if isinstance(one, str) and _HOST.fullmatch(one) else "" for one in named)
    return node or host, host


class _Kept(msgspec.Struct, frozen=True):
    keys: str
    ranks: str
    unknown: str
    differs: list[tuple[str, How, Any, Any]]
    # Outcomes that were kept before NICs were told apart have none.
    nics: str = "0"


def said_bytes(said: Said) -> bytes:
    """Return an outcome as it is kept; of very many differences the first."""
    differs = [(one.key, one.how, one.expected, one.found) for one in said.differs[:DIFFERENCES_KEPT]]
    return msgspec.json.encode(
        _Kept(f"{said.keys:x}", f"{said.ranks:x}", f"{said.unknown:x}", differs, f"{said.nics:x}")
    )


def said_from(raw: bytes) -> Said:
    """Return a kept outcome."""
    kept = msgspec.json.decode(raw, type=_Kept)
    differs = tuple(KeyDifference(key, how, expected, found) for key, how, expected, found in kept.differs)
    return Said(int(kept.keys, 16), int(kept.ranks, 16), int(kept.unknown, 16), differs, int(kept.nics, 16))


def outcome_id(subject: str, said: Said) -> str:
    """Return what makes an outcome one: the subject it was compared with, and every difference with what was found."""
    differs = [(one.key, one.how, one.found) for one in said.differs]
    return file_sha256(msgspec.json.encode([subject, differs]))
