"""``topogate submit``: send a contract and evidence to a server, and wait for its plan if asked to.

The documents are judged by the server, by the same intake as on the command line. Standard output holds the result
alone. The idempotency key follows from everything that is sent, so a submission whose answer was lost can be sent
again: the same content is the same revision, judged as of the time of the first. To have it judged anew, say
``--as-of``.
"""

import hashlib
import json
import os
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner.command.base import (
    Command,
    Exit,
    Refused,
    UnreadableInputError,
    json_line,
    opened,
    print_refused,
)
from planner.command.client import Answer, Client, NotReachedError, ServerAddressError
from planner.command.opening import utc_time
from planner.command.plan import EXIT
from planner.decision_numbers import decision_number, revision_label
from planner.errors import PlannerError, Problem
from planner.shown import printable, shown

TOKEN_VARIABLE = "TOPOGATE_TOKEN"  # noqa: S105 - the name of the variable that holds it
FIRST_POLL_SECONDS = 0.1
LONGEST_POLL_SECONDS = 2.0
REFUSED_STATUSES = frozenset({401, 403, 404, 409})


class RefusedError(PlannerError):
    """The server refused for a reason that no change of the documents mends; the text is the whole message."""


class ProblemsError(PlannerError):
    """What was given cannot be sent, or the server found problems in it; ``problems`` is by the user's names."""

    def __init__(self, problems: Refused) -> None:
        super().__init__("what was given is refused")
        self.problems = problems


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("contract", metavar="CONTRACT", help="contract file")
    parser.add_argument("evidence", metavar="EVIDENCE", help="evidence file")
    parser.add_argument("--server", required=True, metavar="URL", help="address of the server")
    parser.add_argument("--workspace", required=True, type=_text, metavar="NAME", help="workspace on the server")
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--title", type=_text, metavar="TEXT", help="title of a new decision (default: the names of the files)"
    )
    target.add_argument("--decision", type=_number, metavar="N", help="make a revision of this decision")
    parser.add_argument("--as-of", type=utc_time, metavar="TIME", help="judge evidence at this UTC time (default: now)")
    parser.add_argument("--token-file", metavar="FILE", help=f"file with the API token (default: ${TOKEN_VARIABLE})")
    parser.add_argument("--wait", action="store_true", help="wait for the plan; the exit code is its decision")
    parser.add_argument(
        "--timeout", type=_seconds, default=600.0, metavar="SECONDS", help="wait no longer than this (default: 600)"
    )
    parser.add_argument("--plain-http", action="store_true", help="send the token unencrypted to another machine")
    parser.add_argument("--format", choices=("json", "text"), default="json", help="how the result is printed")


def _text(text: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ArgumentTypeError(f"expected UTF-8, found {shown(text)}")
    return text


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


def answered(arguments: Namespace, ask: Callable[[Client, Namespace], dict[str, Any]]) -> dict[str, Any] | Exit:
    """Ask the server that the arguments name; where that fails, say why and return the exit code to end with."""
    try:
        client = Client(arguments.server, api_token(arguments.token_file), plain_http=arguments.plain_http)
        return ask(client, arguments)
    except ProblemsError as error:
        print_refused(error.problems, arguments.format)
        return Exit.BAD_INPUT
    except RefusedError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.REFUSED
    except NotReachedError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.NOT_REACHED
    except ServerAddressError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT


def _made(client: Client, arguments: Namespace) -> dict[str, Any]:
    """Submit, and wait for the plan if asked to; return the revision.

    Raises:
        ProblemsError, RefusedError, NotReachedError: see there.
    """
    revision = _submitted(client, arguments)
    print(f"{_name(revision)} submitted, as of {revision['as_of']}", file=sys.stderr)
    return _waited(client, arguments, revision) if arguments.wait else revision


def api_token(file: str | None) -> str:
    """Return the token; it is never an argument, where other users of the machine could read it.

    Raises:
        UnreadableInputError: there is none.
    """
    if file is not None:
        try:
            token = Path(file).read_text(encoding="ascii").strip()
        except (OSError, ValueError) as error:
            raise UnreadableInputError(f"--token-file {file}", "none", expected="a file with an API token") from error
    else:
        token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not (token.isascii() and token.isprintable() and token and " " not in token):
        raise UnreadableInputError("token", "none", expected=f"an API token in ${TOKEN_VARIABLE} or in --token-file")
    return token


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


def accepted(answer: Answer, names: dict[str, str]) -> dict[str, Any]:
    """Return what the server answered to a request that it took; ``names`` are the files as on the command line.

    Raises:
        RefusedError: permission or state are in the way.
        ProblemsError: the server found problems in what was sent.
        NotReachedError: no answer of a Topogate server.
    """
    if answer.status in (200, 201):
        return answer.value
    detail = str(answer.value.get("detail", ""))
    if answer.status in REFUSED_STATUSES:
        raise RefusedError(f"refused ({answer.status}): {detail}")
    if answer.status in (400, 413, 415, 422):
        raise ProblemsError(_problems(answer.value, names) or {"request": (_whole(answer.status, detail),)})
    raise NotReachedError(f"the server answered {answer.status}: {detail}")


def _problems(value: dict[str, Any], names: dict[str, str]) -> Refused:
    """Return the problems of an answer, by file as on the command line, by ``request`` for everything else."""
    found: dict[str, list[Problem]] = {}
    for item in value.get("problems", ()):
        problem = Problem(
            **{name: item[name] for name in ("code", "pointer", "expected", "found")},
            line=item.get("line"),
            column=item.get("column"),
        )
        found.setdefault(names.get(item["document"], "request"), []).append(problem)
    return {name: tuple(problems) for name, problems in found.items()}


def _whole(status: int, detail: str) -> Problem:
    return Problem("request/refused", "", "a request that the server takes", f"{status}: {detail}")


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
