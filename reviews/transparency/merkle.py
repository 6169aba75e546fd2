"""Merkle tree hashes and proofs over a growing list of leaves (RFC 9162, section 2.1; the same hashes as RFC 6962).

A leaf's hash is SHA-256 of 0x00 and its bytes, a node's is SHA-256 of 0x01 and both children. A tree of ``size``
leaves splits at the largest power of two below its size. Proofs are made from complete subtrees only, which never
change once they are complete: ``node(level, index)`` is the hash over the leaves ``index * 2**level`` and the
``2**level - 1`` after it.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

__all__ = [
    "EMPTY_ROOT",
    "HASH_BYTES",
    "NodeReader",
    "Tree",
    "consistency_holds",
    "consistency_proof",
    "inclusion_holds",
    "inclusion_proof",
    "leaf_hash",
    "node_hash",
    "nodes_of",
    "root_at",
]

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

NodeReader = Callable[[int, int], bytes]
"""Returns the hash of a complete subtree, given its level (0: leaves) and its index on that level."""


def leaf_hash(data: bytes) -> bytes:
    """Return the hash of a leaf that holds ``data``."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node above two hashes."""
    return sha256(b"\x01" + left + right).digest()


class Tree:
    """The root of a list of leaves that only grows. Holds one hash for each bit of its size."""

    def __init__(self, size: int = 0, hashes: Sequence[bytes] = ()) -> None:
        """Begin empty, or where another tree stood: its ``size`` and ``hashes``.

        Raises:
            ValueError: not as many hashes as the size has complete subtrees.
        """
        if len(hashes) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} complete subtrees, not {len(hashes)}")
        self.size = size
        self._hashes = list(hashes)

    @property
    def hashes(self) -> tuple[bytes, ...]:
        """The hashes of the complete subtrees, the largest first."""
        return tuple(self._hashes)

    def append(self, leaf: bytes) -> None:
        """Add the hash of one more leaf."""
        hashes, size = self._hashes, self.size
        while size & 1:
            leaf = sha256(b"\x01" + hashes.pop() + leaf).digest()
            size >>= 1
        hashes.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """Return the root over all leaves so far."""
        if not self._hashes:
            return EMPTY_ROOT
        root = self._hashes[-1]
        for left in reversed(self._hashes[:-1]):
            root = node_hash(left, root)
        return root


def nodes_of(leaves: Sequence[bytes]) -> NodeReader:
    """Return a reader over leaf hashes that are all at hand. Each complete subtree is hashed once, here."""
    levels = [list(leaves)]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([node_hash(below[at], below[at + 1]) for at in range(0, len(below) - 1, 2)])
    return lambda level, index: levels[level][index]


def root_at(node: NodeReader, size: int) -> bytes:
    """Return the root of the first ``size`` leaves."""
    return _hash_over(node, 0, size) if size else EMPTY_ROOT


def inclusion_proof(node: NodeReader, index: int, size: int) -> list[bytes]:
    """Return the proof that leaf ``index`` is in the tree of ``size`` leaves (RFC 9162, 2.1.3.1).

    Raises:
        ValueError: the tree has no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    proof: list[bytes] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            proof.append(_hash_over(node, middle, end))
            end = middle
        else:
            proof.append(_hash_over(node, start, middle))
            start = middle
    return proof[::-1]


def consistency_proof(node: NodeReader, size1: int, size2: int) -> list[bytes]:
    """Return the proof that the tree of ``size1`` leaves begins the tree of ``size2`` (RFC 9162, 2.1.4.1).

    Raises:
        ValueError: not 0 < size1 <= size2. An empty tree begins every tree, which no proof can show.
    """
    if not 0 < size1 <= size2:
        raise ValueError(f"expected 0 < size1 <= size2, found {size1} and {size2}")
    proof: list[bytes] = []
    start, end, is_known = 0, size2, True
    while size1 < end:
        middle = start + _split(end - start)
        if size1 <= middle:
            proof.append(_hash_over(node, middle, end))
            end = middle
        else:
            proof.append(_hash_over(node, start, middle))
            start, is_known = middle, False
    # What is left is what both trees share. The verifier knows its hash only where it is the whole first tree.
    if not is_known:
        proof.append(_hash_over(node, start, end))
    return proof[::-1]


def inclusion_holds(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Say whether a proof shows that the leaf hash stands at ``index`` of a tree (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    sides = _sides(index, size - 1, len(proof))
    if sides is None:
        return False
    reached = leaf
    for sibling, is_left in zip(proof, sides, strict=True):
        reached = node_hash(sibling, reached) if is_left else node_hash(reached, sibling)
    return reached == root


def consistency_holds(size1: int, size2: int, proof: Sequence[bytes], root1: bytes, root2: bytes) -> bool:
    """Say whether a proof shows that the first tree begins the second (RFC 9162, 2.1.4.2); an empty one never does."""
    if not 0 < size1 <= size2:
        return False
    if size1 == size2:
        return not proof and root1 == root2
    # A first tree that is complete is a node of the second; its hash is not repeated in the proof.
    path = [root1, *proof] if size1 & (size1 - 1) == 0 else list(proof)
    level = (size1 & -size1).bit_length() - 1
    sides = _sides((size1 - 1) >> level, (size2 - 1) >> level, len(path) - 1)
    if sides is None:
        return False
    first = second = path[0]
    for sibling, is_left in zip(path[1:], sides, strict=True):
        if is_left:
            first = node_hash(sibling, first)
        second = node_hash(sibling, second) if is_left else node_hash(second, sibling)
    return first == root1 and second == root2


def _sides(at: int, last: int, length: int) -> list[bool] | None:
    """Return for each hash of a proof, from the leaf up, whether it stands to the left; None for another length.

    ``at`` is where the path begins and ``last`` where its level ends.
    """
    sides: list[bool] = []
    while last:
        is_left = bool(at & 1)
        # The last of a level without a sibling rises as it is.
        if is_left or at < last:
            sides.append(is_left)
        at, last = at >> 1, last >> 1
    return sides if len(sides) == length else None


def _split(size: int) -> int:
    """Return the largest power of two below ``size``, which is at least 2."""
    return 1 << (size - 1).bit_length() - 1


def _hash_over(node: NodeReader, start: int, end: int) -> bytes:
    """Return the hash over leaves from ``start`` to before ``end``, where a subtree of the tree starts and ends."""
    hashes: list[bytes] = []
    for level, index in _complete(start, end):
        hashes.append(node(level, index))
    reached = hashes[-1]
    for left in reversed(hashes[:-1]):
        reached = node_hash(left, reached)
    return reached


def _complete(start: int, end: int) -> Iterable[tuple[int, int]]:
    """Yield the complete subtrees of a range, the largest first."""
    while start < end:
        level = (end - start).bit_length() - 1
        yield level, start >> level
        start += 1 << level
