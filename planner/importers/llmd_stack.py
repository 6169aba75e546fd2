"""The servers of an llm-d report: degrees, devices, versions, and what was observed of them.

Version 0.1 has parallel lists of hosts, accelerators and engines; later ones a stack of components. The count of
accelerators is of one replica. Shares of the KV cache are in percent here.
"""

from collections.abc import Iterator
from typing import Any

from planner.importers.scrubbed import found
from planner.importers.sheet import Path, Sheet

__all__ = ["take_hosts", "take_stack"]

_ROLES = {"prefill": "prefill", "decode": "decode", "aggregate": "serve", "replica": "serve"}
_DEGREES = ("tp", "pp", "ep", "dp")
_ARGS = {
    "tp": ("--tensor-parallel-size", "-tp"),
    "pp": ("--pipeline-parallel-size", "-pp"),
    "dp": ("--data-parallel-size", "-dp"),
}
_FORMATS = {"precision_kv_cache": "--kv-cache-dtype", "precision_weights": "--quantization"}
_ENGINES = ("vllm", "sglang", "tensorrt-llm", "trtllm")
_MEMORY_UNITS = {"GiB": "GiB", "MiB": "MiB", "GB": "GB", "MB": "MB"}


def take_hosts(sheet: Sheet) -> None:
    """Take the parallel lists of version 0.1."""
    hosts, engines = ("scenario", "host"), ("scenario", "platform", "engine")
    lists = {
        "host.type": sheet.get(*hosts, "type"),
        "host.accelerator": sheet.get(*hosts, "accelerator"),
        "platform.engine": sheet.get(*engines),
    }
    lengths = {name: len(listed) for name, listed in lists.items() if isinstance(listed, list)}
    if len(set(lengths.values())) > 1:
        sentence = f"lists that belong together have other lengths: {lengths}"
        sheet.remark("import/contradiction", sentence, sheet.place("scenario"), "held")
        return
    devices = 0
    for index in range(max(lengths.values(), default=0)):
        role = str(sheet.get(*hosts, "type", index))
        of = f"{role}-{index}" if role in _ROLES else f"serve-{index}"
        accelerator: Path = (*hosts, "accelerator", index)
        _take_accelerator(sheet, accelerator, of, role)
        devices += _count(sheet.get(*accelerator, "count"))
        sheet.text("engine_name", *engines, index, "name", of=of)
        sheet.text("engine_version", *engines, index, "version", of=of)
        _check_args(sheet, (*engines, index, "args"), of)
    if devices:
        sheet.put("devices", devices, sheet.place(*hosts, "accelerator"), standing="stated")


def take_stack(sheet: Sheet) -> None:
    """Take the engines of a stack, and what was observed of them."""
    devices = 0
    labels: dict[str, str] = {}
    for index, component in _components(sheet.get("scenario", "stack")):
        base: Path = ("scenario", "stack", index, "standardized")
        role = str(sheet.get(*base, "role"))
        of = f"{role if role in _ROLES else 'serve'}-{len(labels)}"
        label = component.get("metadata", {}).get("label") if isinstance(component.get("metadata"), dict) else None
        labels[str(label)] = of
        _take_accelerator(sheet, (*base, "accelerator"), of, role)
        replicas = sheet.number("replicas", *base, "replicas", of=of, standing="stated")
        devices += _count(sheet.get(*base, "accelerator", "count")) * int(1 if replicas is None else replicas)
        if len(labels) == 1:
            sheet.text("model_name", *base, "model", "name")
        _take_engine(sheet, base, of)
        _check_args(sheet, ("scenario", "stack", index, "native", "args"), of)
    if devices:
        sheet.put("devices", devices, sheet.place("scenario", "stack"), standing="stated")
    _take_observed(sheet, labels)
    _check_health(sheet)


def _components(stack: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    for index, component in enumerate(stack if isinstance(stack, list) else []):
        standardized = component.get("standardized") if isinstance(component, dict) else None
        if isinstance(standardized, dict) and standardized.get("kind") == "inference_engine":
            yield index, component


def _count(raw: Any) -> int:
    return raw if isinstance(raw, int) and not isinstance(raw, bool) and raw > 0 else 0


def _take_accelerator(sheet: Sheet, base: Path, of: str, role: str) -> None:
    if role in _ROLES:
        sheet.put_text("role", _ROLES[role], sheet.place(*base), of=of)
    sheet.text("device_type", *base, "model", of=of)
    for degree in _DEGREES:
        sheet.number(degree, *base, "parallelism", degree, of=of, standing="stated")


def _take_engine(sheet: Sheet, base: Path, of: str) -> None:
    tool, version = sheet.get(*base, "tool"), sheet.get(*base, "tool_version")
    if isinstance(tool, str) and tool.lower() in _ENGINES:
        sheet.put_text("engine_name", tool.lower(), sheet.place(*base, "tool"), of=of)
    if isinstance(version, str) and ("/" in version or ":" in version):
        sheet.put_text("engine_image", version, sheet.place(*base, "tool_version"), of=of)
        sentence = f"{found(tool)} has an image for its version: engine and version have to be asked"
        sheet.remark("import/image", sentence, sheet.place(*base, "tool_version"))
    else:
        sheet.text("engine_version", *base, "tool_version", of=of)


def _check_args(sheet: Sheet, base: Path, of: str) -> None:
    """Hold a run whose arguments and stated degrees differ, and take number formats."""
    args = sheet.get(*base)
    if not isinstance(args, dict):
        return
    for degree, names in _ARGS.items():
        raw = next((args[name] for name in names if name in args), None)
        given = int(raw) if isinstance(raw, str) and raw.isdecimal() and len(raw) < 10 else raw
        stated = sheet.value(degree, of)
        if isinstance(given, int) and stated is not None and given != stated:
            sentence = f"{of}: {degree} is stated as {stated}, its arguments say {given}"
            sheet.remark("import/contradiction", sentence, sheet.place(*base), "held")
    for name, key in _FORMATS.items():
        if isinstance(args.get(key), str) and args[key] != "auto":
            sheet.put_text(name, args[key], sheet.place(*base, key), of=of)


def _take_observed(sheet: Sheet, labels: dict[str, str]) -> None:
    listed = sheet.get("results", "observability", "components")
    for index, component in enumerate(listed if isinstance(listed, list) else []):
        of = labels.get(str(component.get("component_label"))) if isinstance(component, dict) else None
        if of is None:
            continue
        base: Path = ("results", "observability", "components", index, "aggregate")
        memory = _MEMORY_UNITS.get(str(sheet.get(*base, "gpu_memory_usage", "units")))
        if memory:
            sheet.number("device_used_peak_bytes", *base, "gpu_memory_usage", "max", unit=memory, of=of)
            sentence = f"{of}: memory is the most of any device and sample: which rank it was is not known"
            sheet.remark("import/sampled", sentence, sheet.place(*base, "gpu_memory_usage"))
        share = {"percent": "percent", "fraction": "share"}.get(str(sheet.get(*base, "kv_cache_usage", "units")))
        if share:
            sheet.number("kv_used_mean_share", *base, "kv_cache_usage", "mean", unit=share, of=of)
            sheet.number("kv_used_peak_share", *base, "kv_cache_usage", "max", unit=share, of=of)
        sheet.number("queued_requests_mean", *base, "waiting_requests", "mean", of=of)


def _check_health(sheet: Sheet) -> None:
    listed = sheet.get("results", "component_health")
    for index, component in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(component, dict):
            continue
        failed, restarts = _count(component.get("failed_replicas")), _count(component.get("total_restarts"))
        if failed or restarts:
            sentence = f"{found(component.get('component_label'))}: {failed} replicas failed, {restarts} restarts"
            sheet.remark("import/unhealthy", sentence, sheet.place("results", "component_health", index), "held")
