"""Verifying a log of a million entries, as multiples of hashing the same bytes in a plain loop.

``python -m bench.verify_bundle`` writes a bundle of entries as they are in use (decisions that are submitted, planned,
talked about, signed and put into force) to a temporary file and times from the file on, in seconds of the processor:

* a plain loop of sha256 over every entry, and over every entry and payload: the yardsticks;
* chain and Merkle root, by the verifier's own functions;
* the whole of ``verify.py``'s work on the log: canonical form, payloads, and every rule of reviewing.

The bounds are those of the demand: 3 and 25 times the yardstick, under 300 MB. The last lines say the same of entries
that are in memory already, where three hashes for each entry instead of one leave little room.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from planner.verifier.verify import Bundle, Rules, chained, replay, root_of
from reviews.bundle.archive import Archive
from tests.verifier.making import KEY, SIGNER
from tests.verifier.story import ORIGIN, PROVEN, Story, activate, revise, sign, story, token

MOST_OF_CHAIN, MOST_OF_ALL, MOST_BYTES = 3.0, 25.0, 300 * 10**6
TALK = 18
"""Entries of each reviewer beside the sign-off; a decision has 42 entries with them."""
SIGNED_BY = (("bob", "serving"), ("carol", "networking"))


def entries(
    count: int, *, talk: int = TALK, keep: Callable[[Mapping[str, bytes]], object] = lambda documents: None
) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield so many entries with their payloads: the cast, then one decision after another.

    ``keep`` takes the documents of each decision by their digest.
    """
    log = story(KEY)
    begin = log.seq("created 1.1")
    del log.acts[begin:]
    chain = Chain(log)
    number = 0
    while True:
        number += 1
        log.acts = log.acts[:begin]
        revise(log, number, 1)
        planned = log[f"planned {number}.1"].payload
        assert planned is not None
        planned["evidence_until"] = None  # the entries of the bench are a minute apart, a million of them two years
        for name, team in SIGNED_BY:
            said = {"comments": [{"thread": 1, "comment": 1, "text": f"How is it for {team}?", "mentions": []}]}
            for _ in range(talk):
                log.add("talk", "comments.published", said, decision=number, revision=1, actor=token(name), **PROVEN)
            sign(log, f"{name} {number}", name, team, number, 1)
        counts = [(f"{name} {number}", "CURRENT") for name, _ in SIGNED_BY]
        activate(log, f"force {number}", "dave", number, 1, counts)
        newer = {"by": number, "slot": "own/slot"}
        log.add("superseded", "decision.superseded", newer, decision=number - 1, actor=token("dave"), **PROVEN)
        keep(log.documents)
        log.documents = {}
        yield from islice(chain.next(begin), max(0, count - chain.done))
        if chain.done >= count:
            return


class Chain:
    """Hashes the acts of a story that grows and forgets."""

    def __init__(self, log: Story) -> None:
        self.log, self.done, self.prev = log, 0, "sha256:" + "0" * 64

    def next(self, begin: int) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield the entries that were not hashed yet; the first time the cast before them too."""
        for act in self.log.acts[0 if self.done == 0 else begin :]:
            line, payload = self.log.entry(act, self.done, self.prev)
            self.prev = f"sha256:{hashlib.sha256(line).hexdigest()}"
            self.done += 1
            yield line, payload


def write(path: Path, count: int) -> None:
    """Write the log files of a bundle."""
    with path.open("w+b") as file, tempfile.TemporaryFile() as payloads:
        archive = Archive(file)
        with archive.writing("log/entries.jsonl") as handle:
            for line, payload in entries(count):
                handle.write(line + b"\n")
                if payload is not None:
                    payloads.write(payload + b"\n")
        payloads.seek(0)
        archive.add("log/payloads.jsonl", iter(lambda: payloads.read(1 << 20), b""))
        archive.seal(SIGNER)


def timed(step: Callable[[], object]) -> float:
    """Return the seconds of the processor that a step takes."""
    start = time.process_time()
    step()
    return time.process_time() - start


def most_held() -> int:
    """Return the most memory that this process held, in bytes; the usual call would also count what its parent held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def plain(lines: Iterable[bytes]) -> None:
    """Hash every line, as a loop does."""
    for line in lines:
        hashlib.sha256(line).digest()


def chain_and_root(lines: Iterable[bytes]) -> None:
    """Check order, chain and root."""
    leaves: list[bytes] = []
    deque(chained(iter(lines), leaves), maxlen=0)
    root_of(leaves)


def everything(bundle: Bundle) -> None:
    """Check all of the log: canonical form, payloads, chain, root, rules, and the digest of the archive."""
    leaves: list[bytes] = []
    replay(Rules(), bundle.read("log/entries.jsonl"), bundle.read("log/payloads.jsonl"), ORIGIN, leaves)
    root_of(leaves)
    bundle.digest()


def from_archive(path: Path, work: Callable[[Bundle], None]) -> None:
    """Work on a bundle from its file on."""
    with path.open("rb") as file:
        work(Bundle(file))


def main() -> int:
    """Print the table; exit 1 where a bound is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--only", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only:
        from_archive(asked.only, everything)
        print(most_held())
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bundle.zip"
        write(path, asked.entries)
        return report(path, asked.entries)


def in_memory(path: Path) -> tuple[float, float, int]:
    """Return the seconds of a loop over the entries and of chain and root over them, and the bytes of the log."""
    with path.open("rb") as file:
        bundle = Bundle(file)
        lines = list(bundle.read("log/entries.jsonl"))
        held = sum(map(len, lines)) + sum(map(len, bundle.read("log/payloads.jsonl")))
    return timed(lambda: plain(lines)), timed(lambda: chain_and_root(lines)), held


def report(path: Path, count: int) -> int:
    """Time everything and print it."""
    loop, chain_alone, held = in_memory(path)
    read_entries = timed(lambda: from_archive(path, lambda bundle: plain(bundle.read("log/entries.jsonl"))))
    read_all = read_entries + timed(lambda: from_archive(path, lambda bundle: plain(bundle.read("log/payloads.jsonl"))))
    chain = timed(lambda: from_archive(path, lambda bundle: chain_and_root(bundle.read("log/entries.jsonl"))))
    total = timed(lambda: from_archive(path, everything))
    command = [sys.executable, "-m", "bench.verify_bundle", "--only", str(path)]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603 - own module
    print(f"{count:,} entries and their payloads, {held / 1e6:,.0f} MB, bundle {path.stat().st_size / 1e6:,.0f} MB")
    print(f"{'step':<48}{'seconds':>9}{'ratio':>8}{'at most':>9}")
    for name, seconds, yardstick, most in (
        ("sha256 loop over the entries of the archive", read_entries, read_entries, ""),
        ("chain and root", chain, read_entries, f"{MOST_OF_CHAIN:.1f}"),
        ("sha256 loop over entries and payloads", read_all, read_all, ""),
        ("everything about the log", total, read_all, f"{MOST_OF_ALL:.1f}"),
        ("in memory: sha256 loop over the entries", loop, loop, ""),
        ("in memory: chain and root", chain_alone, loop, ""),
    ):
        print(f"{name:<48}{seconds:>9.2f}{seconds / yardstick:>8.1f}{most:>9}")
    print(f"{'most memory held, MB':<48}{peak / 1e6:>9.0f}{'':>8}{MOST_BYTES / 1e6:>9.0f}")
    is_kept = chain <= MOST_OF_CHAIN * read_entries and total <= MOST_OF_ALL * read_all and peak <= MOST_BYTES
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
