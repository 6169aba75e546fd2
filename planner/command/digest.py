"""``topogate digest``: print the two digests of every file.

``file_sha256`` is what ``sha256sum`` prints; ``content_id`` is over the canonical form and is what documents are
bound by. Any strict JSON has both; what it means is not looked at (``topogate validate`` does).
"""

import sys
from argparse import ArgumentParser, Namespace

from planner.command.base import Command, Exit, UnreadableInputError, add_format, input_bytes, json_line, problem_lines
from planner.errors import Problem
from planner.intake import Verdict, judge
from planner.shown import printable


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="any JSON file; - is standard input")
    add_format(parser)


def _run(arguments: Namespace) -> int:
    complete = True
    for name in arguments.files:
        try:
            verdict = judge(input_bytes(name))
        except UnreadableInputError as error:
            print(f"topogate: {error}", file=sys.stderr)
            complete = False
            if arguments.format == "json":
                print(json_line({"file": name, "file_sha256": None, "content_id": None}))
            continue
        _print(name, verdict, arguments.format)
        if verdict.content_id is None:
            print(problem_lines(name, _about_the_text(verdict)), file=sys.stderr)
            complete = False
    return Exit.OK if complete else Exit.BAD_INPUT


def _about_the_text(verdict: Verdict) -> tuple[Problem, ...]:
    """Return why there is no content id: what is wrong with the text, whatever it means."""
    return tuple(p for p in verdict.problems if p.code.startswith("json/") or p.code == "document/precision")


def _print(name: str, verdict: Verdict, form: str) -> None:
    if form == "json":
        print(json_line({"file": name, "file_sha256": verdict.file_sha256, "content_id": verdict.content_id}))
        return
    print(printable(name))
    print(f"  file_sha256  {verdict.file_sha256}\n  content_id   {verdict.content_id or 'none: no strict JSON'}")


COMMAND = Command(id="digest", help="print file_sha256 and content_id", configure=_configure, run=_run)
