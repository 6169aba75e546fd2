"""Members named in a text by ``@login``."""

import re
from collections.abc import Collection, Mapping

NAMED = re.compile(r"(?<![\w@./-])@([a-z0-9][a-z0-9-]{0,39})(?![\w@-])")
"""A login behind an at sign; what stands in an address of mail or of the web is none."""


def mentioned(text: str) -> tuple[str, ...]:
    """Return the logins that a text names, each once, in order."""
    return tuple(dict.fromkeys(NAMED.findall(text)))


def strangers(text: str, members: Collection[str]) -> tuple[str, ...]:
    """Return the logins that a text names and no member has."""
    return tuple(login for login in mentioned(text) if login not in members)


def relabelled(text: str, names: Mapping[str, str]) -> str:
    """Return the text with every login behind an at sign replaced by what ``names`` holds for it, if anything."""
    return NAMED.sub(lambda found: f"@{names.get(found[1], found[1])}", text)
