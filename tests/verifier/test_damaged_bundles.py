"""Bundles that were damaged or forged without the key, or that somebody signed with another one."""

import base64
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from planner.canonical import canonical_bytes, file_sha256
from planner.verifier.verify import verify
from reviews.statements.intoto import envelope
from tests.verifier.making import (
    KEY,
    SIGNER,
    STRANGE_KEY,
    STRANGER,
    Content,
    checkpoint,
    content,
    hash_line,
    sound_story,
    unwrapped,
    written,
)
from tests.verifier.story import story

LAST = 26
Change = Callable[[Content], object]


def edited(line: bytes, **fields: Any) -> bytes:
    """Return an entry that says something else."""
    return canonical_bytes(json.loads(line) | fields)


def set_line(made: Content, seq: int, line: bytes) -> None:
    made.lines[seq] = line


def rehashed(made: Content, at_seq: int, **fields: Any) -> None:
    """Change an entry and hash everything after it anew, which takes no key."""
    made.lines[at_seq] = edited(made.lines[at_seq], **fields)
    for at in range(at_seq + 1, len(made.lines)):
        made.lines[at] = edited(made.lines[at], prev=file_sha256(made.lines[at - 1]))


def swapped(items: list[bytes], one: int, other: int) -> None:
    items[one], items[other] = items[other], items[one]


def spliced(made: Content) -> None:
    """Put an entry of another log in, with everything after it hashed anew."""
    rehashed(made, 20, origin="topogate/other/0123456789abcdef")


def from_another_decision(made: Content) -> None:
    made.lines[22] = edited(made.lines[16], seq=22, prev=file_sha256(made.lines[21]), decision=2)


def kept(made: Content, count: int) -> None:
    """Cut the tail off, and sign what is left as only the key can."""
    del made.lines[count:]
    made.payloads = made.payloads[:-2]
    made.files["log/newest.checkpoint"] = checkpoint(made.lines)


def stranger_signs(made: Content) -> None:
    """Sign everything with a key of one's own, which then comes with the bundle."""
    stranger = content(story(STRANGE_KEY), STRANGER)
    made.__dict__.update(stranger.__dict__)


def stranger_archive(made: Content) -> None:
    made.signer = STRANGER


def stranger_checkpoint(made: Content) -> None:
    made.files["log/newest.checkpoint"] = checkpoint(made.lines, STRANGER)


def stranger_statement(made: Content) -> None:
    made.statements[1] = envelope(json.loads(unwrapped(made.statements[1])), STRANGER)


def changed_statement(made: Content) -> None:
    body = unwrapped(made.statements[0]).replace(b"FAILED", b"PASSED")
    tree = json.loads(made.statements[0]) | {"payload": base64.b64encode(body).decode()}
    made.statements[0] = canonical_bytes(tree)


def restated(made: Content, at: int, change: Callable[[dict[str, Any]], object]) -> None:
    """Let the key sign another statement."""
    tree = json.loads(unwrapped(made.statements[at]))
    change(tree)
    made.statements[at] = envelope(tree, SIGNER)


def another_subject(tree: dict[str, Any]) -> None:
    tree["subject"] = [{"name": "else", "digest": {"sha256": "00" * 32}}]


REVIEW = 4
"""Which statement is the review of D-0001 r2: before it a trial and a plan of two revisions."""

DAMAGED: dict[str, tuple[Change, int, int | None, str]] = {
    "an entry edited": (lambda m: set_line(m, 15, edited(m.lines[15], reason="x")), 1, 15, "others follow"),
    "the last entry edited": (lambda m: set_line(m, LAST, edited(m.lines[LAST], reason="x")), 1, 0, "not as signed"),
    "the entry before the last edited": (lambda m: set_line(m, 25, edited(m.lines[25], reason="x")), 1, 25, "follow"),
    "the link of the last entry edited": (  # nothing follows it, so the one before may as well have been edited
        lambda m: set_line(m, LAST, edited(m.lines[LAST], prev="sha256:" + "0" * 64)),
        1,
        25,
        "follow",
    ),
    "the link of an entry edited": (
        lambda m: set_line(m, 15, edited(m.lines[15], prev="sha256:" + "0" * 64)),
        1,
        15,
        "follow",
    ),
    "an entry edited and all after it hashed anew": (lambda m: rehashed(m, 15, reason="x"), 1, 0, "not as signed"),
    "an entry dropped": (lambda m: m.lines.pop(15), 1, 15, "others follow"),
    "the first entry dropped": (lambda m: m.lines.pop(0), 1, 0, "others follow"),
    "two entries in the other order": (lambda m: swapped(m.lines, 15, 16), 1, 15, "others follow"),
    "an entry twice": (lambda m: m.lines.insert(15, m.lines[15]), 1, 16, "others follow"),
    "the tail cut off": (lambda m: m.lines.pop(), 1, None, "a payload belongs to no entry"),
    "the tail cut off with its payload": (lambda m: (m.lines.pop(), m.payloads.pop()), 1, LAST, "were signed once"),
    "an entry that no checkpoint covers": (
        lambda m: m.lines.append(edited(m.lines[0], seq=27, prev=file_sha256(m.lines[26]))),
        1,
        27,
        "no checkpoint covers",
    ),
    "an entry with another number, hashed anew": (lambda m: rehashed(m, 20, seq=21), 1, 20, "place or log"),
    "an entry of another log": (spliced, 1, 20, "place or log"),
    "an entry of another decision": (from_another_decision, 1, 22, ""),
    "white space in an entry": (
        lambda m: set_line(m, LAST, m.lines[LAST].replace(b":", b": ", 1)),
        1,
        LAST,
        "only form",
    ),
    "keys of an entry in another order": (
        lambda m: set_line(m, LAST, b'{"v":1,' + m.lines[LAST][1:-7] + b"}"),
        1,
        LAST,
        "only form",
    ),
    "a key of an entry twice": (
        lambda m: set_line(m, LAST, b'{"action":"x",' + m.lines[LAST][1:]),
        1,
        LAST,
        "only form",
    ),
    "an object in an entry": (
        lambda m: set_line(m, LAST, edited(m.lines[LAST], reason={"a": 1})),
        1,
        LAST,
        "only form",
    ),
    "a number with a fraction": (
        lambda m: set_line(m, LAST, edited(m.lines[LAST], revision=1.5)),
        1,
        LAST,
        "only form",
    ),
    "no JSON": (lambda m: set_line(m, LAST, b'{"seq":1,"seq":26,' + m.lines[LAST][1:-1]), 1, LAST, ""),
    "deep JSON": (lambda m: set_line(m, LAST, m.lines[LAST][:-1] + b',"x":' + b"[" * 99_999), 1, LAST, ""),
    "bytes that are no text": (
        lambda m: set_line(m, 0, m.lines[0].replace(b"Lab", b"\xff")),
        1,
        0,
        "does not say what an entry has to: 'utf-8' codec can't decode byte 0xff",
    ),
    "a later version": (lambda m: rehashed(m, 20, v=2), 2, 20, "later version"),
    "a hash that is none": (lambda m: set_line(m, 15, b'"zz"'), 1, 15, "no leaf hash"),
    "a hash in place of an entry": (lambda m: set_line(m, 15, hash_line(m.lines[15])), 1, 16, "has not the payload"),
    "a payload edited": (lambda m: m.payloads.__setitem__(0, b"{}"), 1, 1, "has not the payload"),
    "two payloads in the other order": (lambda m: swapped(m.payloads, 1, 2), 1, 2, "has not the payload"),
    "a payload dropped": (lambda m: m.payloads.pop(), 2, LAST, "has not the payload"),
    "a payload too many": (lambda m: m.payloads.append(b"{}"), 1, None, "belongs to no entry"),
    "no entry at all": (lambda m: m.__dict__.update(lines=[], payloads=[]), 1, 0, "27 entries were signed once"),
    "cut off and signed anew with the statements as they were": (lambda m: kept(m, 25), 1, 25, "otherwise than log"),
    "everything signed by another key": (stranger_signs, 1, None, "none of the keys"),
    "the archive signed by another key": (stranger_archive, 1, None, "not the one signed"),
    "the checkpoint signed by another key": (stranger_checkpoint, 1, None, "none of the keys"),
    "a statement signed by another key": (stranger_statement, 1, None, "none of the keys"),
    "a statement changed": (changed_statement, 1, None, "none of the keys"),
    "a statement about something else": (lambda m: restated(m, 1, another_subject), 1, None, "and plan: subject"),
    "a review with other approvals": (
        lambda m: restated(m, REVIEW, lambda tree: tree["predicate"]["approvals"].pop()),
        1,
        20,
        "otherwise than log",
    ),
    "a review of no activation": (
        lambda m: restated(m, REVIEW, lambda tree: tree["predicate"].update(entry=3)),
        1,
        3,
        "otherwise than log",
    ),
    "the review of an activation left out": (lambda m: m.statements.pop(), 2, 25, "no statement tells"),
    "a statement left out": (lambda m: m.statements.pop(0), 2, None, "no statement tells"),
    "other statements in the trailer": (lambda m: m.trailer.update(statements=7), 2, None, "more or less"),
    "other counts in the trailer": (lambda m: m.trailer.update(entries=26), 2, None, "more or less"),
    "a file left out": (lambda m: m.files.update({"report.html": None}), 2, None, "more or less"),
    "a document left out": (lambda m: setattr(m, "documents", dict(list(m.documents.items())[1:])), 2, None, "missing"),
    "another document": (
        lambda m: setattr(m, "documents", m.documents | {next(iter(m.documents)): b"{}"}),
        1,
        12,
        "has another digest",
    ),
    "no checkpoint": (lambda m: m.files.update({"log/newest.checkpoint": None}), 2, None, "missing"),
    "no checkpoint in the file": (lambda m: m.files.update({"log/newest.checkpoint": b"none\n"}), 2, None, "be read"),
    "a checkpoint of another log": (
        lambda m: m.files.update({"log/newest.checkpoint": checkpoint(m.lines, SIGNER, "topogate/other/1")}),
        1,
        None,
        "none of the keys",
    ),
    "a line without an end": (lambda m: m.files.update({"log/payloads.jsonl": b"{}"}), 2, 1, "has no end"),
}
LISTED_ANYWAY = {"a file left out": "report.html"}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_found_at_its_entry(name: str) -> None:
    change, code, seq, reason = DAMAGED[name]
    made = content(sound_story())
    change(made)
    if name in LISTED_ANYWAY:
        sound = zipfile.ZipFile(io.BytesIO(written(content(sound_story())))).namelist()
        made.trailer["files"] = sorted(sound)
    found, headline, at, _ = verify(io.BytesIO(written(made)), [KEY])
    assert (found, at) == (code, seq), headline
    assert headline.startswith("BROKEN" if code == 1 else "INCOMPLETE")
    assert (reason in headline, "Error" in headline) == (True, False)
