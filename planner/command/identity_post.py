"""``topogate identity post``: send reports of hosts to a server, which says how their slot stands.

Exit 0 only where the slot runs what is in force: where something differs, or a host is still waited for, it is 1. The
same report may be sent again; the server takes it once.
"""

import hashlib
import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from planner.command.base import Exit, Refused, add_format, opened
from planner.command.check import print_check
from planner.command.client import Client
from planner.command.server import ProblemsError, accepted, add_server, answered

__all__ = ["configure_post", "run_post"]

SHOWN = 10
"""Nodes, keys and ranks that are told on standard error, each."""


def configure_post(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("reports", nargs="+", metavar="FILE", help="report of a host, - for stdin")
    parser.add_argument("--slot", required=True, metavar="SLOT", help="serving slot, such as chat/eu-west")
    add_server(parser)
    add_format(parser, default="json")


def run_post(arguments: Namespace) -> int:
    """Send the reports; return the exit code."""
    found = answered(arguments, _posted)
    if isinstance(found, Exit):
        return found
    code = print_check(found, arguments.format)
    _say_awaited(found)
    return code


def _posted(client: Client, arguments: Namespace) -> dict[str, Any]:
    """Send every file as a part of its own.

    Raises:
        ProblemsError, RefusedError, NotReachedError: see there.
    """
    unread: Refused = {}
    given = [opened(bytes, name, unread) for name in arguments.reports]
    if unread:
        raise ProblemsError(unread)
    parts = [("identity", raw) for raw in given if raw is not None]
    digest = hashlib.sha256(b"\0".join(hashlib.sha256(raw).digest() for _, raw in parts))
    path = ["workspaces", arguments.workspace, "identity-reports"]
    answer = client.post(path, fields={"slot": arguments.slot}, files=parts, key=f"topogate-{digest.hexdigest()}")
    return accepted(answer, {})


def _say_awaited(found: dict[str, Any]) -> None:
    """Say on standard error what no host has reported, and which hosts contradict one another."""
    awaited = found["awaited"]
    for what, names, total in (
        ("nodes", awaited["nodes"], awaited.get("nodes_in_all", len(awaited["nodes"]))),
        ("keys", awaited["keys"], awaited["keys_in_all"]),
        ("ranks", awaited["ranks"], awaited["ranks_in_all"]),
        ("NICs of ranks", awaited["nics"], awaited["nics_in_all"]),
    ):
        if total:
            more = f" and {total - SHOWN} more" if total > SHOWN else ""
            print(f"not reported: {what} {', '.join(map(str, names[:SHOWN]))}{more}", file=sys.stderr)
    for text in found["contradictions"][:SHOWN]:
        print(f"reports differ: {text}", file=sys.stderr)
