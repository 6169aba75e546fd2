"""JSON pointers (RFC 6901)."""

__all__ = ["child"]


def child(pointer: str, step: str | int) -> str:
    """Return the pointer of a member or element of what ``pointer`` names; lone surrogates become U+FFFD."""
    if isinstance(step, int):
        return f"{pointer}/{step}"
    escaped = step.replace("~", "~0").replace("/", "~1")
    if not escaped.isascii():
        escaped = escaped.encode("utf-8", "replace").decode("utf-8")
    return f"{pointer}/{escaped}"
