"""What a topology says beyond the plain degrees, in each engine's own arguments, environment and settings.

Rules kept: argument names are those of the engines' own lists (``tests/planner/matrix/arguments.py``); a degree that no
argument sets is said. Values that no document states, such as how KV moves between pools, are variables.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from planner.launch.literal import OWN_SETTING
from planner.layouts.base import Degrees
from planner.matrix.trtllm_settings import trtllm_settings
from planner.matrix.words import Variable, Word
from planner.records.contract import Contract
from planner.records.evidence import LayoutName

__all__ = ["KV_CONNECTOR", "LISTEN", "Extras", "extras_of"]

Role = Literal["serve", "prefill", "decode"]

KV_CONNECTOR = Variable("TOPOGATE_KV_CONNECTOR")
LISTEN = Variable("TOPOGATE_LISTEN")
REDUNDANT = "--ep-num-redundant-experts"


@dataclass(slots=True, kw_only=True)
class Extras:
    """What is added to an engine's words: arguments, environment, settings of its file, and what is not said."""

    words: list[Word] = field(default_factory=list)
    environment: dict[str, Word] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    unsaid: list[str] = field(default_factory=list)


def extras_of(layout: LayoutName, contract: Contract, degrees: Degrees, role: Role) -> Extras:
    """Return what an instance needs beside its plain degrees."""
    extras = Extras()
    known = _ENGINES[layout](extras, contract, degrees, role)
    extras.unsaid += [
        f"engine_degrees.{name} {value} has no argument here."
        for name, value in sorted(degrees.extra.items())
        if name not in known
    ]
    return extras


def _vllm(extras: Extras, contract: Contract, degrees: Degrees, role: Role) -> frozenset[str]:
    extra = degrees.extra
    if extra.get("enable_eplb"):
        extras.words.append("--enable-eplb")
        if extra.get("redundant_experts"):
            extras.words += ["--eplb-config", f'{{"num_redundant_experts": {extra["redundant_experts"]}}}']
    _partition(extras, degrees, "VLLM_PP_LAYER_PARTITION")
    if role != "serve":
        side = "kv_producer" if role == "prefill" else "kv_consumer"
        extras.words += ["--kv-transfer-config", ('{"kv_connector": "', KV_CONNECTOR, f'", "kv_role": "{side}"}}')]
    return frozenset({"enable_eplb", "redundant_experts", "layer_partition", "enable_expert_parallel", "external_dp"})


def _sglang(extras: Extras, contract: Contract, degrees: Degrees, role: Role) -> frozenset[str]:
    extra = degrees.extra
    if extra.get("enable_dp_attention"):
        extras.words.append("--enable-dp-attention")
    for name, argument, least in (("moe_dp", "--moe-dp-size", 1), ("redundant_experts", REDUNDANT, 0)):
        value = extra.get(name)
        if isinstance(value, int) and value > least:
            extras.words += [argument, str(value)]
    _partition(extras, degrees, "SGLANG_PP_LAYER_PARTITION")
    extras.words += ["--host", LISTEN]
    if role != "serve":
        extras.words += ["--disaggregation-mode", role, "--disaggregation-transfer-backend", KV_CONNECTOR]
    return frozenset({"enable_dp_attention", "moe_dp", "redundant_experts", "layer_partition", "attn_dp"})


def _trtllm(extras: Extras, contract: Contract, degrees: Degrees, role: Role) -> frozenset[str]:
    extra = degrees.extra
    extras.words += ["--host", LISTEN]
    cluster = extra.get("moe_cluster")
    if isinstance(cluster, int) and cluster > 1:
        extras.words += ["--cluster_size", str(cluster)]
    extras.settings.update(trtllm_settings(contract, degrees))
    if role != "serve":
        extras.settings[OWN_SETTING] = {"backend": f"${{{KV_CONNECTOR.name}}}"}
    if extras.settings.get("orchestrator_type") == "ray":
        extras.unsaid.append("Ray places the ranks itself: their order over nodes is not said here.")
    return frozenset(
        {"moe_cluster", "moe_tp", "enable_attention_dp", "enable_lm_head_tp_in_adp", "cp_type", "orchestrator"}
    )


def _partition(extras: Extras, degrees: Degrees, name: str) -> None:
    partition = degrees.extra.get("layer_partition")
    if partition:
        extras.environment[name] = str(partition)


_ENGINES: Mapping[LayoutName, Callable[[Extras, Contract, Degrees, Role], frozenset[str]]] = {
    "vllm": _vllm,
    "sglang": _sglang,
    "trtllm": _trtllm,
}
"""Each returns the engine degrees that its arguments, or the plain degrees, carry."""
