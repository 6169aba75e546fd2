"""Texts of files without what must not be kept: credentials, names of accounts, control characters.

Only named values leave an importer, so prompts, answers and unknown keys never do; this is for the texts among them.
"""

import re

from planner.shown import shown

__all__ = ["found", "last_part", "names_secret", "scrubbed", "sentence_of"]

MAX_LENGTH = 200
MAX_SENTENCE = 600

_REMOVED = "[removed]"
_SECRETS = (
    re.compile(r"(?<=://)[^/@\s]+@"),
    re.compile(r"(?i)(?<=bearer )\S+"),
    re.compile(r"\b(?:sk-|nvapi-|glpat-|xox[abp]-)[A-Za-z0-9_-]{16,}|\b(?:hf_|gh[pousr]_)[A-Za-z0-9]{20,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"),
    re.compile(r"(?i)(?<=[?&-])(?:api[-_]?key|token|password|secret|signature|sig)[= ][^&\s]+"),
    re.compile(r"(?<=/home/)[^/\s]+|(?<=/Users/)[^/\s]+"),
)

_SIGN = re.compile("://|bearer |sk-|nvapi-|glpat-|xox|hf_|gh[pousr]_|eyj|key|token|password|secret|sig|/home/|/users/")
"""Part of every secret above, in small letters: most texts have none, and are not searched further."""

_SECRET_NAME = re.compile(r"(?i)api[-_]?key|secret|passw|credential|authori|bearer|(?:^|[-_])(?:token|auth)(?:$|[-_])")


def scrubbed(text: str) -> str:
    """Return the text in one line of at most 200 characters, its secrets replaced by ``[removed]``."""
    clean = _printable(_without_secrets(text[: 4 * MAX_LENGTH])).strip()
    return clean if len(clean) <= MAX_LENGTH else f"{clean[: MAX_LENGTH - 1]}…"


def sentence_of(text: str) -> str:
    """Return a sentence that may quote a file: without secrets, in one line of at most 600 characters."""
    clean = _printable(_without_secrets(text))
    return clean if len(clean) <= MAX_SENTENCE else f"{clean[: MAX_SENTENCE - 1]}…"


def _without_secrets(text: str) -> str:
    if _SIGN.search(text.casefold()):
        for secret in _SECRETS:
            text = secret.sub(_REMOVED, text)
    return text


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else " " for character in text)


def names_secret(key: str) -> bool:
    """Say whether a key is named like one that holds a credential, so that its value is never shown."""
    return _SECRET_NAME.search(key) is not None


def last_part(path: str) -> str:
    """Return the last part of an absolute path, any other text as it is."""
    return path.rstrip("/").rpartition("/")[2] or path if path.startswith(("/", "~/")) else path


def found(value: object) -> str:
    """Return a found value for a message, its secrets removed."""
    return shown(scrubbed(value)) if isinstance(value, str) else shown(value)
