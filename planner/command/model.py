"""``topogate model``: a model's shape from its ``config.json``, as the contract's sections, and what is missing."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import Any

from planner.command.base import Command, Exit, Refused, add_format, json_line, opened, print_refused
from planner.hypotheses.config import ConfigModel, ConfigRefusedError, File, read_config
from planner.hypotheses.config.figures import ConfigFigure, config_figures
from planner.strict_json import read

SCALE_HELP = "bytes of one quantisation scale (1 to 8), if the files do not state them"


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", help="config.json; - is standard input")
    parser.add_argument("more", nargs="*", metavar="FILE", help="hf_quant_config.json that lies beside it")
    parser.add_argument("--scale-bytes", type=int, choices=range(1, 9), metavar="N", help=SCALE_HELP)
    parser.add_argument(
        "--left-alone",
        action="append",
        default=[],
        metavar="MODULE",
        help="a module that the quantiser left alone, if the files do not state them; may be repeated",
    )
    add_format(parser)


def _run(arguments: Namespace) -> int:
    refused: Refused = {}
    readings = [(name, opened(read, name, refused)) for name in (arguments.config, *arguments.more)]
    files = [File(name=name, reading=reading) for name, reading in readings if reading is not None]
    if not refused:
        try:
            found = read_config(files, scale_bytes=arguments.scale_bytes, left_alone=tuple(arguments.left_alone))
        except ConfigRefusedError as error:
            refused = error.by_file
    if refused:
        print_refused(refused, arguments.format)
        return Exit.BAD_INPUT
    figures = config_figures(found)
    print(json_line(_json(found, figures)) if arguments.format == "json" else _text(found, figures))
    return Exit.OK


def _json(found: ConfigModel, figures: tuple[ConfigFigure, ...]) -> dict[str, Any]:
    return {
        "ok": True,
        "model": found.model,
        "precision": found.precision,
        "missing": [asdict(part) for part in found.missing],
        "sources": [asdict(source) for source in found.sources],
        "notices": list(found.notices),
        "hypotheses": [asdict(figure) for figure in figures],
    }


def _text(found: ConfigModel, figures: tuple[ConfigFigure, ...]) -> str:
    sections = json.dumps({"model": found.model, "precision": found.precision}, indent=2)
    lines = [sections, "", "missing:", *(f"  {part.field}: {part.asked}" for part in found.missing)]
    lines += ["read:"]
    for source in found.sources:
        rule = f" ({source.rule})" if source.rule else ""
        lines.append(f"  {source.field}: {source.file} {', '.join(source.pointers)}{rule}")
    lines += ["hypotheses, never measurements:"]
    for figure in figures:
        value = f"needs {', '.join(figure.missing)}" if figure.value is None else f"{figure.value} {figure.unit}"
        lines.append(f"  {figure.name}: {value} ({figure.formula})")
    lines += [f"notice: {notice}" for notice in found.notices]
    return "\n".join(lines)


COMMAND = Command(
    id="model",
    help="read a model's shape from its config.json and name what is missing",
    configure=_configure,
    run=_run,
)
