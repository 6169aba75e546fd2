"""How people write the number of a decision: ``12``, ``D-0012``, ``d12``. It is read here alone."""

import re

NUMBER = re.compile(r"(?:[Dd]-?)?0*([1-9][0-9]{0,8})")


def decision_number(text: str) -> int | None:
    """Read the number of a decision, from 1 to 999,999,999; None for anything else."""
    found = NUMBER.fullmatch(text.strip())
    return int(found.group(1)) if found else None
