"""Print what importing result files of tools costs, beside just reading and parsing them with the plain parser.

The plain parser is that of the file's own format, used as a script would use it: ``json.loads`` (line by line where a
file holds several values), ``csv.reader``, ``yaml`` with its safe loader in C, ``defusedxml``, the parser of the
Prometheus client, and for logs and tables of consoles decoding and splitting into lines. It checks nothing.

``python -m bench.importing [--runs 9] [--files FOLDER]``
"""

import argparse
import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import yaml
from defusedxml.ElementTree import fromstring
from prometheus_client.parser import text_string_to_metric_families

from bench.measure import median_seconds
from planner.importers import Imported, Source, import_file
from tests.shared import shared_folder

BOUND = 3.0
"""How many times the plain parser an import may take, over all files."""


def parse_json(text: str) -> object:
    """Parse one value, or one a line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def parse_csv(text: str) -> object:
    """Parse rows."""
    return list(csv.reader(io.StringIO(text)))


def parse_yaml(text: str) -> object:
    """Parse one document with the safe loader in C, the fastest there is."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


def parse_metrics(text: str) -> object:
    """Parse samples; files that were pasted hold other lines too, which leave the ones before."""
    samples = []
    try:
        for family in text_string_to_metric_families(text):
            samples.extend(family.samples)
    except ValueError:
        return samples
    return samples


PARSERS: dict[str, Callable[[str], object]] = {
    ".json": parse_json,
    ".jsonl": parse_json,
    ".csv": parse_csv,
    ".yaml": parse_yaml,
    ".prom": parse_metrics,
    ".xml": fromstring,
}


def plain(path: Path) -> object:
    """Read and parse a file."""
    text = path.read_text(encoding="utf-8")
    return PARSERS.get(path.suffix, str.splitlines)(text)


def imported(path: Path) -> Imported:
    """Import a file."""
    with path.open("rb") as handle:
        return import_file(Source(str(path), handle))


def every(step: Callable[[Path], object], paths: list[Path]) -> None:
    """Do a step with every file."""
    for path in paths:
        step(path)


def main() -> None:
    """Print one line a format, and all of them together."""
    parser = argparse.ArgumentParser(description="What importing costs beside plain parsing.")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--files", type=Path, default=shared_folder() / "cases" / "files")
    arguments = parser.parse_args()
    formats: dict[str, list[Path]] = {}
    for path in sorted(arguments.files.glob("*/*")):
        formats.setdefault(path.parent.name, []).append(path)
    steps = {}
    for name, paths in formats.items():
        steps[f"plain {name}"] = partial(every, plain, paths)
        steps[f"import {name}"] = partial(every, imported, paths)
    taken = median_seconds(steps, arguments.runs)
    print(f"{'format':20} {'files':>5} {'KiB':>7} {'plain ms':>9} {'import ms':>10} {'ratio':>6}")
    for name, paths in formats.items():
        size = sum(path.stat().st_size for path in paths)
        print(line(name, len(paths), size, taken[f"plain {name}"], taken[f"import {name}"]))
    totals = [sum(taken[f"{step} {name}"] for name in formats) for step in ("plain", "import")]
    files = [path for paths in formats.values() for path in paths]
    print(line("all", len(files), sum(path.stat().st_size for path in files), *totals), f"(at most {BOUND:g})")


def line(name: str, files: int, size: int, parsed: float, read: float) -> str:
    """Return one line of the table."""
    return f"{name:20} {files:5} {size / 2**10:7.1f} {parsed * 1000:9.2f} {read * 1000:10.2f} {read / parsed:6.1f}"


if __name__ == "__main__":
    main()
