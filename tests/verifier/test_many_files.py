"""Bundles of more files than a zip archive without extensions can tell of."""

import io

from planner.verifier import verify as verifier
from planner.verifier.verify import verify
from reviews.bundle import archive
from reviews.bundle.archive import Archive
from tests.verifier.making import KEY, content, sound_story, written

MANY = 66_000


def test_what_is_written_is_what_the_verifier_takes() -> None:
    written_at_most = (archive.MOST_FILES, archive.MOST_BYTES, archive.MOST_RATIO, archive.MOST_LINE_BYTES)
    assert written_at_most == (verifier.MAX_FILES, verifier.MAX_BYTES, verifier.MAX_RATIO, verifier.MAX_LINE)


def test_a_bundle_of_many_files_is_verified_and_no_byte_of_its_end_may_change() -> None:
    def records(bundle: Archive) -> None:
        for number in range(MANY):
            bundle.add(f"decisions/D-{number:05d}.md", [b"x"])

    raw = bytearray(written(content(sound_story()), archive=records))
    end = len(raw) - 64 - 22
    assert raw[end - 20 : end - 16] == b"PK\6\7"
    code, headline, *_ = verify(io.BytesIO(raw), [KEY])
    assert code == 0, headline
    for at in (end - 20 + 8, end - 76 + 32, end - 76 + 48):  # place, count, and where the directory begins
        raw[at] ^= 1
        assert verify(io.BytesIO(raw), [KEY])[0] in (1, 2), at
        raw[at] ^= 1
