"""What a form carries so that sending it twice does once what it says: ``{% once %}`` writes it, a view asks for it."""

import hashlib
from collections.abc import Iterable

from reviews.web.frame import PersonRequest

FIELD = "once"


def page_key(once: str, parts: Iterable[str]) -> str | None:
    """Name this content of this form, so that a double click or a repeated request does it once.

    The content is in the name, because whoever goes back to a form that was sent may change it and mean it. None
    where the form carried nothing.
    """
    if not once:
        return None
    return f"page-{hashlib.sha256(chr(0).join([once, *parts]).encode()).hexdigest()}"


def once_key(request: PersonRequest, *fields: str, content: bytes = b"") -> str | None:
    """Name what was sent with a form in these fields, and ``content`` beside them; see ``page_key``."""
    typed = (request.POST.get(field, "") for field in fields)
    return page_key(request.POST.get(FIELD, ""), [*typed, hashlib.sha256(content).hexdigest()])
