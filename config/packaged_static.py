"""Serves single files of installed packages as static files, so that no third-party file is copied into the tree.

Only the files named here are served: whole package folders would also publish data that nobody asked for.
"""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.utils import matches_patterns
from django.core.files.storage import FileSystemStorage

FILES: dict[str, tuple[str, str]] = {
    "vendor/plotly/plotly.min.js": ("plotly", "package_data/plotly.min.js"),
}
"""Static path -> (package, path inside the package)."""


def packaged_path(package: str, inside: str) -> Path:
    """Return the file's place on disk without importing the package.

    Raises:
        FileNotFoundError: the package or the file is missing.
    """
    spec = find_spec(package)
    for root in spec.submodule_search_locations or () if spec else ():
        candidate = Path(root) / inside
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"{package}/{inside}")


class PackagedFilesFinder(BaseFinder):
    """A static files finder over ``FILES``."""

    def check(self, **kwargs: Any) -> list[Any]:
        """Nothing can be configured, so nothing can be configured wrongly."""
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> str | list[str]:  # type: ignore[override] # stubs name a removed argument
        """Return the file behind a static path, or an empty list."""
        if path not in FILES:
            return []
        found = str(packaged_path(*FILES[path]))
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        """Yield (file name, storage); the storage's prefix holds the rest of the static path."""
        for static_path, source in FILES.items():
            file = packaged_path(*source)
            if matches_patterns(file.name, list(ignore_patterns or ())):
                continue
            storage = FileSystemStorage(location=str(file.parent))
            storage.prefix = str(Path(static_path).parent)  # type: ignore[attr-defined] # collectstatic's own protocol
            yield file.name, storage
