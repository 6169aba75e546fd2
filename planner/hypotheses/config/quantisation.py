"""The number formats of a ``config.json``: plain type, what a quantiser did, and what it does not say.

``quantization_config`` (``fp8``, ``mxfp4``, ``compressed-tensors``, ``modelopt``) or ModelOpt's separate
``hf_quant_config.json``. ``torch_dtype`` alone is no answer where there is a quantiser: FP8 files still say bfloat16.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from planner.hypotheses.config.keys import LARGEST, Keys, Missing
from planner.hypotheses.config.patterns import globs_of
from planner.hypotheses.formats import Excluded, Quantisation, WeightFormat

__all__ = ["Formats", "formats"]

PLAIN = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
SCALE_BYTES: Mapping[str, int] = MappingProxyType({"mxfp4": 1, "nvfp4": 1})
"""Formats whose definition fixes the scale: E8M0 (OCP MX 1.0), E4M3 (NVFP4)."""

SCALE_TYPES = {"float8_e4m3fn": 1, "uint8": 1, "bfloat16": 2, "float16": 2, "float32": 4}
"""Bytes of a scale by the name of its type."""

GROUPS: Mapping[str, int] = MappingProxyType({"mxfp4": 32, "nvfp4": 16})
"""Elements that share a scale, by the format's definition."""

WHOLE_ROW = 2**24
"""A block that is as long as any row: one scale for each row."""

KV = {"FP8": "fp8", "NVFP4": "nvfp4"}
WEIGHT_KEYS = ("torch_dtype", "dtype", "quant_method", "quant_algo", "config_groups")
KV_KEYS = ("kv_cache_quant_algo", "kv_cache_scheme")
BLOCK_KEYS = ("weight_block_size", "group_size", "config_groups", "quant_method", "quant_algo")
EXCLUDED_KEYS = ("modules_to_not_convert", "exclude_modules", "ignore", "ignored_layers")
MOST_PATTERNS = 20_000
"""Modules that may be listed one by one; the longest published list has some hundreds."""
LONGEST_PATTERN = 512
MOST_GLOBS = 1_000
"""Modules that may be given with ``*``: each of them is tried on every tensor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """``precision`` is what the contract's section holds of it, without the fields that are ``missing``."""

    weights: WeightFormat
    precision: dict[str, str | int]
    missing: tuple[Missing, ...]


@dataclass(slots=True)
class _Found:
    """What a quantiser's section says, as it is read."""

    format: str | None = None
    block: tuple[int, int] | None = None
    excluded: tuple[str, ...] | None = None
    scale_bytes: int | None = None
    kv_cache: str | None = None
    is_block_stated: bool = True


def formats(plain: Keys, quantiser: Keys | None) -> Formats:
    """Return the formats that the files state; ``quantiser`` reads the quantiser's section, None without one."""
    stated = plain.text("", "torch_dtype", "dtype")
    name = None if stated is None else PLAIN.get(stated.removeprefix("torch."), stated)
    if quantiser is None:
        return _formats(plain, name, WeightFormat(plain=name), name, None, None)
    found = _quantised(quantiser)
    quantisation = Quantisation(
        format=found.format or "",
        block=found.block,
        scale_bytes=found.scale_bytes or SCALE_BYTES.get(found.format or ""),
        excluded=None if found.excluded is None else Excluded(found.excluded),
    )
    weights = WeightFormat(plain=name, quantisation=quantisation)
    expert = plain.text("", "expert_dtype")
    label = found.format if expert is None or found.format is None else f"{found.format}, experts {expert}"
    # A block that only the format implies says nothing of what a rank has to hold whole: engines pad such shards.
    block = _contract_block(found.block) if found.is_block_stated else None
    return _formats(plain, name, weights, label, found.kv_cache, block, quantiser)


def _contract_block(block: tuple[int, int] | None) -> int | None:
    """Return what the contract has a field for: the length of a block inside one row, or the side of a square one."""
    if block is None:
        return None
    rows, columns = block
    return columns if rows in (1, columns) and columns != WHOLE_ROW else None


def _formats(
    plain: Keys,
    name: str | None,
    weights: WeightFormat,
    label: str | None,
    kv_cache: str | None,
    block: int | None,
    quantiser: Keys | None = None,
) -> Formats:
    source = quantiser or plain
    stated: dict[str, str | int | None] = {"weights": label, "activations": name, "kv_cache": kv_cache}
    asked = {
        "weights": "number format of the weights",
        "activations": "number format of the activations (torch_dtype or dtype is absent)",
        "kv_cache": "number format of the KV cache: an option of the engine",
    }
    keys = {"weights": WEIGHT_KEYS, "activations": ("torch_dtype", "dtype"), "kv_cache": KV_KEYS}
    for field, value in stated.items():
        if value is not None:
            from_plain = field == "activations" or (field == "weights" and quantiser is None)
            (plain if from_plain else source).ruled(f"/identity/precision/{field}", "", *keys[field])
    precision = {field: value for field, value in stated.items() if value is not None}
    if block is not None:
        precision["quantisation_block"] = block
        source.ruled("/identity/precision/quantisation_block", "", *BLOCK_KEYS)
    return Formats(
        weights=weights,
        precision=precision,
        missing=tuple(
            Missing(field=f"/identity/precision/{field}", asked=asked[field])
            for field, value in stated.items()
            if value is None
        ),
    )


def _quantised(keys: Keys) -> _Found:
    found = _Found(excluded=_left_alone(keys))
    method = (keys.text("", "quant_algo") or keys.text("", "quant_method") or "").lower()
    if method == "compressed-tensors":
        _compressed(keys, found)
    elif method in ("fp8", "fbgemm_fp8"):
        found.format, found.block = "fp8", _block(keys)
    elif method in ("awq", "gptq"):
        found.format = {4: "int4", 8: "int8"}.get(keys.count("", "bits") or 0)
        # -1 is how these say that a whole row has one scale.
        size = None if keys.value("group_size") == -1 else keys.count("", "group_size")
        found.block = (1, size or WHOLE_ROW)
    elif method in GROUPS:
        size = keys.count("", "group_size")
        found.format, found.block, found.is_block_stated = method, (1, size or GROUPS[method]), size is not None
    scheme = keys.value("kv_cache_quant_algo") or keys.value("kv_cache_scheme")
    if isinstance(scheme, str):
        found.kv_cache = KV.get(scheme.upper())
    elif isinstance(scheme, dict):
        found.kv_cache = _number_format(scheme)
    return found


def _left_alone(keys: Keys) -> tuple[str, ...] | None:
    """Return the modules that the section lists, as names and globs; None without a list that is understood."""
    listed = keys.texts("", *EXCLUDED_KEYS)
    if listed is not None and len(listed) > MOST_PATTERNS:
        pointer = keys.pointer(*EXCLUDED_KEYS)
        keys.refuse(pointer, "document/length", f"at most {MOST_PATTERNS} modules", len(listed))
        return None
    longest = max(map(len, listed or ()), default=0)
    if longest > LONGEST_PATTERN:
        keys.refuse(keys.pointer(*EXCLUDED_KEYS), "document/length", f"at most {LONGEST_PATTERN} characters", longest)
        return None
    understood: list[str] = []
    for globs in map(globs_of, listed or ()):
        if globs is None:
            return None
        understood += globs
    if sum("*" in pattern for pattern in understood) > MOST_GLOBS:
        pointer = keys.pointer(*EXCLUDED_KEYS)
        keys.refuse(pointer, "document/length", f"at most {MOST_GLOBS} of them with *", len(understood))
    return None if listed is None else tuple(understood)


def _block(keys: Keys) -> tuple[int, int] | None:
    """Return rows and columns that share a scale; None is one scale a tensor."""
    sizes = keys.array("", "weight_block_size")
    if sizes is None:
        return None
    if len(sizes) == 2 and all(map(_is_size, sizes)):
        return (sizes[0], sizes[1])
    keys.refuse(keys.pointer("weight_block_size"), "document/type", "two whole numbers above 0", sizes)
    return None


def _compressed(keys: Keys, found: _Found) -> None:
    """Read the one group of a ``compressed-tensors`` file; several groups are not told apart here."""
    groups = keys.value("config_groups")
    parts = list(groups.values()) if isinstance(groups, dict) else []
    weights = parts[0].get("weights") if len(parts) == 1 and isinstance(parts[0], dict) else None
    if not isinstance(weights, dict):
        return
    found.format = _number_format(weights)
    strategy, size, block = weights.get("strategy"), weights.get("group_size"), weights.get("block_structure")
    if strategy in ("group", "tensor_group") and type(size) is int and _is_size(size):
        found.block = (1, size)
    elif strategy == "channel":
        found.block = (1, WHOLE_ROW)
    elif strategy == "block" and isinstance(block, list) and len(block) == 2 and all(map(_is_size, block)):
        found.block = (block[0], block[1])
    elif strategy != "tensor":
        found.format = None
    scale = weights.get("scale_dtype")
    if isinstance(scale, str):
        found.scale_bytes = SCALE_TYPES.get(scale.removeprefix("torch."))


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 < value <= LARGEST


def _number_format(scheme: Mapping[str, Any]) -> str | None:
    names = {("float", 8): "fp8", ("int", 8): "int8", ("int", 4): "int4", ("float", 4): "fp4"}
    kind, bits = scheme.get("type"), scheme.get("num_bits")
    return names.get((kind, bits)) if isinstance(kind, str) and type(bits) is int else None
