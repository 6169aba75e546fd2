"""How people write the number of a decision: ``12``, ``D-0012``, ``d12``. It is read and written here alone."""

import re

NUMBER = re.compile(r"(?:[Dd]-?)?0*([1-9][0-9]{0,8})")


def decision_number(text: str) -> int | None:
    """Read the number of a decision, from 1 to 999,999,999; None for anything else."""
    found = NUMBER.fullmatch(text.strip())
    return int(found.group(1)) if found else None


def decision_label(number: int) -> str:
    """Write the number of a decision: ``D-0012``."""
    return f"D-{number:04d}"


def revision_label(number: int, revision: int) -> str:
    """Write a revision with its decision: ``D-0012 r3``."""
    return f"{decision_label(number)} r{revision}"
