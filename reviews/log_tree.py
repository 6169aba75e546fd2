"""Complete subtrees of a workspace's log, from kept tiles where there are any and from the entries' bytes elsewhere.

Tiles are 256 hashes wide and 8 levels high (as tlog-tiles has them). What a tile says is never read from entries again:
an entry that is changed afterwards no longer fits its tile, which verification sees.
"""

from planner.canonical import file_sha256
from reviews.errors import TamperedError
from reviews.models import AuditEntry, LogTile, Workspace
from reviews.transparency.merkle import HASH_BYTES, Tree, leaf_hash

TILE_HEIGHT = 8
TILE_WIDTH = 1 << TILE_HEIGHT


class LogTree:
    """Reads the tree of one workspace; a ``NodeReader``. Keeps the rows that it read."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._rows: dict[tuple[int, int], list[bytes]] = {}

    def __call__(self, level: int, index: int) -> bytes:
        """Return the hash of a complete subtree.

        Raises:
            TamperedError: an entry below it is missing, or is not the one that was stored.
        """
        tile_level, height = divmod(level, TILE_HEIGHT)
        first, count = index << height, 1 << height
        row = self._row(tile_level, first // TILE_WIDTH, first % TILE_WIDTH + count)
        return _root_of(row[first % TILE_WIDTH :][:count])

    def grow(self, size: int) -> None:
        """Keep the tiles that ``size`` entries complete and that are not kept yet.

        Raises:
            TamperedError: an entry is missing, or is not the one that was stored.
        """
        tile_level = 0
        while full := size >> TILE_HEIGHT * (tile_level + 1):
            newest = LogTile.objects.filter(workspace=self._workspace, level=tile_level).order_by("-index").first()
            for index in range(newest.index + 1 if newest else 0, full):
                hashes = b"".join(self._row(tile_level, index, TILE_WIDTH))
                LogTile.objects.create(workspace=self._workspace, level=tile_level, index=index, hashes=hashes)
            tile_level += 1

    def _row(self, tile_level: int, index: int, count: int) -> list[bytes]:
        """Return at least the first ``count`` hashes of a tile."""
        key = tile_level, index
        if len(self._rows.get(key, ())) < count:
            self._rows[key] = self._kept(tile_level, index) or self._hashed(tile_level, index, count)
        return self._rows[key]

    def _kept(self, tile_level: int, index: int) -> list[bytes] | None:
        kept = LogTile.objects.filter(workspace=self._workspace, level=tile_level, index=index)
        hashes = kept.values_list("hashes", flat=True).first()
        if hashes is None:
            return None
        return [bytes(hashes[at : at + HASH_BYTES]) for at in range(0, TILE_WIDTH * HASH_BYTES, HASH_BYTES)]

    def _hashed(self, tile_level: int, index: int, count: int) -> list[bytes]:
        first = index * TILE_WIDTH
        if tile_level:
            below = range(first, first + count)
            return [_root_of(self._row(tile_level - 1, tile, TILE_WIDTH)) for tile in below]
        entries = AuditEntry.objects.filter(workspace=self._workspace, seq__gte=first, seq__lt=first + count)
        rows = list(entries.order_by("seq").values_list("seq", "sha256", "data"))
        if [seq for seq, _, _ in rows] != list(range(first, first + count)):
            raise TamperedError(f"The log lacks entries between {first} and {first + count - 1}.")
        for seq, sha256, data in rows:
            if file_sha256(bytes(data)) != sha256:
                raise TamperedError(f"The bytes of entry {seq} do not hash to its digest.")
        return [leaf_hash(bytes(data)) for _, _, data in rows]


def _root_of(hashes: list[bytes]) -> bytes:
    tree = Tree()
    for one in hashes:
        tree.append(one)
    return tree.root()
