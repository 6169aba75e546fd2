"""What the subcommands share that ask a server: where it is, who asks, and what became of a request.

The exit code tells a refusal from problems in what was sent, and both from a server that was not reached.
"""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner.command.base import Exit, Refused, UnreadableInputError, opened, print_refused
from planner.command.client import Answer, Client, NotReachedError, ServerAddressError, page_address
from planner.errors import PlannerError, Problem
from planner.shown import shown

__all__ = ["ProblemsError", "RefusedError", "accepted", "add_server", "answered", "file_to_send", "utf8_text"]

TOKEN_VARIABLE = "TOPOGATE_TOKEN"  # noqa: S105 - the name of the variable that holds it
TAKEN_FROM = f"${TOKEN_VARIABLE} or --token-file"
OF_THE_TOKEN = "This token "  # noqa: S105 - the beginning of a sentence
"""How the server begins to say that a token lacks a scope, which is a 403 as what a person may not do."""
REFUSED_STATUSES = frozenset({401, 403, 404, 409})


class RefusedError(PlannerError):
    """The server refused for a reason that no change of the documents mends; the text is the whole message."""


class TokenRefusedError(RefusedError):
    """The server refused because of the token."""


class ProblemsError(PlannerError):
    """What was given cannot be sent, or the server found problems in it; ``problems`` is by the user's names."""

    def __init__(self, problems: Refused) -> None:
        super().__init__("what was given is refused")
        self.problems = problems


def add_server(parser: ArgumentParser) -> None:
    """Add where a server is, and how it is reached."""
    parser.add_argument("--server", required=True, metavar="URL", help="address of the server")
    parser.add_argument("--workspace", required=True, type=utf8_text, metavar="NAME", help="workspace on the server")
    parser.add_argument("--token-file", metavar="FILE", help=f"file with the API token (default: ${TOKEN_VARIABLE})")
    parser.add_argument("--plain-http", action="store_true", help="send the token unencrypted to another machine")


def utf8_text(text: str) -> str:
    """Take an argument whose bytes are text.

    Raises:
        ArgumentTypeError: they are not.
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ArgumentTypeError(f"expected UTF-8, found {shown(text)}")
    return text


def answered(arguments: Namespace, ask: Callable[[Client, Namespace], dict[str, Any]]) -> dict[str, Any] | Exit:
    """Ask the server that the arguments name; where that fails, say why and return the exit code to end with."""
    try:
        page = page_address(arguments.server, ["w", arguments.workspace, "settings", "tokens"])
        client = Client(arguments.server, _token(arguments.token_file, page), plain_http=arguments.plain_http)
        return ask(client, arguments)
    except ProblemsError as error:
        print_refused(error.problems, arguments.format)
        return Exit.BAD_INPUT
    except TokenRefusedError as error:
        print(f"topogate: {error} Make one on {page}; {TAKEN_FROM} takes it.", file=sys.stderr)
        return Exit.REFUSED
    except RefusedError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.REFUSED
    except NotReachedError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.NOT_REACHED
    except ServerAddressError as error:
        print(f"topogate: {error}", file=sys.stderr)
        return Exit.BAD_INPUT


def file_to_send(name: str) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``.

    Raises:
        ProblemsError: it cannot be read.
    """
    unread: Refused = {}
    raw = opened(bytes, name, unread)
    if raw is None:
        raise ProblemsError(unread)
    return raw


def _token(file: str | None, page: str) -> str:
    """Return the token; it is never an argument, where other users of the machine could read it.

    ``page`` is where one is made.

    Raises:
        UnreadableInputError: there is none.
    """
    if file is not None:
        try:
            token = Path(file).read_text(encoding="ascii").strip()
        except (OSError, ValueError) as error:
            expected = f"a file with an API token, as made on {page}"
            raise UnreadableInputError(f"--token-file {file}", "none", expected=expected) from error
    else:
        token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not (token.isascii() and token.isprintable() and token and " " not in token):
        raise UnreadableInputError("token", "none", expected=f"an API token in {TAKEN_FROM}, as made on {page}")
    return token


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
    if answer.status == 401 or (answer.status == 403 and detail.startswith(OF_THE_TOKEN)):
        raise TokenRefusedError(f"refused ({answer.status}): {detail}")
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
