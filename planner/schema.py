"""JSON Schema (draft 2020-12) of every document, generated from the records that read it.

A schema says what the types of the records say; what joins several fields (references, alternatives) is judged by
``planner.intake`` only. Two readings of JSON are needed for the same verdict: an integer is written without point and
exponent, and a number is never a boolean.
"""

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from planner.gates import GATES
from planner.records.contract import Contract
from planner.records.evidence import Evidence
from planner.records.identity_report import IdentityReport
from planner.records.matrix import Matrix
from planner.records.observations import Batch
from planner.records.overrides import Overridden
from planner.records.plan import Plan
from planner.records.stress import StressMatrix
from planner.records.validity import Validity

__all__ = ["KINDS", "document_schema"]

KINDS: dict[str, type[msgspec.Struct]] = {
    "contract": Contract,
    "evidence": Evidence,
    "plan": Plan,
    "stress": StressMatrix,
    "what-if": Overridden,
    "matrix": Matrix,
    "identity": IdentityReport,
    "observations": Batch,
    "validity": Validity,
}

_UNITS = {
    "_bytes_per_s_one_way": "bytes per second, one direction",
    "_output_tokens_per_s": "output tokens per second",
    "_tokens_per_s": "tokens per second",
    "_per_device_hour": "US dollars per device and hour",
    "_per_hour": "US dollars per hour",
    "_per_million_output_tokens": "US dollars per million output tokens",
    "_bytes": "bytes",
    "_tokens": "tokens",
    "_watts": "watts",
    "_ms": "milliseconds",
    "_share": "share of the whole, 0 to 1",
    "_per_s": "per second",
    "_s": "seconds",
}
"""Unit by the end of a field's name, longest first."""


Kind = Literal["contract", "evidence", "plan", "stress", "what-if", "matrix", "identity", "observations", "validity"]


def document_schema(kind: Kind) -> dict[str, Any]:
    """Return the schema of one kind of document, a new tree at every call.

    Raises:
        KeyError: there is no such kind.
    """
    record = KINDS[kind]
    limits = [gate.limit for gate in GATES if gate.limit is not None] if record is Contract else []
    (root, *limit_refs), generated = msgspec.json.schema_components([record, *limits], ref_template="#/$defs/{name}")
    components = json.loads(json.dumps(generated))  # defaults of records are tuples, which no JSON holds
    if record is Contract:
        components["Contract"]["properties"]["gates"] = _gates(limit_refs)
        for limit, ref in zip(limits, limit_refs, strict=True):
            _require_one(components[ref["$ref"].rpartition("/")[2]], limit.one_of)
    for node in _nodes(components):
        _merge_numbers(node)
        _name_units(node)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:topogate:{kind}:v1",
        "title": f"Topogate {kind}, version 1",
        **root,
        "$defs": components,
    }


def _gates(limit_refs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema of ``gates``: each gate takes limits of its own record and no others."""
    declarable = [gate for gate in GATES if gate.limit is not None]
    return {
        "type": "object",
        "description": "Limits by gate, then by limit. A gate that is left out is not declared.",
        "minProperties": 1,
        "additionalProperties": False,
        "properties": {
            gate.id: {
                "type": "object",
                "description": gate.title,
                "minProperties": 1,
                "propertyNames": {"title": "id", "pattern": r"^[a-z0-9][a-z0-9._-]{0,63}(?![\s\S])"},
                "additionalProperties": ref,
            }
            for gate, ref in zip(declarable, limit_refs, strict=True)
        },
    }


def _require_one(component: dict[str, Any], names: tuple[str, ...]) -> None:
    if names:
        component["oneOf"] = [{"required": [name]} for name in names]


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        for item in tree.values():
            yield from _nodes(item)
        yield tree
    elif isinstance(tree, list):
        for item in tree:
            yield from _nodes(item)


def _merge_numbers(node: dict[str, Any]) -> None:
    """Say "number" where integers and doubles are both taken: an integer is a number."""
    alternatives = node.get("anyOf")
    if not isinstance(alternatives, list) or not any(part.get("type") == "number" for part in alternatives):
        return
    kept = [part for part in alternatives if part.get("type") != "integer"]
    if len(kept) == 1:
        del node["anyOf"]
        node.update(kept[0])
    else:
        node["anyOf"] = kept


def _name_units(node: dict[str, Any]) -> None:
    properties = node.get("properties")
    for name, field in (properties if isinstance(properties, dict) else {}).items():
        unit = next((unit for end, unit in _UNITS.items() if name.endswith(end)), None)
        if unit and isinstance(field, dict) and "description" not in field:
            field["description"] = unit
