"""What is trusted: keys and older checkpoints that a reader kept, and what a bundle of one decision leaves out."""

import base64
import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from planner.canonical import canonical_bytes
from planner.verifier.verify import verify
from reviews.statements.intoto import envelope, pre_authentication
from reviews.transparency.notes import Signer
from tests.verifier.making import (
    KEY,
    SIGNER,
    STRANGER,
    Content,
    checkpoint,
    content,
    hash_line,
    sound_story,
    tables,
    unwrapped,
    written,
)
from tests.verifier.test_damaged_bundles import DAMAGED, edited, kept, rehashed, stranger_signs
from tests.verifier.test_rules_replayed import BROKEN

Change = Callable[[Content], object]


def test_a_bundle_that_a_stranger_signed_agrees_only_with_itself() -> None:
    """What is wrong with it shows only against the key of the log."""
    made = content(sound_story())
    stranger_signs(made)
    bundle = io.BytesIO(written(made))
    assert verify(bundle)[0] == 3
    assert verify(bundle, [KEY])[0] == 1


def test_an_older_checkpoint_of_the_same_log_is_continued() -> None:
    made = content(sound_story())
    kept_by_reader = [checkpoint(made.lines[:size]) for size in (1, 7, 16, 27)]
    assert verify(io.BytesIO(written(made)), [KEY], kept_by_reader)[0] == 0


@pytest.mark.parametrize(
    ("change", "seq", "reason"),
    [
        pytest.param(
            lambda made: rehashed(made, 9, reason="x"), 0, "entries 0 to 15 are not as signed", id="rewritten"
        ),
        pytest.param(lambda made: rehashed(made, 20, reason="x"), 16, "16 to 19 are not as signed", id="narrowed down"),
        pytest.param(lambda made: kept(made, 25), 25, "26 entries were signed once", id="tail cut off and signed"),
    ],
)
def test_what_the_key_rewrote_shows_against_a_checkpoint_that_was_kept(change: Change, seq: int, reason: str) -> None:
    log = sound_story()
    made = content(log, with_statements=False)
    olds = [checkpoint(made.lines[:size]) for size in (16, 26)]
    if reason.startswith("16"):
        olds = [checkpoint(made.lines[:16]), checkpoint([*made.lines[:19], edited(made.lines[19], reason="y")])]
    else:
        change(made)
        made.files["log/newest.checkpoint"] = checkpoint(made.lines)
    code, headline, at, _ = verify(io.BytesIO(written(made)), [KEY], olds)
    assert (code, at) == (1, seq), headline
    assert reason in headline


OTHER_LOG = Signer("topogate/other/0123456789abcdef", STRANGER.private)


def stated_by_another_log(made: Content) -> None:
    """The genuine log, with statements that the key of another log signed."""
    made.statements = [envelope(json.loads(unwrapped(line)), OTHER_LOG) for line in made.statements]


def packed_by_another_log(made: Content) -> None:
    """The genuine log and statements, with a report and an archive of somebody who has the key of another log."""
    made.files["report.html"] = b"<p>All is well</p>\n"
    made.signer = OTHER_LOG


@pytest.mark.parametrize("change", [stated_by_another_log, packed_by_another_log])
def test_who_keeps_keys_of_several_logs_is_told_nothing_by_one_about_another(change: Change) -> None:
    made = content(sound_story())
    change(made)
    code, headline, *_ = verify(io.BytesIO(written(made)), [KEY, str(OTHER_LOG.verifier)])
    assert (code, "signed" in headline) == (1, True), headline


def test_an_older_checkpoint_in_place_of_the_newest_covers_not_all() -> None:
    made = content(sound_story())
    made.files["log/newest.checkpoint"] = checkpoint(made.lines[:20])
    code, headline, seq, _ = verify(io.BytesIO(written(made)), [KEY])
    assert (code, seq, "no checkpoint covers the entries from here on" in headline) == (1, 20, True), headline


def test_a_statement_of_another_type_of_content_is_none() -> None:
    """What the key signed as another type says nothing, whatever its envelope calls it."""
    made = content(sound_story())
    body = unwrapped(made.statements[0])
    signature = base64.b64encode(SIGNER.private.sign(pre_authentication("text/plain", body))).decode()
    for named in ("text/plain", "application/vnd.in-toto+json"):
        tree = json.loads(made.statements[0]) | {"payloadType": named, "signatures": [{"keyid": "", "sig": signature}]}
        made.statements[0] = canonical_bytes(tree)
        code, headline, *_ = verify(io.BytesIO(written(made)), [KEY])
        assert (code, "a statement signed by none of the keys" in headline) == (1, True), headline


def test_a_checkpoint_of_another_log_is_not_one_of_this() -> None:
    made = content(sound_story())
    old = checkpoint(made.lines[:16], STRANGER)
    assert verify(io.BytesIO(written(made)), [KEY], [old])[:3:2] == (1, None)


def test_a_bundle_of_one_decision_shows_the_others_as_hashes() -> None:
    made = content(sound_story())
    shown = [json.loads(line)["decision"] in (None, 2) for line in made.lines]
    payloads = iter(made.payloads)
    made.payloads = [
        raw for line, is_shown in zip(made.lines, shown, strict=True) if (raw := take(line, payloads)) and is_shown
    ]
    made.lines = [line if is_shown else hash_line(line) for line, is_shown in zip(made.lines, shown, strict=True)]
    made.files |= tables(made.lines, made.payloads)
    made.statements = made.statements[5:]
    code, headline, _, unchecked = verify(io.BytesIO(written(made)), [KEY])
    assert code == 0, headline
    assert unchecked[-1] == f"entries that are only hashes here: {shown.count(False)}"


def take(line: bytes, payloads: Any) -> bytes | None:
    """Return the payload of an entry, the next one."""
    return next(payloads) if json.loads(line)["payload_sha256"] else None


def test_the_corpus_is_as_large_as_it_has_to_be() -> None:
    assert len(DAMAGED) + len(BROKEN) >= 90
