"""The proof that an entry is in a log, as one file that is checked offline (C2SP tlog-proof).

Three lines of form, index and hashes, an empty line, and the signed checkpoint that the proof leads to.
"""

from base64 import b64encode
from collections.abc import Sequence

__all__ = ["FORM", "proof_file"]

FORM = "c2sp.org/tlog-proof@v1"


def proof_file(index: int, proof: Sequence[bytes], note: bytes) -> bytes:
    """Return the bytes of a proof file; ``note`` is the checkpoint with all its signatures."""
    hashes = "".join(f"{b64encode(one).decode()}\n" for one in proof)
    return f"{FORM}\nindex {index}\n{hashes}\n".encode() + note
