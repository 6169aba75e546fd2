"""A file as it may be kept: without credentials, account names, prompts and answers; host names replaced on request.

Works on the bytes of a file of any format, in blocks of whole lines, so that memory stays bounded and every line keeps
its number. What is taken out is replaced by ``[removed]`` inside the quotes that it stood in: JSON stays JSON. The
same file always gives the same copy.

Not handled: a secret that no rule knows, and what stands in a picture or an archive, which no importer takes.
"""

import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from planner.errors import DocumentRefusedError, Problem
from planner.importers.prompt_text import PromptRemover

__all__ = ["MAX_LINE_BYTES", "Redactor", "Removed", "host_names", "host_stand_in"]

MAX_LINE_BYTES = 64 * 2**20
MOST_LISTED = 100
REMOVED = b"[removed]"

Kind = Literal["credential", "account", "prompt", "host"]


@dataclass(frozen=True, slots=True)
class Removed:
    """One thing that was taken out: the line it stood in, from 1, and what it was; never the thing itself."""

    line: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Rule:
    """``marks`` are lower-case texts of which one stands wherever the pattern matches: looking for them is quick.

    ``group`` is the part that is taken out.
    """

    marks: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    group: int = 0
    kind: Kind = "credential"


_NAMES = (
    rb"api[-_]?key|secret(?:[-_](?:access[-_])?key)?|passw(?:or)?d|credentials?|authori[sz]ation"
    rb"|(?:(?:auth|access|api|hf|hub|hugging[-_]?face(?:[-_]hub)?|wandb|git(?:hub|lab)|refresh|session|bearer)[-_])?token"
)
_NAME_MARKS = (b"key", b"secret", b"passw", b"credential", b"authori", b"token")
_VALUE = rb"(?!(?:[0-9.]+|\[removed\]|bearer)(?:[\"',;}\]\)&\s]|\Z))[^\s\"',;{}\[\]()&]{8,}"
_RULES = (
    _Rule((b"://",), re.compile(rb"(?<=://)[^/@\s\"']+(?=@)")),
    _Rule((b"bearer ",), re.compile(rb"(?i)(?<=bearer )[^\s\"',;}]{8,}")),
    _Rule(
        (b"sk-", b"nvapi-", b"glpat-", b"xox", b"hf_", b"gh"),
        re.compile(rb"\b(?:sk-|nvapi-|glpat-|xox[abp]-)[A-Za-z0-9_-]{16,}|\b(?:hf_|gh[pousr]_)[A-Za-z0-9]{20,}"),
    ),
    _Rule((b"eyj",), re.compile(rb"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*")),
    _Rule(
        (b"/home/", b"/users/"),
        re.compile(rb"(?<=/home/)[^/\s\"',:;)\]}]+|(?<=/Users/)[^/\s\"',:;)\]}]+"),
        kind="account",
    ),
    _Rule((b"akia", b"asia"), re.compile(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    _Rule((b"private key-----",), re.compile(rb"(?<=PRIVATE KEY-----)[^-]+")),
    # A name like api_key with its value: JSON, YAML, settings of a shell, Python's own form; then options of a command.
    _Rule(
        _NAME_MARKS,
        re.compile(
            rb"(?i)(?<![a-z0-9])(?:[a-z0-9]+[-_])?(?:" + _NAMES + rb")[\"']?[ \t]*[:=][ \t]*\[?[\"']?(?:bearer[ ])?"
            rb"(" + _VALUE + rb")"
        ),
        1,
    ),
    _Rule(_NAME_MARKS, re.compile(rb"(?i)(?<=-)(?:" + _NAMES + rb")[ \t]+[\"']?(" + _VALUE + rb")"), 1),
)
_HOSTS = (
    re.compile(rb'(?i)"(?:host_?name|host|node_?name|nodename|server_name)"\s*:\s*"([^"\\\s]{2,253})"'),
    re.compile(rb'(?i)\b(?:host_?name|instance|node|nodename|host)="([^"\\\s]{2,253})"'),
    re.compile(rb"(?m)^\s*(?:\S+\s+)?#\s+Rank\s+\d+(?:\s+Group\s+\d+)?\s+Pid\s+\d+ on\s+(\S{2,253}) device"),
    re.compile(rb"\bhttps?://([A-Za-z0-9][A-Za-z0-9.-]{1,252})"),
    re.compile(rb"(?<![0-9.])((?:[0-9]{1,3}\.){3}[0-9]{1,3})(?![0-9.])"),
)
_NO_HOST = frozenset({b"localhost", b"0.0.0.0", b"127.0.0.1", b"none", b"null", b"unknown", b"[removed]"})


@dataclass
class Redactor:
    """Takes a file block by block and gives the copy that may be kept.

    ``stand_ins`` maps a host name to what stands for it; empty leaves host names as they are.
    """

    stand_ins: dict[bytes, bytes] = field(default_factory=dict)
    removed: list[Removed] = field(default_factory=list)
    counts: Counter[Kind] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._line = 1
        self._prompts = PromptRemover()
        names = sorted(self.stand_ins, key=lambda name: (-len(name), name))
        self._hosts = (
            re.compile(rb"(?<![A-Za-z0-9.-])(?:" + b"|".join(map(re.escape, names)) + rb")(?![A-Za-z0-9-])")
            if names
            else None
        )

    def copy(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the copy of a file that comes in blocks of any size.

        Raises:
            DocumentRefusedError: a line is longer than 64 MiB.
        """
        for block in whole_lines(blocks):
            kept = self._prompts.without(block, self._note("prompt", block))
            lowered = kept.lower()
            for rule in _RULES:
                if any(mark in lowered for mark in rule.marks):
                    kept = self._without(rule, kept)
            if self._hosts is not None:
                note = self._note("host", kept)
                kept = self._hosts.sub(lambda match, note=note: self._stand_in(match, note), kept)  # type: ignore[misc] # bound now
            self._line += block.count(b"\n")
            yield kept

    def _without(self, rule: _Rule, block: bytes) -> bytes:
        note = self._note(rule.kind, block)

        def replaced(match: re.Match[bytes]) -> bytes:
            if match[rule.group] == REMOVED:
                return match[0]
            note(match.start(rule.group))
            start = match.start(rule.group) - match.start()
            end = match.end(rule.group) - match.start()
            # Lines keep their numbers, also where what is taken out spans several.
            return match[0][:start] + REMOVED + b"\n" * match[rule.group].count(b"\n") + match[0][end:]

        return rule.pattern.sub(replaced, block)

    def _stand_in(self, match: re.Match[bytes], note: Callable[[int], None]) -> bytes:
        note(match.start())
        return self.stand_ins[match[0]]

    def _note(self, kind: Kind, block: bytes) -> Callable[[int], None]:
        """Return what writes down that something was taken out at an offset of the block; offsets only grow."""
        seen, line = 0, self._line

        def write(offset: int) -> None:
            nonlocal seen, line
            line += block.count(b"\n", seen, offset)
            seen = max(seen, offset)
            self.counts[kind] += 1
            if len(self.removed) < MOST_LISTED:
                self.removed.append(Removed(line, kind))

        return write


def host_names(blocks: Iterable[bytes]) -> frozenset[bytes]:
    """Return the names and addresses of hosts that a file gives as such: keys, labels, rank lists, addresses.

    Raises:
        DocumentRefusedError: a line is longer than 64 MiB.
    """
    found: set[bytes] = set()
    for block in whole_lines(blocks):
        for pattern in _HOSTS:
            found.update(match[1].rpartition(b":")[0] or match[1] for match in pattern.finditer(block))
    return frozenset(name for name in found if name.lower() not in _NO_HOST and not name.isdigit())


def host_stand_in(name: bytes, salt: bytes) -> bytes:
    """Return what stands for a host; the same salt gives the same host the same name in every file."""
    return b"host-" + hmac.new(salt, name.lower(), hashlib.sha256).hexdigest()[:8].encode()


def whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in blocks that end with a line.

    Raises:
        DocumentRefusedError: a line is longer than 64 MiB.
    """
    pending: list[bytes] = []
    size = 0
    for block in blocks:
        head, feed, rest = block.rpartition(b"\n")
        if feed:
            yield b"".join((*pending, head, feed))
            pending, size = [], 0
        if rest:
            pending.append(rest)
            size += len(rest)
        if size > MAX_LINE_BYTES:
            problem = Problem("import/line_length", "", f"at most {MAX_LINE_BYTES:,} bytes in a line", "more")
            raise DocumentRefusedError((problem,))
    if pending:
        yield b"".join(pending)
