"""Documents with every field that a schema has, made from the schema; the rules between fields may not hold."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from planner.pointers import child
from planner.schema import document_schema

Node = dict[str, Any]
TEXTS = ("x1", "sha256:" + "0" * 64, "2026-09-20T09:40:00Z", "load.x", "/a", "1")
DOCUMENTS: dict[Literal["contract", "evidence"], Node] = {
    "contract": document_schema("contract"),
    "evidence": document_schema("evidence"),
}


def resolved(node: Node, schema: Node) -> Node:
    """Follow a reference into ``$defs``."""
    return schema["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node


def alternatives(node: Node, schema: Node) -> list[Node]:
    """Return the schemas of which a value fits one."""
    node = resolved(node, schema)
    return [resolved(part, schema) for part in node.get("anyOf", [node])]


def full(node: Node, schema: Node) -> Any:
    """Return a value with every field and one member of every collection."""
    first = alternatives(node, schema)[0]
    if "enum" in first:
        return first["enum"][0]
    kind = first.get("type")
    if kind == "object":
        return {name: full(inner, schema) for name, inner in members(first)}
    if kind == "array":
        return [full(first["items"], schema)]
    if kind == "string":
        return fitting(first)
    return {"boolean": True, "null": None}.get(str(kind), 1)


def fitting(node: Node) -> str:
    """Return a text that a schema of texts takes."""
    return next(text for text in TEXTS if re.search(node.get("pattern", ""), text))


def members(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield name and schema of every member that a full object has."""
    yield from node.get("properties", {}).items()
    if isinstance(node.get("additionalProperties"), dict):
        names = node.get("propertyNames", {})
        yield names["enum"][0] if "enum" in names else fitting(names), node["additionalProperties"]


def fields(node: Node, schema: Node, pointer: str = "") -> Iterator[tuple[str, Node]]:
    """Yield pointer and schema of every value in the full document, containers before their members."""
    yield pointer, node
    first = alternatives(node, schema)[0]
    if first.get("type") == "object":
        for name, inner in members(first):
            yield from fields(inner, schema, child(pointer, name))
    elif first.get("type") == "array":
        yield from fields(first["items"], schema, f"{pointer}/0")


def json_types(node: Node, schema: Node) -> set[str]:
    """Return the JSON types that a field takes; none means any."""
    return {kind for part in alternatives(node, schema) for kind in _types(part)}


def _types(part: Node) -> Iterator[str]:
    if "type" in part:
        yield part["type"]
    for value in part.get("enum", ()):
        yield {str: "string", bool: "boolean", type(None): "null"}[type(value)]
