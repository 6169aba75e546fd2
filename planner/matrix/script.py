"""A matrix as a shell script: start a candidate's engine on a node, run a load against it, list what there is.

Rules kept: everything from a document is quoted, or in a comment on one line; nothing runs by itself; faults are shown
and never put in; secrets come from the environment of who runs it, and clients read theirs there. ``shellcheck`` has
nothing to say of it.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping

from planner.figures import grouped, number
from planner.matrix.clients import CLIENTS
from planner.matrix.words import OUT, REPEAT, TARGET
from planner.records.matrix import Candidate, Command, Matrix, Run
from planner.shown import printable

__all__ = ["matrix_script"]

GIVEN = frozenset({TARGET.name, OUT.name, REPEAT.name})
"""Variables that the script sets itself."""


def matrix_script(matrix: Matrix, client: str | None = None) -> str:
    """Return the script; ``client`` is one of ``CLIENTS``, by default the engine's own.

    Raises:
        KeyError: no such client.
    """
    chosen = client or matrix.client
    CLIENTS[chosen]
    lines = [*_header(matrix, chosen), *_helpers(), *_listing(matrix), *_serving(matrix.candidates)]
    lines += [
        *_loading(matrix.candidates, matrix.runs, chosen, matrix.shared.dataset_digest),
        *_faults(matrix.runs),
        *_main(),
    ]
    return "".join(f"{line}\n" for line in lines)


def _comment(text: str) -> str:
    return f"# {printable(text)}"


def _header(matrix: Matrix, client: str) -> Iterator[str]:
    yield "#!/usr/bin/env bash"
    yield "# shellcheck disable=SC2016 # what is shown in single quotes is shown as it is"
    yield _comment(f"Benchmark matrix of {matrix.slot}: a plan of measurements, not evidence.")
    yield _comment(f"Contract {matrix.contract.content_id}, planner {matrix.planner_version}.")
    yield _comment(f"Engine {matrix.engine.name} {matrix.engine.version}, load by {CLIENTS[client].title}.")
    yield "#"
    yield "# Start a candidate on each of its nodes, then run the loads from a machine that reaches it:"
    yield "#   bash matrix.sh list"
    yield "#   bash matrix.sh serve CANDIDATE [NODE_NUMBER]"
    yield "#   bash matrix.sh load CANDIDATE RUN"
    yield "#   bash matrix.sh fault RUN"
    yield "#"
    yield "# Variables:"
    for name, meaning in matrix.variables.items():
        if name not in (OUT.name, REPEAT.name):
            yield _comment(f"  {name}: {meaning}")
    yield "#   TOPOGATE_RESULTS: folder of all results, ./results where not set"
    yield "# A key that the engine asks for is read by the clients from OPENAI_API_KEY; it is on no command line here."
    if matrix.engine.note:
        yield _comment(matrix.engine.note)
    yield "set -euo pipefail"
    yield ""
    yield ': "${TOPOGATE_TARGET:=http://127.0.0.1:8000}"'
    yield ': "${TOPOGATE_RESULTS:=results}"'
    yield "export TOPOGATE_TARGET"
    yield ""


def _helpers() -> Iterator[str]:
    yield "refuse() {"
    yield "  printf '%s\\n' \"$*\" >&2"
    yield "  exit 2"
    yield "}"
    yield ""


def _listing(matrix: Matrix) -> Iterator[str]:
    yield "list() {"
    yield "  printf '%s\\n' 'Candidates, the smallest first:'"
    for name, candidate in matrix.candidates.items():
        price = number(candidate.usd_per_hour)
        cost = "" if price is None else f", {grouped(price, 2)} USD/h"
        nodes = len(candidate.seats)
        yield _said(f"  {name}: {candidate.worth}, {candidate.ranks} ranks on {nodes} node(s){cost}")
    yield "  printf '%s\\n' 'Runs on each of them:'"
    for name, run in matrix.runs.items():
        needed = "required" if run.required else "optional"
        yield _said(f"  {name}: {needed}, {run.kind}, {run.repeats} x {run.requests} requests")
    yield "}"
    yield ""


def _said(text: str) -> str:
    return f"  printf '%s\\n' {shlex.quote(printable(text))}"


def _needed(commands: list[Command]) -> Iterator[str]:
    """Ask for the variables that are not set by the script."""
    text = "\n".join(command.shell for command in commands)
    for part in text.split("${")[1:]:
        name = part.partition("}")[0]
        if name.startswith("TOPOGATE_") and name not in GIVEN:
            yield f': "${{{name}:?is not set}}"'


def _serving(candidates: Mapping[str, Candidate]) -> Iterator[str]:
    yield "serve() {"
    yield '  case "$1/${2:-0}" in'
    for name, candidate in candidates.items():
        for sentence in candidate.launch.unsaid:
            yield f"    {_comment(f'{name}: {sentence}')}"
        for at, command in enumerate(candidate.launch.commands):
            if command.node is not None:
                yield f"    {_comment(f'{name} on node {command.node}')}"
            yield f"    {shlex.quote(f'{name}/{at}')})"
            for line in dict.fromkeys(_needed([command])):
                yield f"      {line}"
            yield f"      exec {command.shell}"
            yield "      ;;"
    yield '    *) refuse "No command starts $1 on node number ${2:-0}: see list." ;;'
    yield "  esac"
    yield "}"
    yield ""


def _loading(
    candidates: Iterable[str], runs: Mapping[str, Run], client: str, dataset_digest: str | None
) -> Iterator[str]:
    yield "load() {"
    yield "  local candidate=$1 run=$2 repeats"
    yield '  case "$run" in'
    shown = {name: run for name, run in runs.items() if run.clients}
    for name, run in shown.items():
        yield f"    {shlex.quote(name)}) repeats={run.repeats} ;;"
    yield '    *) refuse "No load is known for $run: see list." ;;'
    yield "  esac"
    yield '  TOPOGATE_OUT="${TOPOGATE_RESULTS}/${candidate}/${run}"'
    yield '  mkdir -p "${TOPOGATE_OUT}"'
    yield "  export TOPOGATE_OUT TOPOGATE_REPEAT"
    yield "  for ((TOPOGATE_REPEAT = 1; TOPOGATE_REPEAT <= repeats; TOPOGATE_REPEAT++)); do"
    yield '    case "$run" in'
    for name, run in shown.items():
        yield from _one_load(name, run, client, dataset_digest)
    yield "    esac"
    yield "  done"
    yield "}"
    yield ""


def _one_load(name: str, run: Run, client: str, dataset_digest: str | None) -> Iterator[str]:
    command = run.clients[client]
    for sentence in (*run.because, *run.unsaid.get(client, ())):
        yield f"      {_comment(sentence)}"
    yield f"      {shlex.quote(name)})"
    if run.cache == "cold":
        yield "        # A cold cache: start the engine anew before every window, or empty its cache."
    for line in dict.fromkeys(_needed([command])):
        yield f"        {line}"
    if dataset_digest and "TOPOGATE_DATASET" in command.shell:
        digest = shlex.quote(dataset_digest.removeprefix("sha256:"))
        yield f"        printf '%s  %s\\n' {digest} \"${{TOPOGATE_DATASET}}\" | sha256sum --check --status - ||"
        yield '          refuse "${TOPOGATE_DATASET} is not the file that the contract names."'
    yield f"        {command.shell}"
    yield "        ;;"


def _faults(runs: Mapping[str, Run]) -> Iterator[str]:
    yield "fault() {"
    yield '  case "$1" in'
    for name, run in runs.items():
        if run.injection is None:
            continue
        yield f"    {shlex.quote(name)})"
        for sentence in (*run.injection.steps, *run.injection.commands, *run.injection.unsaid):
            yield f"    {_said(sentence)}"
        yield f"    {_said(f'Recovered: {run.injection.criterion}')}"
        yield "      ;;"
    yield '    *) refuse "No fault is known as $1: see list." ;;'
    yield "  esac"
    yield "}"
    yield ""


def _main() -> Iterator[str]:
    yield 'case "${1:-}" in'
    yield "  list) list ;;"
    yield '  serve) serve "${2:?CANDIDATE is missing}" "${3:-0}" ;;'
    yield '  load) load "${2:?CANDIDATE is missing}" "${3:?RUN is missing}" ;;'
    yield '  fault) fault "${2:?RUN is missing}" ;;'
    yield '  *) refuse "Usage: matrix.sh list | serve CANDIDATE [NODE_NUMBER] | load CANDIDATE RUN | fault RUN" ;;'
    yield "esac"
