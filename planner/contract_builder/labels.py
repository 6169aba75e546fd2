"""What fields are called on a page, in which unit they are, and what is worth knowing before filling them in.

Names come from the fields' own names; what is listed here only says more, or says it better. A field that is not
listed has its name, its unit and what intake expects of it, so a new one needs no line here.
"""

from collections.abc import Mapping
from types import MappingProxyType

from planner.contract_builder.shapes import Path

__all__ = ["HELP", "help_at", "label_of", "matches", "unit_of"]

_UNITS = (
    ("bytes_per_s_one_way", "bytes/s, one way"),
    ("bus_bytes_per_s", "bytes/s, bus"),
    ("output_tokens_per_s", "output tok/s"),
    ("usd_per_million_output_tokens", "USD per million output tokens"),
    ("joules_per_output_token", "J per output token"),
    ("usd_per_device_hour", "USD per device and hour"),
    ("usd_per_hour", "USD/h"),
    ("requests_per_s", "requests/s"),
    ("_bytes_per_token", "bytes per token"),
    ("_watts_per_rank", "W per rank"),
    ("_watts", "W"),
    ("_bytes", "bytes"),
    ("_tokens", "tokens"),
    ("_share", "share"),
    ("_utilization", "share"),
    ("_ms", "ms"),
    ("_s", "s"),
)
"""End of a field's name -> the unit beside it, the longest first."""
_TAKEN_OFF = ("_one_way", "_bytes_per_s", "_watts", "_bytes", "_share", "_ms", "_s")
"""Ends of names that the unit beside a field says already."""
_NAMES = {
    "bytes_per_s_one_way": "Rate",
    "max_ms": "At most",
    "max_share": "At most",
    "max_utilization": "At most",
    "min_output_tokens_per_s": "At least",
    "output_tokens_per_s": "Required rate",
    "usd_per_device_hour": "Price",
    "requests_per_s": "Arrival rate",
    "requalify_on": "Re-qualify on changes of",
    "p99_9": "p99.9",
}
_WORDS = {"kv": "KV", "ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "e2e": "E2E", "usd": "USD", "nic": "NIC"} | {
    "nics": "NICs",
    "pcie": "PCIe",
    "mha": "MHA",
    "lora": "LoRA",
}

HELP: Mapping[str, str] = MappingProxyType(
    {
        "/slot": "What the decision is for, such as chat/eu-west. Evidence names the same slot, byte for byte.",
        "/owner": "The team or person who answers for this contract.",
        "/illustrative": "The example's figures are made up; the plan says so in its first line.",
        "/identity/model/revision": "The commit of the weights. Another revision is another service.",
        "/identity/model/adapters": "One a line. [] says that there are none; left empty, nothing is bound.",
        "/identity/model/dense_layers": "Leading layers without experts.",
        "/identity/model/attention_widths/sliding_layers": "How many layers keep only a window of the KV cache.",
        "/identity/precision/weights": "Such as bf16, fp8, mxfp4.",
        "/identity/precision/quantisation_block": "Elements under one scale, where every rank has to hold whole "
        "blocks: a degree that cuts one is rejected. Leave it empty where the engine pads (mxfp4, nvfp4).",
        "/identity/workload/dataset_digest": "sha256 of the prompts, so that two runs are known to have had the same.",
        "/identity/workload/prompt_tokens": "Either one fixed length, or points of the distribution.",
        "/identity/workload/output_tokens": "Either one fixed length, or points of the distribution.",
        "/identity/workload/context_tokens": "The longest sequence that must fit; memory is judged at this length.",
        "/identity/workload/prefix_cache": "Policy and settings, such as policy = off, or an expected hit share.",
        "/identity/workload/speculation": "none, or the method. An object may be given as JSON.",
        "/identity/workload/load_points": "At least saturated, which presets read; single is one request at a time.",
        "/identity/workload/load_points/*/arrival": "closed: so many in flight. open: so many arrive a second.",
        "/identity/workload/load_points/*/burstiness": "1 is Poisson; below 1 comes in bursts, above 1 evenly.",
        "/identity/workload/request_shapes": "Buckets by prompt length, where tails are limited for each.",
        "/identity/stack/flags": "Settings of the engine. Flags that set degrees or placement belong to a trial.",
        "/identity/stack/engine/name": "Such as vllm, sglang, trtllm: the layout of ranks follows from it.",
        "/identity/stack/engine/build_digest": "sha256 of the image or build; a version alone is not identity.",
        "/identity/telemetry": "Collectors of measurements, each with a version or digest.",
        "/identity/hardware/links/*/class": "Limits name a class of links, such as inter_node.",
        "/identity/hardware/links/*/contention_domain": "The rail or switch that it shares its bandwidth on.",
        "/fleet/charge": "What is paid for: devices in use and spares, or whole nodes or racks.",
        "/fleet/failure_domains": "What fails together beyond node and device: racks, switches, power feeds.",
        "/fleet/spare_devices": "Kept free for repair; charged to every candidate.",
        "/needs/residency": "One device does not hold it. Held by memory_headroom or kv_capacity.",
        "/needs/latency": "One device answers too slowly. Held by a limit on ttft, tpot, itl, e2e or tails_by_shape.",
        "/needs/capacity": "One device does not carry the demand. Held by throughput or goodput.",
        "/needs/isolation": "A failure must leave a part of the service standing. Held by failure_domain.",
        "/needs/tenancy": "Devices must be dedicated. No gate holds it; teams judge it.",
        "/recovery/timeout_s": "Longest wait before the rules below apply. No gate holds it; limits on recovery do.",
        "/recovery/on_rank_loss": "What the deployment does when a rank is lost.",
        "/recovery/in_flight_requests": "What becomes of requests that were being answered.",
        "/recovery/drain": "How a node is taken out: requests end first, or are cut off.",
        "/needs/capacity/output_tokens_per_s": "Over the whole deployment; demand is reckoned from it.",
        "/needs/capacity/peak_factor": "Peak over the rate above; 1 where it is the peak already.",
        "/headroom/memory": "Kept free on every rank: a share of the device or bytes, one of the two.",
        "/headroom/bandwidth": "Subtracted from the ceilings of links.",
        "/headroom/replica_capacity": "Subtracted from what is left after a failure.",
        "/evidence_required/*/metric": "Section and field of a window, such as per_rank.device_used_peak_bytes.",
        "/evidence_required/*/scope_at_least": "A finer scope answers too, a coarser one does not.",
        "/evidence_required/*/level": "Without required evidence nothing passes; advisory is only shown.",
        "/selection/preset": "Most output per charged device, or the smallest serving group first.",
        "/selection/keys": "Your own order instead of a preset; the first key that differs decides.",
        "/selection/scale": "Allows copies of a trial, by arithmetic, to meet a floor.",
        "/comparison/accelerator_count": "Set, other sizes are rejected. Left out, candidates of any size compare.",
        "/comparison/choice_keys": "Pointers of further identity keys whose difference rejects a trial. One a line.",
        "/comparison/min_samples_beyond_percentile": "Samples beyond a percentile that make it usable; 10 if left out.",
        "/validity/max_evidence_age_s": "Older evidence fails. 14 d, 12 h and the like are taken.",
        "/validity/decision_expires_after_s": "14 d, 12 h and the like are taken.",
        "/validity/requalify_on": "Identity pointers whose change asks for a new decision; all if left out.",
        "/stress": "Sizes of the faults that are put into copies of the evidence. Left out, the defaults hold.",
        "/gates/*/*/because": "Who needs this, and why this value. Reviewers read it beside every verdict.",
    }
)
"""Pointer, with ``*`` for an id -> one sentence."""


def unit_of(name: str) -> str:
    """Return the unit that the end of a field's name says, empty where it says none or the label says it already."""
    unit = next((unit for end, unit in _UNITS if name.endswith(end)), "")
    return "" if label_of(name).lower().endswith(f" {unit}") else unit


def label_of(name: str) -> str:
    """Return a field's name as people read it."""
    if name in _NAMES:
        return _NAMES[name]
    short = next((name.removesuffix(end) for end in _TAKEN_OFF if name.endswith(end)), name)
    if short[:1] == "p" and short[1:2].isdecimal():
        return short
    words = [_WORDS.get(word, word) for word in short.split("_")]
    label = " ".join(words)
    return label[:1].upper() + label[1:]


def help_at(path: Path) -> str:
    """Return the sentence on a field, empty where there is none."""
    return next((text for pattern, text in _PATTERNS if matches(path, pattern)), "")


def matches(path: Path, pattern: Path) -> bool:
    """Say whether a path is one that a pattern with ``*`` for ids means."""
    return len(path) == len(pattern) and all(want in ("*", step) for step, want in zip(path, pattern, strict=True))


_PATTERNS = tuple((tuple(pointer.split("/")[1:]), text) for pointer, text in HELP.items())
