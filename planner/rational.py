"""The type of exact numbers: the standard library's ``Fraction``, compiled.

A plan makes dozens of fractions a trial, and those of ``quicktions`` are made and compared in a fifth of the time. They
read, print, hash and compare as the standard ones do, which is what type checkers are told they are.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction
else:
    from quicktions import Fraction

__all__ = ["Fraction"]
