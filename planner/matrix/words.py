"""Words of a command, and the same as one line for a POSIX shell.

Rules kept: everything that comes from a document is quoted; only a ``Variable`` is left for the shell to fill in,
inside double quotes; no secret is ever a word, clients read theirs from the environment.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from planner.records.matrix import Command

__all__ = ["VARIABLES", "Variable", "Word", "command"]


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that the shell fills in."""

    name: str


Word = str | Variable | tuple[str | Variable, ...]
"""A literal, a variable, or both side by side in one word."""

TARGET = Variable("TOPOGATE_TARGET")
HEAD = Variable("TOPOGATE_HEAD")
HOSTS = Variable("TOPOGATE_HOSTS")
OUT = Variable("TOPOGATE_OUT")
REPEAT = Variable("TOPOGATE_REPEAT")
DATASET = Variable("TOPOGATE_DATASET")
PROMPT_TOKENS = Variable("TOPOGATE_PROMPT_TOKENS")
OUTPUT_TOKENS = Variable("TOPOGATE_OUTPUT_TOKENS")
CONFIG = Variable("TOPOGATE_TRTLLM_CONFIG")

VARIABLES: Mapping[str, str] = {
    TARGET.name: "address of the engine, such as http://127.0.0.1:8000",
    HEAD.name: "address of the first node, for engines that span nodes",
    HOSTS.name: "hosts with their slots as mpirun takes them, such as host-a:8,host-b:8",
    OUT.name: "folder of the results",
    REPEAT.name: "number of the window, from 1; it is the seed too, so that no window repeats another's prompts",
    DATASET.name: "file with the contract's requests",
    PROMPT_TOKENS.name: "prompt length in tokens: the contract states none",
    OUTPUT_TOKENS.name: "output length in tokens: the contract states none",
    CONFIG.name: "YAML file with the engine's settings that have no argument",
}


def command(words: Iterable[Word], *, node: str | None = None) -> Command:
    """Return a command; ``argv`` shows a variable as ``${NAME}``."""
    given = list(words)
    return Command(argv=tuple(map(_plain, given)), shell=" ".join(map(_quoted, given)), node=node)


def _parts(word: Word) -> tuple[str | Variable, ...]:
    return word if isinstance(word, tuple) else (word,)


def _plain(word: Word) -> str:
    return "".join(f"${{{part.name}}}" if isinstance(part, Variable) else part for part in _parts(word))


def _quoted(word: Word) -> str:
    parts = [part for part in _parts(word) if part != ""]
    if not parts:
        return "''"
    return "".join(f'"${{{part.name}}}"' if isinstance(part, Variable) else shlex.quote(part) for part in parts)
