"""What nobody has said of the hardware yet, as questions that one answer settles for many entries at once.

Rules kept: what is asked for is what ``planner.hardware.missing`` asks for, and what a declared gate needs of the fleet
(prices, caps of power); a question without an answer stays a question. Answers are fields of the contract, set as a
form sets them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from planner.contract_builder.edits import fields_set, merged, removed
from planner.contract_builder.form import Field, form_at
from planner.contract_builder.references import device_types
from planner.hardware import Missing, missing
from planner.hardware.model import Device, Hardware, Island, Link, Nic, Node, Rack
from planner.intake.parts import object_at, value_at
from planner.pointers import child

__all__ = ["Answer", "Question", "answered", "questions", "seen_hardware"]

_HARDWARE = "/identity/hardware"
_RACKS = "/fleet/failure_domains/rack"
_ID = "<id>"
Settles = Literal["field", "rack", "join", "nics", "islands"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``pointer`` has ``<id>`` for each of ``ids``; ``field`` says what an answer looks like, None where none is typed.

    ``is_needed`` says that no contract is accepted without it; ``settles`` what the answer does.
    """

    pointer: str
    text: str
    ids: tuple[str, ...]
    is_needed: bool
    settles: Settles
    field: Field | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was typed for a question, and for which of its ids."""

    pointer: str
    text: str
    ids: tuple[str, ...]


def questions(tree: Mapping[str, Any]) -> tuple[Question, ...]:
    """Return what is to be asked, what no contract does without first; nothing while there is no node."""
    if not object_at(tree, "identity", "hardware", "nodes"):
        return ()
    asked = [_question(tree, entry) for entry in (*missing(seen_hardware(tree)), *_of_fleet(tree))]
    return tuple(sorted(asked, key=lambda question: not question.is_needed))


def _question(tree: Mapping[str, Any], entry: Missing) -> Question:
    settles = _SETTLES.get(entry.pointer, "field")
    field = form_at(tree, _of_one(entry.pointer, entry.ids[0] if entry.ids else "")) if settles == "field" else None
    return Question(
        pointer=entry.pointer,
        text=entry.question,
        ids=entry.ids,
        is_needed=entry.always,
        settles=settles,
        field=field if isinstance(field, Field) else None,
    )


_SETTLES: Mapping[str, Settles] = {
    _RACKS: "rack",
    f"{_HARDWARE}/islands/<id>/devices": "join",
    f"{_HARDWARE}/nics": "nics",
    f"{_HARDWARE}/islands": "islands",
}


def _of_fleet(tree: Mapping[str, Any]) -> Iterator[Missing]:
    fleet = object_at(tree, "fleet")
    types = device_types(tree)
    gates = object_at(tree, "gates")
    capped = any(value_at(limit, "cap") == "fleet" for limit in object_at(gates, "power").values())
    for field, question, is_needed in (
        ("usd_per_device_hour", "How many US dollars does a device of this type cost an hour?", "cost" in gates),
        ("power_cap_watts", "How many watts may a device of this type draw?", capped),
    ):
        open_types = tuple(name for name in types if name not in object_at(fleet, field))
        if open_types:
            yield Missing(pointer=f"/fleet/{field}/{_ID}", question=question, always=is_needed, ids=open_types)
    racked = {node for nodes in object_at(fleet, "failure_domains", "rack").values() for node in _texts(nodes)}
    bare = tuple(node for node in object_at(tree, "identity", "hardware", "nodes") if racked and node not in racked)
    if bare:
        yield Missing(pointer=_RACKS, question="In which rack is each of the other nodes?", always=False, ids=bare)
    if "charge" not in fleet:
        question = "What is paid for: devices in use, whole nodes, or whole racks? Left out, devices."
        yield Missing(pointer="/fleet/charge", question=question, always=False)


def _of_one(pointer: str, name: str) -> str:
    return pointer.replace(_ID, child("", name)[1:])


def answered(tree: Mapping[str, Any], answers: Sequence[Answer]) -> dict[str, Any]:
    """Return the tree with the answers in it; one without text, or for no entry, changes nothing."""
    edited = dict(tree)
    for answer in answers:
        if answer.text.strip() and (answer.ids or _ID not in answer.pointer):
            edited = _ANSWERED[_SETTLES.get(answer.pointer, "field")](edited, answer)
    return edited


def _set_fields(tree: dict[str, Any], answer: Answer) -> dict[str, Any]:
    pointers = [_of_one(answer.pointer, name) for name in answer.ids] if _ID in answer.pointer else [answer.pointer]
    return fields_set(tree, {pointer: [answer.text] for pointer in pointers})


def _put_in_rack(tree: dict[str, Any], answer: Answer) -> dict[str, Any]:
    rack = answer.text.strip()
    held = object_at(tree, "fleet", "failure_domains", "rack").get(rack)
    nodes = list(held) if isinstance(held, list) else []
    nodes += [node for node in answer.ids if node not in nodes]
    return merged(tree, {"fleet": {"failure_domains": {"rack": {rack: nodes}}}})


def _join(tree: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """Make one island of several: a switch of the rack joins what the file of one node shows apart."""
    islands = object_at(tree, "identity", "hardware", "islands")
    names = [name for name in answer.ids if name in islands]
    if len(names) < 2 or answer.text != "joined":  # fewer than two are joined already
        return tree
    first, *rest = names
    devices = [device for name in names for device in _texts(value_at(islands[name], "devices"))]
    edited = merged(tree, {"identity": {"hardware": {"islands": {first: {"devices": devices}}}}})
    for name in rest:
        edited = removed(edited, child(f"{_HARDWARE}/islands", name))
    return edited


def _add_nics(tree: dict[str, Any], answer: Answer) -> dict[str, Any]:
    count = int(answer.text) if answer.text.strip().isdecimal() and len(answer.text.strip()) < 3 else 0
    nodes = object_at(tree, "identity", "hardware", "nodes")
    named = [(node, f"{node}-nic{place}") for node in nodes for place in range(count)]
    section = {
        "nics": {nic: {"node": node, "use": "fabric"} for node, nic in named},
        "links": {f"{nic}-up": {"class": "inter_node", "nic": nic} for _, nic in named},
    }
    return merged(tree, {"identity": {"hardware": section}}) if named else tree


def _add_islands(tree: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """Make an island of all devices of each node."""
    devices: dict[str, list[str]] = {}
    for name, device in object_at(tree, "identity", "hardware", "devices").items():
        node = _text(device, "node")
        if node is not None:
            devices.setdefault(node, []).append(name)
    islands = {f"{node}-island-0": {"devices": names} for node, names in devices.items()}
    return merged(tree, {"identity": {"hardware": {"islands": islands}}}) if answer.text == "node" else tree


_ANSWERED = {
    "field": _set_fields,
    "rack": _put_in_rack,
    "join": _join,
    "nics": _add_nics,
    "islands": _add_islands,
}


def seen_hardware(tree: Mapping[str, Any]) -> Hardware:
    """Return the hardware of a tree that may be wrong anywhere; what is not of its type is not said."""
    section = object_at(tree, "identity", "hardware")
    domains = object_at(tree, "fleet", "failure_domains")
    racks = [Rack(id=name, nodes=tuple(_texts(nodes))) for name, nodes in object_at(domains, "rack").items()]
    islands = [
        Island(
            id=name,
            devices=tuple(_texts(value_at(island, "devices"))),
            kind=_text(island, "kind"),
            bytes_per_s_one_way=_whole(island, "bytes_per_s_one_way"),
        )
        for name, island in object_at(section, "islands").items()
    ]
    return Hardware(
        source="draft",
        nodes=tuple(Node(id=name, sockets=_whole(node, "sockets")) for name, node in _entries(section, "nodes")),
        devices=tuple(_device(name, device) for name, device in _entries(section, "devices")),
        nics=tuple(
            Nic(id=name, name=name, node=_text(nic, "node") or "", use=_text(nic, "use"))
            for name, nic in _entries(section, "nics")
        ),
        islands=tuple(islands) or None,
        links=tuple(_link(name, link) for name, link in _entries(section, "links")),
        racks=tuple(racks) or None,
    )


def _device(name: str, device: Any) -> Device:
    node, memory = _text(device, "node") or "", _whole(device, "memory_bytes")
    return Device(id=name, name=name, node=node, type=_text(device, "type"), memory_bytes=memory)


def _link(name: str, link: Any) -> Link:
    return Link(
        id=name,
        nic=_text(link, "nic"),
        link_class=_text(link, "class"),
        kind=_text(link, "kind"),
        bytes_per_s_one_way=_whole(link, "bytes_per_s_one_way"),
        contention_domain=_text(link, "contention_domain"),
    )


def _entries(section: dict[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    yield from object_at(section, name).items()


def _text(tree: Any, name: str) -> str | None:
    found = value_at(tree, name)
    return found if isinstance(found, str) else None


def _whole(tree: Any, name: str) -> int | None:
    found = value_at(tree, name)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _texts(value: Any) -> Iterator[str]:
    yield from (item for item in (value if isinstance(value, list) else ()) if isinstance(item, str))
