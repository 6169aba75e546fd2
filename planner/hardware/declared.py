"""The hardware that a contract declares, in the same model as what files show: pages draw both alike.

Rules kept: only what the contract says; a section that it leaves out, or islands declared as an empty object, are
nothing said (as in ``planner.site``). Not handled: paths inside a node, which a contract does not have.
"""

from planner.hardware.model import Device, Hardware, Island, Link, Nic, Node, Rack
from planner.records import contract as records
from planner.records.base import stated
from planner.site import Site

__all__ = ["DECLARED", "declared_hardware"]

DECLARED = "contract"


def declared_hardware(site: Site) -> Hardware:
    """Return nodes, devices, NICs, islands, links and racks of a contract."""
    declared = site.hardware
    domains = stated(site.fleet.failure_domains) or {}
    racks = domains.get("rack")
    return Hardware(
        source=DECLARED,
        nodes=tuple(Node(id=name, sockets=stated(node.sockets)) for name, node in declared.nodes.items()),
        devices=tuple(
            Device(id=name, name=name, node=device.node, type=device.type, memory_bytes=device.memory_bytes)
            for name, device in declared.devices.items()
        ),
        nics=tuple(
            Nic(id=name, name=name, node=nic.node, use=nic.use) for name, nic in (stated(declared.nics) or {}).items()
        ),
        islands=tuple(_island(name, island) for name, island in (stated(declared.islands) or {}).items()) or None,
        links=tuple(_link(name, link) for name, link in site.links.items()),
        racks=None if racks is None else tuple(Rack(id=name, nodes=nodes) for name, nodes in racks.items()),
    )


def _island(name: str, island: records.Island) -> Island:
    return Island(
        id=name,
        devices=island.devices,
        kind=stated(island.kind),
        bytes_per_s_one_way=stated(island.bytes_per_s_one_way),
    )


def _link(name: str, link: records.Link) -> Link:
    return Link(
        id=name,
        nic=stated(link.nic),
        link_class=link.link_class,
        kind=stated(link.kind),
        bytes_per_s_one_way=link.bytes_per_s_one_way,
        contention_domain=stated(link.contention_domain),
    )
