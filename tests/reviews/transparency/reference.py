"""The definitions of RFC 6962, section 2.1, written down word for word: slow, and another way to every hash."""

from hashlib import sha256


def tree_hash(leaves: list[bytes]) -> bytes:
    """MTH of the leaves' bytes."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    k = split(len(leaves))
    return sha256(b"\x01" + tree_hash(leaves[:k]) + tree_hash(leaves[k:])).digest()


def path(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH(m, D[n])."""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if index < k:
        return [*path(index, leaves[:k]), tree_hash(leaves[k:])]
    return [*path(index - k, leaves[k:]), tree_hash(leaves[:k])]


def proof(size: int, leaves: list[bytes], is_whole: bool = True) -> list[bytes]:
    """SUBPROOF(m, D[n], b); PROOF(m, D[n]) with ``is_whole``."""
    if size == len(leaves):
        return [] if is_whole else [tree_hash(leaves)]
    k = split(len(leaves))
    if size <= k:
        return [*proof(size, leaves[:k], is_whole), tree_hash(leaves[k:])]
    return [*proof(size - k, leaves[k:], False), tree_hash(leaves[:k])]


def split(size: int) -> int:
    """The largest power of two below ``size``."""
    k = 1
    while 2 * k < size:
        k *= 2
    return k
