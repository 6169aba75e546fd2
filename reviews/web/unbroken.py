"""Keep a number beside its unit, and a sign beside its number: the space between them does not break in a page.

Rules kept: only spaces in text for people are touched. Attributes, scripts, code, choices and what somebody typed stay
as they are, so nothing that is sent back or copied changes.
"""

import re

NO_BREAK = "\N{NO-BREAK SPACE}"
UNITS = "%|[KMGT]i?B|B|ms|s|min|h|d|tok|USD|W|J"
GAP = re.compile(rf" (?:(?<=\d )(?=(?:{UNITS})(?!\w))|(?:(?<=[≤≥=] )|(?<=&[lg]t; ))(?=[−+]?\d))")
RUN = re.compile("[^<>]+>?")
"""Text, or where it ends with a bracket the inside of a tag; each character is looked at once, however long it is."""
KEPT = re.compile(r"(<(?P<tag>script|textarea|pre|code|select)\b.*?</(?P=tag)>)", re.DOTALL)


def unbroken(html: str) -> str:
    """Return the page with its figures in one piece."""
    parts: list[str] = []
    at = 0
    for kept in KEPT.finditer(html):
        parts += RUN.sub(_joined, html[at : kept.start()]), kept.group()
        at = kept.end()
    return "".join((*parts, RUN.sub(_joined, html[at:])))


def _joined(run: re.Match[str]) -> str:
    return run[0] if run[0].endswith(">") else GAP.sub(NO_BREAK, run[0])
