"""``topogate submit``: send a contract and evidence to a server, and wait for its plan if asked to.

The documents are judged by the server, by the same intake as on the command line. Standard output holds the result
alone. The idempotency key follows from everything that is sent, so a submission whose answer was lost can be sent
again: the same content is the same revision, judged as of the time of the first. To have it judged anew, say
``--as-of``.
"""

import hashlib
import json
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from planner.command.base import Command, Exit, Refused, add_format, json_line, opened
from planner.command.client import Client, NotReachedError
from planner.command.opening import utc_time
from planner.command.plan import EXIT
from planner.command.server import ProblemsError, RefusedError, accepted, add_server, answered, utf8_text
from planner.decision_numbers import decision_number, revision_label
from planner.shown import printable

FIRST_POLL_SECONDS = 0.1
LONGEST_POLL_SECONDS = 2.0


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("contract", metavar="CONTRACT", help="contract file")
    parser.add_argument("evidence", metavar="EVIDENCE", help="evidence file")
    add_server(parser)
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--title", type=utf8_text, metavar="TEXT", help="title of a new decision (default: the names of the files)"
    )
    target.add_argument("--decision", type=_number, metavar="N", help="make a revision of this decision")
    parser.add_argument("--as-of", type=utc_time, metavar="TIME", help="judge evidence at this UTC time (default: now)")
    parser.add_argument("--wait", action="store_true", help="wait for the plan; the exit code is its decision")
    parser.add_argument(
        "--timeout", type=_seconds, default=600.0, metavar="SECONDS", help="wait no longer than this (default: 600)"
    )
    add_format(parser, default="json")


def _number(text: str) -> int:
    number = decision_number(text)
    if number is None:
        raise ArgumentTypeError(f"expected a decision's number, such as 12 or D-0012, found {text[:40]!r}")
    return number


def _seconds(text: str) -> float:
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise ArgumentTypeError(f"expected whole seconds, found {text!r}")
    return float(text)


def _run(arguments: Namespace) -> int:
    revision = answered(arguments, _made)
    if isinstance(revision, Exit):
        return revision
    _print_result(revision, arguments.format)
    return _exit(revision) if arguments.wait else Exit.OK


def _made(client: Client, arguments: Namespace) -> dict[str, Any]:
    """Submit, and wait for the plan if asked to; return the revision.

    Raises:
        ProblemsError, RefusedError, NotReachedError: see there.
    """
    revision = _submitted(client, arguments)
    print(f"{_name(revision)} submitted, as of {revision['as_of']}", file=sys.stderr)
    return _waited(client, arguments, revision) if arguments.wait else revision


def _submitted(client: Client, arguments: Namespace) -> dict[str, Any]:
    """Submit; return the revision.

    Raises:
        ProblemsError, RefusedError, NotReachedError: see there.
    """
    unread: Refused = {}
    given = {name: opened(bytes, getattr(arguments, name), unread) for name in ("contract", "evidence")}
    files = {name: raw for name, raw in given.items() if raw is not None}
    if unread:
        raise ProblemsError(unread)
    path = ["workspaces", arguments.workspace, "decisions"]
    fields = {} if arguments.as_of is None else {"as_of": arguments.as_of}
    if arguments.decision is None:
        names = f"{Path(arguments.contract).name}, {Path(arguments.evidence).name}"
        fields["title"] = arguments.title or printable(names)
    else:
        path += [str(arguments.decision), "revisions"]
    answer = client.post(path, fields=fields, files=files, key=_key(path, fields, files))
    return accepted(answer, {"contract": arguments.contract, "evidence": arguments.evidence})


def _key(path: list[str], fields: dict[str, str], files: dict[str, bytes]) -> str:
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    content = json.dumps([path, fields, digests], sort_keys=True)
    return f"topogate-{hashlib.sha256(content.encode()).hexdigest()}"


def _waited(client: Client, arguments: Namespace, revision: dict[str, Any]) -> dict[str, Any]:
    """Poll until the revision is planned or has failed.

    Raises:
        NotReachedError: the time is over, or the server is not reached.
        RefusedError: the revision may not be read any more, or planning failed.
    """
    decision, number = str(revision["decision"]), str(revision["revision"])
    path = ["workspaces", arguments.workspace, "decisions", decision, "revisions", number]
    give_up_at = time.monotonic() + arguments.timeout
    pause = FIRST_POLL_SECONDS
    while revision["state"] in ("queued", "running"):
        if time.monotonic() + pause > give_up_at:
            raise NotReachedError(f"{_name(revision)} is {revision['state']} after {arguments.timeout:.0f} s")
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_POLL_SECONDS)
        revision = accepted(client.get(path), {})
    if revision["state"] == "failed":
        error = revision["error"] or {}
        raise RefusedError(f"{_name(revision)} was not planned: {error.get('detail', '')} [{error.get('code', '')}]")
    return revision


def _name(revision: dict[str, Any]) -> str:
    return revision_label(revision["decision"], revision["revision"])


def _print_result(revision: dict[str, Any], form: str) -> None:
    plan = revision["plan"] or {}
    result = {
        "decision": revision["decision"],
        "revision": revision["revision"],
        "state": revision["state"],
        "as_of": revision["as_of"],
        "plan_decision": plan.get("decision"),
        "selected_topology": plan.get("selected_topology"),
        "plan_id": plan.get("plan_id"),
        "url": revision["page"],
    }
    if form == "json":
        print(json_line(result))
    else:
        for name, value in result.items():
            print(f"{name}={'' if value is None else value}")


def _exit(revision: dict[str, Any]) -> int:
    return EXIT[revision["plan"]["decision"]]


COMMAND = Command(id="submit", help="send contract and evidence to a server", configure=_configure, run=_run)
