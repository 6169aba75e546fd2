"""Fields, places and values of the evidence builder as text. Pure."""

from typing import Any

import msgspec

from planner.builder.records import ReadPlace
from planner.pointers import steps

__all__ = ["field_title", "json_example", "place_text", "scope_text", "shown_json", "shown_value"]


def place_text(place: ReadPlace) -> str:
    """Write where something stands in a file."""
    parts = [
        f"line {place.line:,}" if place.line else "",
        f"column {place.column}" if place.column is not None else "",
        place.pointer or "",
    ]
    return ", ".join(part for part in parts if part) or "the whole file"


def shown_json(value: Any) -> str:
    """Write a value as JSON in one line."""
    return msgspec.json.encode(value).decode()


def shown_value(value: Any) -> str:
    """Write a value of any kind for people."""
    return value if isinstance(value, str) else shown_json(value)


def field_title(field: str) -> str:
    """Name a field by the end of its pointer, with the trial and window that it belongs to before it."""
    parts = steps(field)
    if len(parts) > 3 and parts[0] == "trials" and parts[2] == "windows":
        return f"{parts[1]} · {parts[3]}: {' '.join(parts[4:])}".replace("_", " ")
    if len(parts) > 2 and parts[0] in ("trials", "identities"):
        return f"{parts[1]}: {' '.join(parts[2:])}".replace("_", " ")
    return " ".join(parts).replace("_", " ")


def json_example(field: str) -> str:
    """Return what an answer in JSON looks like: of a metric of ranks its record, else only that it is JSON."""
    path = steps(field)
    if path[2:3] == ("windows",) and path[4:5] == ("per_rank",) and len(path) == 6:
        return '{"values": [95316061716, null], "scope": "device", "sample_interval_s": 1, "samples": 300}'
    return "JSON"


THINGS = {"devices": "device", "nodes": "node", "nics": "NIC", "islands": "island", "links": "link"}


def scope_text(pointer: str) -> str:
    """Say for how much an answer or a settlement counts."""
    parts = steps(pointer)
    if parts[0] == "identities":
        thing = f"every {THINGS.get(parts[3], parts[3])}" if parts[4:5] == ("*",) else ""
        trial = "every trial" if parts[1] == "*" else parts[1] if thing else ""
        return " of ".join(part for part in (thing, trial) if part) or "here only"
    wild = [parts[at] == "*" for at in (1, 3) if at < len(parts)]
    if not any(wild):
        return "here only"
    if parts[1] == "*" and len(parts) > 3 and parts[2] == "windows":
        return "every window of every trial" if parts[3] == "*" else f"window {parts[3]} of every trial"
    return "every trial" if parts[1] == "*" else f"every window of {parts[1]}"
