"""Read ``nvidia-smi topo -m``, alone or inside a log, a report of an environment or a Markdown page.

Rules kept: each matrix is a node of its own; a row or cell that is missing or does not fit refuses the file, naming
the line; rows of NICs may be missing, since those of the devices say all that is used. ``topo -p2p`` beside it says
which pairs have peer access. Not handled: bandwidth (``NV18`` counts links), the network between nodes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import msgspec

from planner.errors import DocumentRefusedError, Problem
from planner.hardware.lines import clean_lines, refuse
from planner.hardware.matrix import Matrix, Row, checked_cells, parted
from planner.hardware.model import Note, SeenDevice, SeenNic, SeenNode, SeenPath
from planner.hardware.nvidia_devices import with_listed
from planner.hardware.nvidia_text import ACCESS, AFFINITY, CODE, DEVICE, Block, blocks
from planner.shown import shown

__all__ = ["HEADER", "ROW", "SOURCE", "looks_like", "read_nvidia_topo"]

SOURCE = "nvidia-smi topo -m"

ROW = r"\bGPU[0-9]{1,4}[\s|]+(?:X|NV[0-9]{1,3}|PIX|PSB|PXB|PHB|NODE|SYS|SOC)\b"
HEADER = r"^.*\bGPU0\b.*\bCPU Affinity\b"
_ROW = re.compile(ROW)
_HEADER = re.compile(HEADER, re.M)
_CODES = {"SOC": "SYS", "PSB": "PIX"}
"""Names of old drivers for what others call otherwise: across sockets, and over one bridge."""

Affinity = tuple[str | None, str | None]
"""NUMA node and CPUs."""
Rows = Mapping[str, tuple[list[str], list[str]]]


def looks_like(text: str) -> bool:
    """Say whether a text has a row or a header of such a matrix."""
    # Most texts have none of the words, and a search for them is far cheaper than one for a pattern.
    if "GPU" not in text:
        return False
    return _ROW.search(text) is not None or ("CPU Affinity" in text and _HEADER.search(text) is not None)


def read_nvidia_topo(text: str) -> tuple[SeenNode, ...]:
    """Return the nodes that the text shows, one for each matrix.

    Raises:
        DocumentRefusedError: with every line that does not fit.
    """
    problems: list[Problem] = []
    found, slices = blocks(clean_lines(text), problems)
    nodes: list[SeenNode] = []
    for block in found:
        if block.matrix.headless:
            _name_columns(block.matrix, problems)
        if _is_access(block):
            _add_access(block, nodes, problems)
        else:
            nodes.append(_node(block, problems))
    if problems:
        raise DocumentRefusedError(tuple(problems))
    if not nodes:
        refuse("hardware/format", f"a matrix as {SOURCE} prints it", "no line that starts with a row of it")
    if len(nodes) == 1 and not slices:
        nodes = [with_listed(nodes[0], tuple(clean_lines(text)))]
    return _with_remarks(nodes, slices)


def _name_columns(matrix: Matrix, problems: list[Problem]) -> None:
    """Name the columns after the rows where the header is lost and the own cells prove the order."""
    names = [row.name for row in matrix.rows]
    for position, row in enumerate(matrix.rows):
        cells = [cell for word in row.words for cell in parted(word, CODE) or ["?"]]
        path_cells = cells[: cells.index("?")] if "?" in cells else cells
        if len(names) < 2 or len(path_cells) != len(names) or path_cells[position] != "X":
            expected = "a header with the names of the columns, or two rows or more that are a full square"
            found = f"{len(names)} rows, {len(path_cells)} cells in the row of {row.name}"
            problems.append(Problem("hardware/header", "", expected, found, row.line))
            return
    matrix.names = names


def _is_access(block: Block) -> bool:
    """Say whether the matrix is one of ``topo -p2p``: it has its cells, and none of a path."""
    words = [word for row in block.matrix.rows for word in row.words]
    codes = [word for word in words if CODE.fullmatch(word) and word != "X"]
    return not codes and any(ACCESS.fullmatch(word) and word != "X" for word in words)


def _add_access(block: Block, nodes: list[SeenNode], problems: list[Problem]) -> None:
    """Put the cells of ``topo -p2p`` into the paths of the matrix before it."""
    rows = checked_cells(block.matrix, ACCESS, _is_own, problems)
    devices = [device.name for device in nodes[-1].devices] if nodes else []
    if devices != block.matrix.names:
        expected = "a matrix of topo -m with the same devices before that of topo -p2p"
        found = "another one" if nodes else "none"
        problems.append(Problem("hardware/row", "", expected, found, block.matrix.line))
        return
    column = {name: position for position, name in enumerate(block.matrix.names)}

    def access(path: SeenPath) -> str | None:
        return rows[path.a][0][column[path.b]] if path.a in rows and path.b in column else None

    paths = (msgspec.structs.replace(path, peer_access=access(path)) for path in nodes[-1].paths)
    nodes[-1] = replace(nodes[-1], paths=tuple(paths))


def _node(block: Block, problems: list[Problem]) -> SeenNode:
    matrix = block.matrix
    before = len(problems)
    rows = checked_cells(matrix, CODE, _is_own, problems)
    devices = [name for name in matrix.names if DEVICE.fullmatch(name)]
    problems.extend(_two_in_one(matrix, rows))
    if len(problems) == before:
        problems.extend(_missing_rows(matrix, devices))
    if len(problems) > before:
        return SeenNode(devices=())
    notes: list[Note] = []
    affinity = {name: _affinity(matrix, matrix.named()[name], rows[name][1], notes) for name in devices}
    nics = [name for name in matrix.names if name not in affinity]
    notes += _lost(matrix, nics)
    return SeenNode(
        devices=tuple(SeenDevice(name=name, numa=affinity[name][0], cpus=affinity[name][1]) for name in devices),
        nics=tuple(SeenNic(name=name, interface=_interface(name, block)) for name in nics),
        paths=tuple(_paths(matrix.names, rows)),
        notes=tuple(notes),
    )


def _is_own(cell: str) -> bool:
    return cell == "X"


def _missing_rows(matrix: Matrix, devices: Sequence[str]) -> Iterator[Problem]:
    present = matrix.named()
    last = max((row.line for row in matrix.rows), default=matrix.line)
    for name in devices:
        if name not in present:
            yield Problem("hardware/missing_row", "", f"a row of {name}, which line {matrix.line} names", "none", last)


def _affinity(matrix: Matrix, row: Row, words: Sequence[str], notes: list[Note]) -> Affinity:
    """Return what the columns after the cells say; nothing where it is not certain which word is of which column."""
    if not matrix.columns or not words:
        return None, None
    if len(words) != len(matrix.columns) or not all(map(AFFINITY.fullmatch, words)):
        found = shown(" ".join(words))
        sentence = f"{row.name}: not read, {len(matrix.columns)} affinity columns have {found} below them."
        notes.append(Note(sentence=sentence, line=row.line))
        return None, None
    by_column = dict(zip(matrix.columns, words, strict=True))
    return _known(by_column.get("numa")), _known(by_column.get("cpus"))


def _two_in_one(matrix: Matrix, rows: Rows) -> Iterator[Problem]:
    """Refuse a row with another one on its line: a paste lost the end of the line."""
    for name, (_, words) in rows.items():
        other = next((word for word in words if word in matrix.names), None)
        if other is not None:
            expected = f"the row of {name} to end before another one"
            yield Problem("hardware/row", "", expected, shown(other), matrix.named()[name].line)


def _known(word: str | None) -> str | None:
    return None if word == "N/A" else word


def _lost(matrix: Matrix, nics: Sequence[str]) -> Iterator[Note]:
    if matrix.headless:
        yield Note(
            sentence="The header is lost: columns are named after the rows, affinity columns are not read.",
            line=matrix.line,
        )
    rowless = [name for name in nics if name not in matrix.named()]
    if rowless:
        sentence = f"{len(rowless)} of {len(nics)} NICs have no row: paths between them are not known."
        yield Note(sentence=sentence, line=matrix.line)


def _interface(name: str, block: Block) -> str | None:
    return block.legend.get(name) if re.fullmatch(r"NIC[0-9]+", name) else name


def _paths(names: Sequence[str], rows: Rows) -> Iterator[SeenPath]:
    """Yield each pair once; the row of either of both will do."""
    for first, name in enumerate(names):
        for second in range(first + 1, len(names)):
            other = names[second]
            if name in rows:
                yield _path(name, other, rows[name][0][second])
            elif other in rows:
                yield _path(name, other, rows[other][0][first])


def _path(a: str, b: str, cell: str) -> SeenPath:
    if cell.startswith("NV"):
        return SeenPath(a=a, b=b, code=cell, kind="nvlink", links=int(cell[2:]))
    return SeenPath(a=a, b=b, code=_CODES.get(cell, cell), kind="pcie")


def _with_remarks(nodes: Sequence[SeenNode], slices: Sequence[int]) -> tuple[SeenNode, ...]:
    """Add what stands out: pairs without peer access in their node, the rest in the last node."""
    notes: list[Note] = []
    if len(nodes) > 1:
        notes.append(Note(sentence=f"The file has {len(nodes)} matrices; each is read as a node of its own."))
    if slices:
        sentence = f"Slices of devices (MIG) are listed, {len(slices)} of them; the matrix has whole devices."
        notes.append(Note(sentence=sentence, line=slices[0]))
    told = [replace(node, notes=(*node.notes, *_access_notes(node))) for node in nodes]
    told[-1] = replace(told[-1], notes=(*told[-1].notes, *notes))
    return tuple(told)


def _access_notes(node: SeenNode) -> Iterator[Note]:
    known = [path for path in node.paths if path.peer_access is not None]
    refused = [path for path in known if path.peer_access != "OK"]
    if refused:
        path = refused[0]
        first = f"first {path.a} and {path.b} ({path.peer_access})"
        yield Note(sentence=f"Without peer access: {len(refused)} of {len(known)} pairs, {first}.")
