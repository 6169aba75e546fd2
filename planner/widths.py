"""Bytes of one element by the name of its number format; 4-bit formats are half a byte, scales apart."""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

__all__ = ["WIDTHS"]

WIDTHS: Mapping[str, Fraction] = MappingProxyType(
    {
        **dict.fromkeys(("fp32", "float32"), Fraction(4)),
        **dict.fromkeys(("bf16", "bfloat16", "fp16", "float16"), Fraction(2)),
        **dict.fromkeys(("fp8", "fp8_e4m3", "fp8_e5m2", "float8_e4m3fn", "float8_e5m2", "int8"), Fraction(1)),
        **dict.fromkeys(("fp4", "mxfp4", "nvfp4", "int4"), Fraction(1, 2)),
    }
)
