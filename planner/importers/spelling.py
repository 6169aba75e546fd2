"""One spelling for what tools write in several: number formats and engines, which identities compare byte for byte.

Formats are spelled as in a contract made of a ``config.json``. A name that is not known stays as the file has it, and
so do names that say more, such as which of two kinds of FP8 it is.
"""

__all__ = ["spelled"]

_FORMATS = {
    **dict.fromkeys(("bfloat16", "bf16", "torch.bfloat16"), "bf16"),
    **dict.fromkeys(("float16", "half", "fp16", "torch.float16"), "fp16"),
    **dict.fromkeys(("float32", "float", "fp32", "torch.float32"), "fp32"),
    **dict.fromkeys(("fp8", "float8"), "fp8"),
    **dict.fromkeys(("fp8_e4m3", "float8_e4m3fn", "torch.float8_e4m3fn"), "fp8_e4m3"),
    **dict.fromkeys(("fp8_e5m2", "float8_e5m2", "torch.float8_e5m2"), "fp8_e5m2"),
    **dict.fromkeys(("mxfp4", "gpt_oss_mxfp4"), "mxfp4"),
    **dict.fromkeys(("nvfp4", "modelopt_fp4"), "nvfp4"),
    **{name: name for name in ("fp4", "int8", "int4")},
}
_ENGINES = {
    "vllm": "vllm",
    "sglang": "sglang",
    **dict.fromkeys(("tensorrt-llm", "tensorrt_llm", "trtllm", "trt-llm", "trt"), "tensorrt-llm"),
}


def spelled(quantity: str, text: str) -> str:
    """Return the text of a quantity in our spelling, as it is where there is none."""
    if quantity.startswith("precision_"):
        return _FORMATS.get(text.lower(), text)
    return _ENGINES.get(text.lower(), text) if quantity == "engine_name" else text
