"""The tree over entries as they are read, against the checkpoints and tiles that were kept of it.

Rules kept: a checkpoint states the root over the entries that are there; a key that the log announced before signed it,
as did every witness whose line is kept; no checkpoint covers more entries than the log holds.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from reviews.log_tree import TILE_HEIGHT, TILE_WIDTH
from reviews.models import Checkpoint, LogTile, Workspace
from reviews.transparency.checkpoints import checkpoint_opened
from reviews.transparency.merkle import Tree, leaf_hash
from reviews.transparency.notes import NoteError, Verifier


class SignedTree:
    """Takes entries in their order."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._tree = Tree()
        self._rows: dict[int, list[bytes]] = defaultdict(list)
        self._keys: set[str] = set()
        signed = Checkpoint.objects.filter(workspace=workspace).order_by("size", "pk")
        self._sizes = list(signed.values_list("size", flat=True).distinct())[::-1]

    def faults(self, fields: dict[str, Any], payload: dict[str, Any], data: bytes) -> Iterator[str]:
        """Take the next entry; yield what does not fit the tree over it and all before."""
        if fields.get("action") == "log.key_set":
            self._keys.add(str(payload.get("key")))
        leaf = leaf_hash(data)
        self._tree.append(leaf)
        yield from self._tile(0, leaf)
        if self._sizes and self._sizes[-1] == self._tree.size:
            size = self._sizes.pop()
            rows = Checkpoint.objects.filter(workspace=self._workspace, size=size).prefetch_related("cosignatures")
            for checkpoint in rows.order_by("pk"):
                yield from self._checkpoint(checkpoint)

    def unrecorded(self) -> Iterator[str]:
        """Yield checkpoints over entries that are not there."""
        for size in self._sizes[::-1]:
            yield f"a checkpoint was signed over {size} entries, the log holds {self._tree.size}"

    def _tile(self, level: int, value: bytes) -> Iterator[str]:
        """Compare complete tiles; the root of each is the next hash of the level above."""
        row = self._rows[level]
        row.append(value)
        if len(row) < TILE_WIDTH:
            return
        index = (self._tree.size >> TILE_HEIGHT * (level + 1)) - 1
        kept = LogTile.objects.filter(workspace=self._workspace, level=level, index=index)
        hashes = kept.values_list("hashes", flat=True).first()
        if hashes is not None and bytes(hashes) != b"".join(row):
            yield f"the kept tile {index} of level {level} has other hashes than its entries"
        above = Tree()
        for one in row:
            above.append(one)
        row.clear()
        yield from self._tile(level + 1, above.root())

    def _checkpoint(self, checkpoint: Checkpoint) -> Iterator[str]:
        what = f"the checkpoint over {checkpoint.size} entries"
        if bytes(checkpoint.root) != self._tree.root():
            yield f"{what} has another root than the entries"
        if checkpoint.key not in self._keys:
            yield f"{what} is signed by a key that no entry before announced"
        note = bytes(checkpoint.note)
        try:
            witnesses = [Verifier.of(one.key) for one in checkpoint.cosignatures.all()]
            lines = "".join(one.line for one in checkpoint.cosignatures.all()).encode()
            stated, opened = checkpoint_opened(note + lines, Verifier.of(checkpoint.key), witnesses)
        except NoteError as error:
            yield f"{what}: {error}"
            return
        if (stated.origin, stated.size, stated.root) != (
            self._workspace.log_origin,
            checkpoint.size,
            bytes(checkpoint.root),
        ):
            yield f"{what} has a note that states something else"
        if not all(map(opened.is_signed_by, witnesses)):
            yield f"{what} is not signed by every witness whose line is kept"
