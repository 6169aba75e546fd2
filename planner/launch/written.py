"""A launch configuration as files: JSON (``topogate.launch/v1``), and all of its files as one archive.

Rules kept: equal configurations give equal bytes, so the archive has no clock, no owner and one order of files.
"""

import io
import zipfile
from dataclasses import asdict
from typing import Any

from planner.launch.base import Engine, LaunchConfiguration
from planner.matrix.words import command

__all__ = ["CONTENT_TYPES", "launch_archive", "launch_file", "launch_tree"]

CONTENT_TYPES = {"sh": "text/x-shellscript; charset=utf-8", "yaml": "application/yaml; charset=utf-8"}
"""End of a file's name -> media type."""

NO_TIME = (1980, 1, 1, 0, 0, 0)
"""The first time that an archive can say."""


def launch_tree(made: LaunchConfiguration) -> dict[str, Any]:
    """Return the configuration in values of JSON."""
    return {
        "schema": "topogate.launch/v1",
        "target": made.target,
        "label": asdict(made.label),
        "is_exact": made.is_exact,
        "engines": [_engine_tree(engine) for engine in made.engines],
        "to_fill": dict(made.to_fill),
        "unsaid": [asdict(each) for each in made.unsaid],
        "faults": [asdict(each) for each in made.faults],
        "files": [asdict(file) for file in made.files],
    }


def _engine_tree(engine: Engine) -> dict[str, Any]:
    return {
        "index": engine.index,
        "role": engine.role,
        "settings": dict(engine.settings),
        "starts": [
            {
                "node": start.node,
                "ranks": start.ranks,
                "devices": start.devices,
                "environment": {name: command([value]).argv[0] for name, value in start.environment.items()},
                "argv": command(start.words).argv,
            }
            for start in engine.starts
        ],
    }


def launch_file(made: LaunchConfiguration, name: str) -> bytes | None:
    """Return the bytes of one of its files; None where it has none of the name."""
    return next((file.text.encode() for file in made.files if file.name == name), None)


def launch_archive(made: LaunchConfiguration) -> bytes:
    """Return every file in one ZIP archive, uncompressed; scripts can be executed."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for file in made.files:
            entry = zipfile.ZipInfo(file.name, NO_TIME)
            entry.create_system = 3  # Unix, so that the mode below counts, on every system
            entry.external_attr = (0o100755 if file.name.endswith(".sh") else 0o100644) << 16
            archive.writestr(entry, file.text)
    return written.getvalue()
