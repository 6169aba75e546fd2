"""The gates: FAMILIES in the order that pages list them, and GATES collected from them."""

from typing import Any

GATES: tuple[Any, ...] = ()
