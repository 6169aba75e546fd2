"""``topogate observe post``: send a batch to a server, which answers what of it is out of its envelope.

The server judges the batch as the command line would; standard output holds its answer alone. The same file again is
answered as taken, so a collector that got no answer sends it once more. Exit 1 where a limit is broken.
"""

import hashlib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from planner.command.base import Exit, add_format, json_line
from planner.command.client import Client
from planner.command.server import accepted, add_server, answered, file_to_send
from planner.decision_numbers import revision_label
from planner.observations.words import range_text, value_text
from planner.shown import printable

__all__ = ["configure_post"]

BOUNDS = {"limit": "limit", "qualified": "measured"}
OF = ("rank", "group", "link", "shape")


def configure_post(parser: ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("batch", metavar="BATCH", help="batch of observations, - for stdin")
    add_server(parser)
    add_format(parser)
    parser.set_defaults(run_observe=_run)


def _run(arguments: Namespace) -> int:
    found = answered(arguments, _posted)
    if isinstance(found, Exit):
        return found
    print(json_line(found) if arguments.format == "json" else "\n".join(_lines(found)))
    return Exit.NO if found["breaches"] else Exit.OK


def _posted(client: Client, arguments: Namespace) -> dict[str, Any]:
    """Send the batch.

    Raises:
        ProblemsError, RefusedError, NotReachedError: see there.
    """
    raw = file_to_send(arguments.batch)
    key = f"topogate-{hashlib.sha256(raw).hexdigest()}"
    path = ["workspaces", arguments.workspace, "observations"]
    answer = client.post(path, fields={}, files={"observations": raw}, key=key)
    return accepted(answer, {"observations": arguments.batch})


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """Say what became of a batch: what was taken, what is open, then the worst of what the batch touched."""
    taken = "taken" if found["is_new"] else "taken before"
    judged = "" if found["is_judged"] or not found["is_new"] else ", too old to be judged"
    yield (
        f"{taken}: {found['values']:,} values of {revision_label(found['decision'], found['revision'])}{judged}; "
        f"in breach {found['breaches']:,}, drifting {found['drifts']:,}; "
        f"of the topology {found['open_breaches']:,} and {found['open_drifts']:,}"
    )
    for one in found["findings"]:
        of = ", ".join(f"{name} {one[name]}" for name in OF if name in one)
        metric, statistic = one["metric"], one["statistic"]
        said = {name: value_text(one[name], metric, statistic) for name in BOUNDS if one[name] is not None}
        bound = one["qualified"] if one["limit"] is None else one["limit"]
        seen = range_text(one["value"], one["value_up_to"] if bound else one["value"], metric, statistic)
        bounds = ", ".join(f"{word} {said[name]}" for name, word in BOUNDS.items() if name in said)
        line = f"{one['state']} {metric} {statistic} of {of or 'all groups'}: {seen}, {bounds}"
        yield printable(f"{line}. Owned by {one['team']}.")
