"""Whatever the bytes are: hardware, or a refusal with documented codes that is safe to show."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import DocumentRefusedError
from planner.hardware import fragment, missing, read_hardware
from planner.problem_codes import PROBLEM_CODES
from tests.planner.hardware.samples import PAIR, SAMPLES, TWO
from tests.shared import shared_files

PIECES = (
    *(b"GPU0", b"GPU7", b"NIC0", b"X", b"NV18", b"PIX", b"OK", b"0", b"-1", b"99999999999", b"N/A", b"CPU Affinity"),
    *(b"\n", b"\r", b"\t", b" ", b"\x00", b"\xff", b"\x1b[4m", b"[0m", "\u0661\u200b\ud7ff".encode(), b"GPU Topology:"),
    *(b"<", b">", b'"', b"&", b"<!DOCTYPE a [", b"<gpu dev='0'/>", b"count='0'", b"fffffff:ff:ff.0", b"host_hash='2'"),
    *(b"Link Type between two GPUs\n", b"GPU[0] : (Topology) Numa Node: 0\n", b"{", b"}", b'"card0": {}'),
)
WORDS = [piece.decode("utf-8", "replace") for piece in PIECES]


def outcome(raw: bytes) -> str:
    """Read the bytes, hold the readers to their promises, and return ``read`` or the first code."""
    try:
        hardware = read_hardware(raw)
    except DocumentRefusedError as refused:
        for problem in refused.problems:
            assert problem.code in PROBLEM_CODES
            assert problem.found.isprintable()
            assert problem.expected.isprintable()
        return refused.problems[0].code
    islands = [island.id for island in hardware.islands or ()]
    ids = [device.id for device in hardware.devices] + [nic.id for nic in hardware.nics] + islands
    assert len(set(ids)) == len(ids)
    assert hardware.devices
    assert fragment(hardware)
    assert missing(hardware)
    assert all(note.sentence.isprintable() for note in hardware.notes)
    return "read"


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=60).map(" ".join))
def test_words_of_the_formats_in_any_order(text: str) -> None:
    outcome(text.encode("utf-8", "replace"))


@given(st.binary(max_size=300))
def test_any_bytes(raw: bytes) -> None:
    outcome(raw)


def mutated(sample: bytes, chance: random.Random) -> bytes:
    """Change the sample in a few places, as transport, paste or malice would."""
    raw = bytearray(sample)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(raw) + 1)
        change = chance.randrange(4)
        if change == 0:
            del raw[at : at + chance.randint(1, 40)]
        elif change == 1:
            raw[at:at] = chance.choice(PIECES)
        elif change == 2:
            raw[at : at + 1] = bytes([chance.randrange(128)])
        else:
            lines = bytes(raw).split(b"\n")
            lines.insert(chance.randrange(len(lines) + 1), lines.pop(chance.randrange(len(lines))))
            raw = bytearray(b"\n".join(lines))
    return bytes(raw)


def samples() -> list[bytes]:
    """Our own samples, and the real files where they are there."""
    real = [
        path
        for tool in ("nvidia_topo", "rocm_topo", "nccl_topo_xml")
        for path in shared_files(f"cases/files/{tool}", "*")
    ]
    return [TWO.encode(), PAIR.encode(), *(path.read_bytes() for path in (*sorted(SAMPLES.iterdir()), *real))]


@pytest.mark.parametrize("seed", range(4))
def test_samples_with_changes(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # reproducible, not secret
    outcomes = {outcome(mutated(sample, chance)) for sample in samples() for _ in range(20)}
    assert {"read", "hardware/cell", "hardware/xml"} <= outcomes
