"""Makes bundles from stories, sound ones and such as somebody with or without the key would make."""

import base64
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from planner.canonical import canonical_bytes, file_sha256
from planner.verifier.verify import Rules
from planner.verifier.verify import replay as replay_lines
from reviews.bundle.archive import Archive
from reviews.bundle.tables import ENTRY_COLUMNS, SIGNOFF_COLUMNS, table_cells
from reviews.spreadsheet import Value, csv_lines
from reviews.statements.intoto import envelope
from reviews.statements.planning import PlannedFacts, gate_results, verification_summary
from reviews.statements.review import topology_review
from reviews.transparency.checkpoints import Checkpoint, checkpoint_signed
from reviews.transparency.merkle import leaf_hash, nodes_of, root_at
from reviews.transparency.notes import Signer
from tests.verifier.story import ORIGIN, PLAN, Story, story

SIGNER = Signer(ORIGIN, Ed25519PrivateKey.from_private_bytes(bytes(range(32))))
STRANGER = Signer(ORIGIN, Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33))))
FILES = b'"sha256","size_bytes","name","behind","uploaded_sha256","included"\r\n'
"""The list of kept files where there are none."""
UNCHECKED = ["the planner was not run", "who is behind a token, whatever name stands there", "report and records"]
"""What no bundle shows."""
KEY, STRANGE_KEY = str(SIGNER.verifier), str(STRANGER.verifier)


@dataclass
class Content:
    """The files of a bundle, to be changed before they are written; what is None is left out."""

    lines: list[bytes]
    payloads: list[bytes]
    documents: dict[str, bytes] = field(default_factory=dict)
    statements: list[bytes] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)
    trailer: dict[str, Any] = field(default_factory=dict)
    signer: Signer = SIGNER


def checkpoint(lines: Sequence[bytes], signer: Signer = SIGNER, origin: str = ORIGIN) -> bytes:
    """Sign the root over entries or quoted leaf hashes."""
    hashes = [bytes.fromhex(line[1:-1].decode()) if line[:1] == b'"' else leaf_hash(line) for line in lines]
    return checkpoint_signed(Checkpoint(origin, len(hashes), root_at(nodes_of(hashes), len(hashes))), [signer])


def sound_story() -> Story:
    """Return the story as the key signs it."""
    return story(KEY)


def content(log: Story, signer: Signer = SIGNER, *, with_statements: bool = True) -> Content:
    """Return a sound bundle of a story."""
    entries = list(log.entries())
    made = Content([line for line, _ in entries], [raw for _, raw in entries if raw is not None], log.documents)
    made.signer = signer
    if with_statements:
        made.statements = statements(log, signer)
    made.files = {
        "log/newest.checkpoint": checkpoint(made.lines, signer),
        "log/keys.txt": f"{signer.verifier}\n".encode(),
        "report.html": b"<p>Report</p>\n",
        "tables/files.csv": FILES,
        **tables(made.lines, made.payloads),
        "verify.py": b"# the verifier\n",
    }
    return made


def tables(lines: Sequence[bytes], payloads: Sequence[bytes]) -> dict[str, bytes | None]:
    """Return the tables about a log, in which every person is called after their token."""
    entries, signoffs, rest = list[list[Value]](), list[list[Value]](), iter(payloads)
    for line in (line for line in lines if line[:1] == b"{"):
        said = json.loads(line)
        payload = json.loads(next(rest)) if said["payload_sha256"] else {}
        who = {"who": f"person {said['actor'][7:11]}" if said["actor"] else "system"}
        entries.append(table_cells(said | who | {"sha256": file_sha256(line)}, ENTRY_COLUMNS))
        if said["action"] == "signoff.given":
            signoffs.append(table_cells(said | payload | who, SIGNOFF_COLUMNS))
    return {
        "tables/entries.csv": b"".join(csv_lines(ENTRY_COLUMNS, entries)),
        "tables/signoffs.csv": b"".join(csv_lines(SIGNOFF_COLUMNS, signoffs)),
    }


def replay(log: Story) -> Rules:
    """Replay a sound story."""
    entries = list(log.entries())
    payloads = (raw for _, raw in entries if raw is not None)
    rules = Rules()
    replay_lines(rules, iter([line for line, _ in entries]), payloads, ORIGIN, [])
    return rules


def statements(log: Story, signer: Signer) -> list[bytes]:
    """Return the statements that a bundle of the story has."""
    rules, made = replay(log), list[bytes]()
    for number, decision in rules.decisions.items():
        for revision, said in decision["revisions"].items():
            facts = PlannedFacts(
                label=f"D-{number:04d} r{revision}",
                slot=said["slot"],
                subject=said["subject"],
                contract=said["contract_file_sha256"],
                evidence=said["evidence_file_sha256"],
                policy=said["policy"],
                plan=said["plan_sha256"],
                planner_version=said["planner_version"],
                planned_at="2026-09-21T12:10:00.000000Z",
            )
            results = [envelope(tree, signer) for tree in gate_results(facts, PLAN)]
            made += [*results, envelope(verification_summary(facts, PLAN, results), signer)]
            made += [envelope(topology_review(facts, review), signer) for review in said["reviews"]]
    return made


def written(made: Content, *, archive: Callable[[Archive], None] = lambda archive: None) -> bytes:
    """Write a bundle; ``archive`` may add to it before it is sealed."""
    file = io.BytesIO()
    zipped = Archive(file)
    files: dict[str, bytes | None] = {
        "log/entries.jsonl": joined(made.lines),
        "log/payloads.jsonl": joined(made.payloads),
        "statements.jsonl": joined(made.statements),
        **{f"documents/{sha256.removeprefix('sha256:')}.json": raw for sha256, raw in made.documents.items()},
        **made.files,
    }
    for name, raw in files.items():
        if raw is not None:
            zipped.add(name, [raw])
    archive(zipped)
    trailer = {
        "schema": "topogate.bundle/v1",
        "entries": len(made.lines),
        "hashes": sum(line[:1] == b'"' for line in made.lines),
        "statements": len(made.statements),
        "files": sorted((*zipped.names, "TRAILER.json")),
        **made.trailer,
    }
    zipped.add("TRAILER.json", [canonical_bytes(trailer)])
    zipped.seal(made.signer)
    return file.getvalue()


def joined(lines: Sequence[bytes]) -> bytes:
    """Return lines as one file."""
    return b"".join(line + b"\n" for line in lines)


def hash_line(line: bytes) -> bytes:
    """Return what stands for an entry that is not shown."""
    return f'"{leaf_hash(line).hex()}"'.encode()


def unwrapped(line: bytes) -> bytes:
    """Return the body of an envelope."""
    return base64.b64decode(json.loads(line)["payload"])
