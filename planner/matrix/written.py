"""A matrix as a file, for programs, people and shells: pages and API give the same bytes."""

from planner.matrix.markdown import matrix_markdown
from planner.matrix.matrix import matrix_bytes
from planner.matrix.script import matrix_script
from planner.records.matrix import Matrix

__all__ = ["CONTENT_TYPES", "matrix_written"]

CONTENT_TYPES = {
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "sh": "text/x-shellscript; charset=utf-8",
}
"""Form -> media type."""


def matrix_written(matrix: Matrix, form: str, client: str | None = None) -> bytes:
    """Return a matrix in one of the forms above. ``client`` is the script's load generator; None is the engine's own.

    Raises:
        KeyError: there is no such form.
    """
    written = {
        "json": lambda: matrix_bytes(matrix),
        "markdown": lambda: matrix_markdown(matrix).encode(),
        "sh": lambda: matrix_script(matrix, client).encode(),
    }
    return written[form]()
