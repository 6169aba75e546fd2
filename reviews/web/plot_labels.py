"""Labels that may be given to Plotly: allow-listed ids, or a digest of what is none. It renders markup in labels."""

import re
from hashlib import sha256

ALLOWED = re.compile(r"[A-Za-z0-9._:+-]{1,64}")


def plot_label(text: str) -> str:
    """Return the text when it is a plain id, else ``t-`` and eight digits of its digest."""
    if ALLOWED.fullmatch(text):
        return text
    return f"t-{sha256(text.encode()).hexdigest()[:8]}"
