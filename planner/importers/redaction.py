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
_SECRET_KINDS: tuple[Kind, ...] = ("credential", "account")


@dataclass(frozen=True, slots=True)
class Removed:
    """One thing that was taken out: the line it stood in, from 1, and what it was; never the thing itself."""

    line: int
    kind: Kind


_END = rb"(?:[\"',;}\]\)&\s]|\Z)"
_VALUE = rb"(?!(?:[0-9.]+|\[removed\]|bearer)" + _END + rb")([^\s\"',;{}\[\]()&]{8,})"
_ACCOUNT = re.compile(rb"([^/\s\"',:;)\]}]+)")
_ASSIGNED = re.compile(rb"[\"']?[ \t]*[:=][ \t]*\[?[\"']?(?:[Bb]earer )?" + _VALUE)
_OPTION = re.compile(rb"[ \t]+[\"']?" + _VALUE)
_SECRET_NAME = re.compile(
    rb"(?:api[-_]?key|secret[-_]key|access[-_]key|private[-_]key|secret|password|passwd|credentials?|authori[sz]ation"
    rb"|(?:auth|access|api|hf|hub|hugging[-_]?face|wandb|github|gitlab|refresh|session|bearer)[-_]token"
    rb"|(?<![a-z0-9_-])token|--token)\Z"
)
LONGEST_NAME = 32


@dataclass(frozen=True, slots=True)
class _Rule:
    """``mark`` is lower-case text that a search finds quickly; ``pattern`` is tried where it begins or ends.

    The first group is taken out. ``is_named`` asks whether what ends with the mark names a credential.
    """

    mark: bytes
    pattern: re.Pattern[bytes]
    at_end: bool = True
    kind: Kind = "credential"
    is_named: bool = False


def _rules() -> Iterator[_Rule]:
    yield _Rule(b"://", re.compile(rb"([^/@\s\"']+)@"))
    yield _Rule(b"bearer ", re.compile(_VALUE))
    for mark in (b"/home/", b"/users/"):
        yield _Rule(mark, _ACCOUNT, kind="account")
    for mark in (b"sk-", b"nvapi-", b"glpat-", b"xoxa-", b"xoxb-", b"xoxp-"):
        yield _Rule(mark, re.compile(rb"(?<![A-Za-z0-9])([a-z]+-[A-Za-z0-9_-]{16,})"), at_end=False)
    for mark in (b"hf_", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"):
        yield _Rule(mark, re.compile(rb"(?<![A-Za-z0-9])([a-z]+_[A-Za-z0-9]{20,})"), at_end=False)
    yield _Rule(b"eyj", re.compile(rb"(?<![A-Za-z0-9])(eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"), at_end=False)
    for mark in (b"akia", b"asia"):
        yield _Rule(mark, re.compile(rb"(?<![A-Za-z0-9])((?:AKIA|ASIA)[0-9A-Z]{16})\b"), at_end=False)
    yield _Rule(b"private key-----", re.compile(rb"([^-]+)"))
    for mark in (b"key", b"secret", b"password", b"passwd", b"credential", b"credentials", b"authorization", b"token"):
        for pattern in (_ASSIGNED, _OPTION):
            yield _Rule(mark, pattern, is_named=True)


_RULES = tuple(_rules())
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
            kept = self._without_secrets(self._prompts.without(block, self._note("prompt", block)))
            if self._hosts is not None:
                note = self._note("host", kept)
                kept = self._hosts.sub(lambda match, note=note: self._stand_in(match, note), kept)  # type: ignore[misc] # bound now
            self._line += block.count(b"\n")
            yield kept

    def _without_secrets(self, block: bytes) -> bytes:
        """Return the block without what a rule finds; where two find the same, the longer counts."""
        found = sorted(_secrets(block), key=lambda secret: (secret[0], -secret[1]))
        parts: list[bytes] = []
        notes = {kind: self._note(kind, block) for kind in _SECRET_KINDS}
        at = 0
        for start, end, kind in found:
            if start >= at:
                notes[kind](start)
                # Lines keep their numbers, also where what is taken out spans several.
                parts += (block[at:start], REMOVED, b"\n" * block.count(b"\n", start, end))
                at = end
        return b"".join((*parts, block[at:])) if parts else block

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


def _secrets(block: bytes) -> Iterator[tuple[int, int, Kind]]:
    """Yield where what must not be kept begins and ends, and what it is."""
    lowered = block.lower()
    for rule in _RULES:
        at = lowered.find(rule.mark)
        while at >= 0:
            end = at + len(rule.mark)
            match = rule.pattern.match(block, end if rule.at_end else at)
            if match and match[1] != REMOVED and (not rule.is_named or _names_credential(lowered, end, rule)):
                yield match.start(1), match.end(1), rule.kind
            at = lowered.find(rule.mark, end)


def _names_credential(lowered: bytes, end: int, rule: _Rule) -> bool:
    name = lowered[max(0, end - LONGEST_NAME) : end]
    # What follows a space is a value only for an option of a command.
    return _SECRET_NAME.search(name) is not None and (rule.pattern is _ASSIGNED or b"--" in name)


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
