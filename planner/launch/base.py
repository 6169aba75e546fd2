"""What a launch configuration is: engines with the words that start them on each node, and what is not said by them.

Rules kept: every value comes from the contract or the trial; a value that neither states is a ``Variable``, named in
``to_fill``; what no argument expresses is an ``Unsaid``, never left out. An engine whose decided rank map cannot be
started has no starts: a launch that would put ranks elsewhere is worse than none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from planner.errors import PlannerError
from planner.matrix.words import Word

__all__ = [
    "TARGETS",
    "Engine",
    "File",
    "Label",
    "LaunchConfiguration",
    "LaunchRefusedError",
    "Start",
    "Target",
    "Unsaid",
    "settings_file",
]

Target = Literal["vllm", "sglang", "trtllm", "lws"]
TARGETS: tuple[Target, ...] = ("vllm", "sglang", "trtllm", "lws")


class LaunchRefusedError(PlannerError):
    """There is no launch of this for the target; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a launch is of. ``decision``, ``subject`` and ``expires_at`` (UTC) are None where no decision is named."""

    slot: str
    trial: str
    topology: str
    rank_map_digest: str
    contract: str
    evidence: str
    plan: str
    engine: str
    decision: str | None = None
    subject: str | None = None
    expires_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsaid:
    """Something decided that the launch does not express; ``at`` is a rank, an instance or a pointer."""

    at: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What is started on one node; ``ranks`` (global) and ``devices`` in the order of the engine's device numbers."""

    node: str
    ranks: tuple[int, ...]
    devices: tuple[str, ...]
    words: tuple[Word, ...]
    environment: Mapping[str, Word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One engine instance. ``from_one_node``: its ranks are started from one node (MPI), not by a command on each.

    ``settings`` is the tree of its YAML file, empty where it has none. ``left`` are decided settings that nothing of it
    says: what sets them is for the one who starts it to add.
    """

    index: int
    role: Literal["serve", "prefill", "decode"]
    layout: str
    starts: tuple[Start, ...]
    settings: Mapping[str, Any]
    from_one_node: bool = False
    left: tuple[str, ...] = ()

    @property
    def settings_file(self) -> str:
        """The name of its YAML file."""
        return settings_file(self.index)


def settings_file(index: int) -> str:
    """Return the name of the YAML file of an engine."""
    return f"engine-{index}.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of the launch."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchConfiguration:
    """The launch. ``is_exact`` says that every rank is started where the decision has it.

    ``to_fill`` is variable (or what a script takes) -> meaning; ``faults`` are those of ``unsaid`` for which it is not
    exact.
    """

    target: Target
    label: Label
    is_exact: bool
    engines: tuple[Engine, ...]
    to_fill: Mapping[str, str]
    unsaid: tuple[Unsaid, ...]
    faults: tuple[Unsaid, ...]
    files: tuple[File, ...]
