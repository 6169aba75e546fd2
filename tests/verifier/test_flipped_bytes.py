"""Single bytes changed in a stored log and in a bundle: every one is caught.

Most flips are tried against the part of the verifier that has to catch them (the chain and the root for the log, the
signature over the archive for the bundle), since a bundle passes only where every part does. Some of them, spread over
the whole bundle, go through all of it; with TOPOGATE_FLIP_STEP=1 (``make flips``) every byte does.
"""

import io
import os
import random

from planner.verifier.verify import Bundle, Fault, chained, root_of, signers_of, verify
from tests.verifier.making import KEY, content, joined, sound_story, written

STEP = int(os.environ.get("TOPOGATE_FLIP_STEP", "23"))
"""Every which byte of a bundle goes through all of the verifier."""
LEAST = 50_000


def flips(length: int, seed: int) -> list[tuple[int, int]]:
    """Return two changes of every byte: one bit, and any other change."""
    chance = random.Random(seed)  # noqa: S311 - which bytes are changed is no secret
    return [
        (at, mask)
        for at in range(length)
        for mask in (1 << at % 8, chance.choice([m for m in range(1, 256) if m & (m - 1)]))
    ]


def is_caught_in_log(raw: bytes, root: bytes) -> bool:
    """Say whether chain and root show that these are not the entries that were signed."""
    leaves: list[bytes] = []
    try:
        for _ in chained(iter(raw.split(b"\n")[:-1]), leaves):
            pass
    except Fault:
        return True
    return not leaves or root_of(leaves) != root or raw[-1:] != b"\n"


def test_every_flipped_byte_of_log_and_bundle_is_caught() -> None:
    made = content(sound_story())
    log, bundle = bytearray(joined(made.lines)), bytearray(written(made))
    leaves: list[bytes] = []
    assert list(chained(iter(made.lines), leaves)) == made.lines
    root = root_of(leaves)
    of_log, of_bundle = flips(len(log), 1), flips(len(bundle), 2)
    assert len(of_log) + len(of_bundle) >= LEAST
    missed = []
    for at, mask in of_log:
        log[at] ^= mask
        missed += [] if is_caught_in_log(bytes(log), root) else [("log", at, mask)]
        log[at] ^= mask
    opened = Bundle(io.BytesIO(bytes(bundle)))
    assert [*signers_of([KEY], opened.digest(), [opened.signature])] == [KEY]
    for at, mask in of_bundle:
        bundle[at] ^= mask
        opened.file, opened.signature = io.BytesIO(bytes(bundle)), bytes(bundle[-64:])
        missed += [("bundle", at, mask)] * any(signers_of([KEY], opened.digest(), [opened.signature]))
        bundle[at] ^= mask
    assert missed == []


def test_flipped_bytes_all_over_a_bundle_leave_no_verdict_that_it_holds() -> None:
    bundle = bytearray(written(content(sound_story())))
    passed = []
    for at, mask in flips(len(bundle), 3)[::STEP]:
        bundle[at] ^= mask
        code, headline, _, _ = verify(io.BytesIO(bytes(bundle)), [KEY])
        passed += [(at, mask, headline)] * (code not in (1, 2))
        bundle[at] ^= mask
    assert passed == []
    assert verify(io.BytesIO(bytes(bundle)), [KEY])[0] == 0


def test_a_bundle_that_is_cut_anywhere_is_incomplete() -> None:
    bundle = written(content(sound_story()))
    codes = {verify(io.BytesIO(bundle[:size]), [KEY])[0] for size in range(0, len(bundle), 97)}
    assert codes == {2}
