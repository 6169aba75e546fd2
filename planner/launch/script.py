"""A launch as a shell script: one branch for every engine and node, with the label, what to fill in and what is unsaid.

Rules kept: everything of a document is quoted or in a comment on one line; a variable that is not set stops the script
and is named; nothing starts by itself, or after the decision expired; no secret is written. Words after ``--`` end the
engine's command as they are given, and where a decided setting is left nothing starts without that ``--``. Several
nodes under MPI are started from the first of them, ranks in the order of the contexts of ``mpirun``, each with the
devices of its node.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from planner.launch.base import Engine, Label, Start, Unsaid
from planner.launch.engines import host_variable
from planner.matrix.words import Variable, Word, command
from planner.shown import printable

__all__ = ["GIVEN", "label_lines", "labels", "left_settings", "mpi_words", "shell_script", "unsaid_lines"]

GIVEN = "-- ARGUMENT..."
"""What a script takes after instance and node."""
PASSED = Variable("@:4")
"""The words after ``--``, each one word as it was given."""


def shell_script(
    label: Label, engines: Sequence[Engine], to_fill: Mapping[str, str], unsaid: Sequence[Unsaid], *, title: str
) -> str:
    """Return the script."""
    lines = ["#!/usr/bin/env bash"]
    lines += [_comment(text) for text in label_lines(label, title)]
    lines += [_comment(text) for text in unsaid_lines(to_fill, unsaid)]
    lines += ["set -euo pipefail", ""]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in labels(label).items()]
    lines += _expiry(label)
    lines += ['if [[ "${3:---}" != -- ]]; then']
    lines += ["  printf '%s\\n' 'words for the engine come after --' >&2", "  exit 2", "fi"]
    lines += ["", 'case "${1:-}/${2:-}" in']
    for engine in engines:
        lines += _branches(engine)
    lines += ["  *)", *(f"    printf '%s\\n' {shlex.quote(text)} >&2" for text in _usage(engines))]
    lines += ["    exit 2", "    ;;", "esac"]
    return "".join(f"{line}\n" for line in lines)


def _expiry(label: Label) -> Iterator[str]:
    """Yield what keeps a script from starting what is decided no more; texts of UTC times order as the times do."""
    if label.expires_at is not None:
        yield 'if [[ "$(date -u +%Y-%m-%dT%H:%M:%SZ)" > "$TOPOGATE_EXPIRES_AT" ]]; then'
        yield "  printf 'the decision expired at %s\\n' \"$TOPOGATE_EXPIRES_AT\" >&2"
        yield "  exit 3"
        yield "fi"


def labels(label: Label) -> dict[str, str]:
    """Return what every process is labelled with: names of the environment and values; unnamed ones are left out."""
    named = {
        "TOPOGATE_SLOT": label.slot,
        "TOPOGATE_DECISION": label.decision,
        "TOPOGATE_SUBJECT": label.subject,
        "TOPOGATE_EXPIRES_AT": label.expires_at,
        "TOPOGATE_PLAN": label.plan,
        "TOPOGATE_RANK_MAP": label.rank_map_digest,
    }
    return {name: value for name, value in named.items() if value is not None}


def label_lines(label: Label, title: str) -> Iterator[str]:
    """Yield the label for people."""
    yield f"{label.slot}: {label.topology} by {title}, {label.engine}"
    yield f"decision: {label.decision or 'none named; this is of a plan, not of a decision in force'}"
    yield f"subject: {label.subject or 'none named'}"
    yield f"expires: {label.expires_at or 'not stated'}"
    yield f"contract {label.contract}"
    yield f"evidence {label.evidence}"
    yield f"plan {label.plan}"
    yield f"trial {label.trial}, rank map {label.rank_map_digest}"


def unsaid_lines(to_fill: Mapping[str, str], unsaid: Sequence[Unsaid]) -> Iterator[str]:
    """Yield what is to be filled in and what the launch does not express."""
    yield "To fill in:" if to_fill else "Nothing is to be filled in."
    yield from (f"  {name}: {meaning}" for name, meaning in to_fill.items())
    yield "Not expressed here:"
    yield from (f"  {each.at}: {each.sentence}" for each in unsaid)


def left_settings(engines: Sequence[Engine]) -> str:
    """Return the settings that are left to who starts the engines; empty where there are none."""
    return "; ".join(dict.fromkeys(text for engine in engines if engine.starts for text in engine.left))


def _comment(text: str) -> str:
    return f"# {printable(text)}"


def _usage(engines: Sequence[Engine]) -> Iterator[str]:
    yield f"usage: bash launch.sh INSTANCE NODE [{GIVEN}], one of:"
    for engine in engines:
        yield from (f"  {engine.index} {start.node}" for start in _started(engine))
        if not engine.starts:
            yield f"instance {engine.index} cannot be started as decided; the comments above say why"


def _started(engine: Engine) -> tuple[Start, ...]:
    return engine.starts[:1] if engine.from_one_node else engine.starts


def _branches(engine: Engine) -> Iterator[str]:
    for start in _started(engine):
        yield f"  {shlex.quote(f'{engine.index}/{start.node}')})"
        for seats in engine.starts if engine.from_one_node else (start,):
            placed = ", ".join(f"{rank} on {device}" for rank, device in zip(seats.ranks, seats.devices, strict=True))
            yield f"    # {seats.node}, {engine.role}: ranks {placed}"
        yield from _asked(engine)
        if engine.from_one_node:
            yield f"    exec {command(mpi_words(engine, passed=(PASSED,))).shell}"
        else:
            for name, value in start.environment.items():
                yield f"    export {name}={command([value]).shell}"
            yield f"    exec {command((*start.words, PASSED)).shell}"
        yield "    ;;"


def _asked(engine: Engine) -> Iterator[str]:
    """Yield what stops a script that is not told what sets the settings that are left."""
    if engine.left:
        text = f"give what sets these after INSTANCE NODE --, or -- alone: {'; '.join(engine.left)}"
        yield '    if [[ -z "${3:-}" ]]; then'
        yield f"      printf '%s\\n' {shlex.quote(printable(text))} >&2"
        yield "      exit 2"
        yield "    fi"


def mpi_words(engine: Engine, hosts: Mapping[str, Word] | None = None, *, passed: Sequence[Word] = ()) -> list[Word]:
    """Return ``mpirun`` with one context a node, so that ranks follow the order of the nodes.

    ``hosts`` is node -> its host as a word; a variable for each where it is left out. ``passed`` ends every context.
    """
    words: list[Word] = ["mpirun"]
    for at, start in enumerate(engine.starts):
        host: Word = host_variable(start.node) if hosts is None else hosts[start.node]
        parts: tuple[str | Variable, ...] = host if isinstance(host, tuple) else (host,)
        words += [":"] if at else []
        words += ["-n", str(len(start.ranks)), "--host", (*parts, f":{len(start.ranks)}")]
        for name, value in start.environment.items():
            words += ["-x", (f"{name}=", *(value if isinstance(value, tuple) else (value,)))]
        words += ["trtllm-llmapi-launch", *start.words, *passed]
    return words
