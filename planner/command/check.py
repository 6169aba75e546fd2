"""``topogate check``: ask a server whether a slot runs what is in force, by the identity of the slot as it is now.

Exit 0 only where an effective, unexpired decision matches; the first key that differs or is missing is named with the
team that owns it. ``--report`` makes an entry of it on the server, which turns a decision stale that differs.
"""

import hashlib
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from planner.command.base import Command, Exit, add_format, json_line
from planner.command.client import Client
from planner.command.server import accepted, add_server, answered, file_to_send

SHOWN = 10
"""Further differences that are told on standard error."""


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("--slot", required=True, metavar="SLOT", help="serving slot, such as chat/eu-west")
    parser.add_argument(
        "--identity", required=True, metavar="FILE", help="identity of the whole slot as JSON, - for stdin"
    )
    parser.add_argument("--report", action="store_true", help="record it; a decision that differs turns stale")
    add_server(parser)
    add_format(parser, default="json")


def _run(arguments: Namespace) -> int:
    found = answered(arguments, _asked)
    if isinstance(found, Exit):
        return found
    return print_check(found, arguments.format)


def _asked(client: Client, arguments: Namespace) -> dict[str, Any]:
    """Ask the server.

    Raises:
        ProblemsError, RefusedError, NotReachedError: see there.
    """
    identity = file_to_send(arguments.identity)
    path = ["workspaces", arguments.workspace, "identity-reports" if arguments.report else "check"]
    key = f"topogate-{hashlib.sha256(identity).hexdigest()}"
    answer = client.post(path, fields={"slot": arguments.slot}, files={"identity": identity}, key=key)
    return accepted(answer, {})


def print_check(found: dict[str, Any], form: str) -> Exit:
    """Print the answer, and on standard error an emergency in force and what differs beside the first key."""
    if form == "json":
        print(json_line(found))
    else:
        print(f"{'yes' if found['matches'] else 'no'}: {found['because']}")
    emergency = found["emergency"]
    if emergency:
        gates = ", ".join(emergency["failing_gates"])
        print(f"emergency {emergency['incident']} until {found['valid_until']}: fails {gates}", file=sys.stderr)
    for difference in found["differences"][1 : SHOWN + 1]:
        print(f"also {difference['how']}: {difference['key']} ({difference['team']})", file=sys.stderr)
    # Of reports an answer lists the first, and counts all.
    more = found.get("differences_in_all", len(found["differences"])) - SHOWN - 1
    if more > 0:
        print(f"and {more} more", file=sys.stderr)
    return Exit.OK if found["matches"] else Exit.NO


COMMAND = Command(id="check", help="ask a server whether a slot runs what is in force", configure=_configure, run=_run)
