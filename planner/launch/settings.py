"""Settings that a contract decides (scheduler, flags, batch) in an engine's own arguments, and those without one.

Rules kept: a key is written where it is an argument's own name, or a common name that the engine's documentation has as
the same thing; arguments are those of the engines' own lists (``tests/planner/matrix/arguments.py``). A value that is
not of the argument's kind is not written. What is not written is left with its reason, never dropped.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.layouts.base import Degrees
from planner.matrix.words import Word
from planner.records.base import stated
from planner.records.contract import Contract
from planner.records.evidence import LayoutName

__all__ = ["ENGINES", "settings_words"]

SCHEDULER = "stack.scheduler"
POLICY = "policy"
"""A common name inside of the scheduler's settings alone."""
NO_VALUE = "no value that its argument takes"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Argument:
    """An argument: ``words`` returns those that set it to a value, None where the value is not of its kind.

    ``alone``: its common name says the same only where no data ranks share or multiply what it counts. ``untaken``:
    value -> why one that the engine lists is not written.
    """

    words: Callable[[Any], list[str] | None]
    alone: bool = False
    untaken: Mapping[str, str] = field(default_factory=dict)


def settings_words(
    layout: LayoutName, contract: Contract, degrees: Degrees, given: Sequence[Word]
) -> tuple[list[str], list[str]]:
    """Return the words that settings add to those ``given``, and what is left, each with its value and the reason."""
    words: list[str] = []
    left: list[str] = []
    for section, key, value in _settings(contract):
        found, because = _said(layout, key if section == SCHEDULER or key != POLICY else "", value, degrees)
        have = [*given, *words]
        if found and found[0] in have:
            at = have.index(found[0])
            because = "" if have[at : at + len(found)] == found else f"{found[0]} has another value already"
            found = []
        if because:
            left.append(f"{section}.{key} {_text(value)} ({because})")
        words += found or ()
    return words, left


def _settings(contract: Contract) -> Iterator[tuple[str, str, Any]]:
    stack, workload = contract.identity.stack, contract.identity.workload
    sections = {SCHEDULER: stack.scheduler, "stack.flags": stack.flags, "workload.batch": workload.batch}
    for section, settings in sections.items():
        for key, value in sorted((stated(settings) or {}).items()):
            yield section, key, value


def _said(layout: LayoutName, key: str, value: Any, degrees: Degrees) -> tuple[list[str] | None, str]:
    """Return the words of a setting; None and why there are none."""
    argument = ENGINES[layout].get(key)
    if argument is None:
        return None, _NEAR.get((layout, key), "no argument is known to be the same")
    if argument.alone and _has_data_ranks(degrees):
        return None, "with data ranks it is not said whether it counts for one of them or for all"
    words = argument.words(value)
    if words is None:
        return None, argument.untaken.get(value, NO_VALUE) if isinstance(value, str) else NO_VALUE
    return words, ""


def _has_data_ranks(degrees: Degrees) -> bool:
    attention = degrees.extra.get("attn_dp", 1)
    return degrees.dp > 1 or attention != 1 or bool(degrees.extra.get("enable_attention_dp"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _count(name: str, least: int = 1) -> Callable[[Any], list[str] | None]:
    """Return the words of an argument that takes a whole number."""

    def words(value: Any) -> list[str] | None:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return [name, str(value)] if is_count else None

    return words


def _share(name: str) -> Callable[[Any], list[str] | None]:
    """Return the words of an argument that takes a share of memory."""

    def words(value: Any) -> list[str] | None:
        is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1
        return [name, str(value)] if is_share else None

    return words


def _choice(name: str, *choices: str) -> Callable[[Any], list[str] | None]:
    """Return the words of an argument that takes one of its own names."""
    return lambda value: [name, value] if value in choices else None


def _switch(on: str, off: str | None = None) -> Callable[[Any], list[str] | None]:
    """Return the words of a switch; one without a word for off is off where it is left out."""

    def words(value: Any) -> list[str] | None:
        if value is True:
            return [on]
        return ([] if off is None else [off]) if value is False else None

    return words


_SGLANG_POLICY = _Argument(
    words=_choice("--schedule-policy", "lpm", "random", "fcfs", "dfs-weight", "lof", "routing-key"),
    untaken={
        "priority": "SGLang lists it, but has no policy of that name and stops with it; what orders by priority is "
        "--enable-priority-scheduling"
    },
)

ENGINES: Mapping[LayoutName, Mapping[str, _Argument]] = {
    "vllm": {
        "max_num_seqs": _Argument(words=_count("--max-num-seqs")),
        "max_num_batched_tokens": _Argument(words=_count("--max-num-batched-tokens")),
        "max_model_len": _Argument(words=_count("--max-model-len")),
        "num_gpu_blocks_override": _Argument(words=_count("--num-gpu-blocks-override")),
        "gpu_memory_utilization": _Argument(words=_share("--gpu-memory-utilization")),
        "scheduling_policy": _Argument(words=_choice("--scheduling-policy", "fcfs", "priority")),
        "enable_chunked_prefill": _Argument(words=_switch("--enable-chunked-prefill", "--no-enable-chunked-prefill")),
        "enforce_eager": _Argument(words=_switch("--enforce-eager")),
        "max_running_requests": _Argument(words=_count("--max-num-seqs"), alone=True),
        POLICY: _Argument(words=_choice("--scheduling-policy", "fcfs", "priority")),
    },
    "sglang": {
        "max_running_requests": _Argument(words=_count("--max-running-requests")),
        "max_total_tokens": _Argument(words=_count("--max-total-tokens")),
        "max_prefill_tokens": _Argument(words=_count("--max-prefill-tokens")),
        "chunked_prefill_size": _Argument(words=_count("--chunked-prefill-size")),
        "context_length": _Argument(words=_count("--context-length")),
        "mem_fraction_static": _Argument(words=_share("--mem-fraction-static")),
        "schedule_policy": _SGLANG_POLICY,
        "chunked_prefill_tokens": _Argument(words=_count("--chunked-prefill-size"), alone=True),
        POLICY: _SGLANG_POLICY,
    },
    "trtllm": {
        "max_batch_size": _Argument(words=_count("--max_batch_size")),
        "max_num_tokens": _Argument(words=_count("--max_num_tokens")),
        "max_beam_width": _Argument(words=_count("--max_beam_width")),
        "max_seq_len": _Argument(words=_count("--max_seq_len")),
        "free_gpu_memory_fraction": _Argument(words=_share("--free_gpu_memory_fraction")),
        "enable_chunked_prefill": _Argument(words=_switch("--enable_chunked_prefill")),
        "max_running_requests": _Argument(words=_count("--max_batch_size"), alone=True),
    },
}
"""Engine -> key of a setting -> its argument: own names first, common names last."""

_NEAR: Mapping[tuple[LayoutName, str], str] = {
    ("vllm", "chunked_prefill_tokens"): "--max-num-batched-tokens bounds a whole step, its decode tokens too",
    ("trtllm", "chunked_prefill_tokens"): "--max_num_tokens bounds a whole step, its decode tokens too",
}
"""Why an argument that looks the same is not."""
