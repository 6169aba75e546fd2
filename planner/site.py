"""Where things are: the contract's hardware and fleet, indexed once for all trials.

Rules kept: only what the contract says. A kind of failure domain that it does not declare is None, never a guess
from names. Not handled: which rank sits where (``planner.view``).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from planner.numbers import exact
from planner.records.base import UnsetType
from planner.records.contract import Fleet, Hardware, Link

DeviceSets = Mapping[str, frozenset[str]]
PARTS = ("socket", "pcie_switch")
"""Parts of a node that devices hang on."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """Devices, nodes, islands, links and failure domains of one contract."""

    hardware: Hardware
    fleet: Fleet

    @cached_property
    def node_devices(self) -> DeviceSets:
        """Devices of each node; a node without devices has an empty set."""
        found: dict[str, set[str]] = {node: set() for node in self.hardware.nodes}
        for name, device in self.hardware.devices.items():
            found.setdefault(device.node, set()).add(name)
        return {node: frozenset(devices) for node, devices in found.items()}

    @cached_property
    def islands(self) -> DeviceSets | None:
        """Devices of each island, or None where the contract declares none."""
        if isinstance(self.hardware.islands, UnsetType) or not self.hardware.islands:
            return None
        return {name: frozenset(island.devices) for name, island in self.hardware.islands.items()}

    @cached_property
    def device_islands(self) -> Mapping[str, frozenset[str]]:
        """The islands that each device is in."""
        found: dict[str, set[str]] = {}
        for island, devices in (self.islands or {}).items():
            for device in devices:
                found.setdefault(device, set()).add(island)
        return {device: frozenset(islands) for device, islands in found.items()}

    @cached_property
    def links(self) -> Mapping[str, Link]:
        """The declared links by id."""
        return {} if isinstance(self.hardware.links, UnsetType) else self.hardware.links

    @cached_property
    def nic_carriers(self) -> Mapping[str, tuple[tuple[tuple[str, str], str], ...]]:
        """What carries the traffic of each NIC: its links, each with the domain that it shares its bandwidth on."""
        found: dict[str, list[tuple[tuple[str, str], str]]] = {}
        for name, link in sorted(self.links.items()):
            if isinstance(link.nic, UnsetType):
                continue
            domain = link.contention_domain
            carrier = ("link", name) if isinstance(domain, UnsetType) else ("contention", domain)
            found.setdefault(link.nic, []).append((carrier, name))
        return {nic: tuple(carriers) for nic, carriers in found.items()}

    @cached_property
    def nic_links(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """Links by (NIC, class)."""
        found: dict[tuple[str, str], list[str]] = {}
        for name, link in sorted(self.links.items()):
            if not isinstance(link.nic, UnsetType):
                found.setdefault((link.nic, link.link_class), []).append(name)
        return {key: tuple(ids) for key, ids in found.items()}

    @cached_property
    def slices(self) -> Mapping[str, tuple[str, str]]:
        """Node and accelerator of each device that is a slice of one."""
        return {
            name: (device.node, device.slice_of)
            for name, device in self.hardware.devices.items()
            if not isinstance(device.slice_of, UnsetType)
        }

    @cached_property
    def nics(self) -> Mapping[str, str]:
        """The node of each NIC."""
        if isinstance(self.hardware.nics, UnsetType):
            return {}
        return {name: nic.node for name, nic in self.hardware.nics.items()}

    @cached_property
    def fabric_nics(self) -> Mapping[str, int]:
        """How many fabric NICs each node has; storage and front-end NICs carry no group."""
        nics = {} if isinstance(self.hardware.nics, UnsetType) else self.hardware.nics
        return Counter(nic.node for nic in nics.values() if nic.use == "fabric")

    @cached_property
    def spares(self) -> frozenset[str]:
        """Devices held as spares; they are charged to every trial."""
        return frozenset(() if isinstance(self.fleet.spare_devices, UnsetType) else self.fleet.spare_devices)

    @cached_property
    def shared_devices(self) -> frozenset[str]:
        """Devices on which something else may run too."""
        devices = self.hardware.devices
        return frozenset(name for name, device in devices.items() if not isinstance(device.shared_with, UnsetType))

    def domains(self, kind: str) -> DeviceSets | None:
        """Devices of each failure domain of ``kind``; None where the contract does not declare the kind.

        ``device``, ``node``, ``island``, ``socket`` and ``pcie_switch`` follow from the hardware, all others from
        ``fleet.failure_domains``.
        """
        if kind == "device":
            return self._single_devices
        if kind == "node":
            return self.node_devices
        if kind == "island":
            return self.islands
        return self._parts[kind] if kind in PARTS else self._declared.get(kind)

    def standing(self, kind: str) -> Mapping[str, frozenset[str]]:
        """The domains of a kind that each device is in; a device in none is left out."""
        if kind not in self._standing:
            found: dict[str, set[str]] = {}
            for domain, devices in (self.domains(kind) or {}).items():
                for device in devices:
                    found.setdefault(device, set()).add(domain)
            self._standing[kind] = {device: frozenset(domains) for device, domains in found.items()}
        return self._standing[kind]

    @cached_property
    def _standing(self) -> dict[str, Mapping[str, frozenset[str]]]:
        """What was looked up by kind: every trial on these devices asks the same."""
        return {}

    @cached_property
    def _parts(self) -> Mapping[str, DeviceSets | None]:
        """Devices on each part of a node; None where no device says on which it hangs."""
        found: dict[str, dict[str, set[str]]] = {kind: {} for kind in PARTS}
        for name, device in self.hardware.devices.items():
            for kind in PARTS:
                part = getattr(device, kind)
                if not isinstance(part, UnsetType):
                    found[kind].setdefault(f"{device.node}/{part}", set()).add(name)
        return {
            kind: {name: frozenset(devices) for name, devices in parts.items()} or None for kind, parts in found.items()
        }

    @cached_property
    def _single_devices(self) -> DeviceSets:
        """Slices of one accelerator fail with it; its id and its node's tell it apart from a whole device."""
        found: dict[str, set[str]] = {}
        for name, device in self.hardware.devices.items():
            whole = name if isinstance(device.slice_of, UnsetType) else f"{device.node}/{device.slice_of}"
            found.setdefault(whole, set()).add(name)
        return {whole: frozenset(devices) for whole, devices in found.items()}

    @cached_property
    def _declared(self) -> Mapping[str, DeviceSets]:
        declared = {} if isinstance(self.fleet.failure_domains, UnsetType) else self.fleet.failure_domains
        return {
            kind: {name: self._devices_of(nodes) for name, nodes in domains.items()}
            for kind, domains in declared.items()
        }

    def _devices_of(self, nodes: Iterable[str]) -> frozenset[str]:
        return frozenset(device for node in nodes for device in self.node_devices.get(node, ()))


@dataclass(frozen=True, kw_only=True)
class Charge:
    """Devices that a trial is charged for: its own, all spares, and what ``charge`` leaves stranded beside them.

    ``undefined`` says in words why the charge is not known; the sets then hold what is known.
    """

    used: frozenset[str]
    spares: frozenset[str]
    stranded: frozenset[str]
    undefined: str | None = None

    @cached_property
    def devices(self) -> frozenset[str]:
        """All devices charged."""
        return self.used | self.spares | self.stranded


def charge(site: Site, used: frozenset[str]) -> Charge:
    """Charge the devices ``used``: by device (default), by whole nodes, or by whole racks (settled question 33)."""
    held = used | site.spares
    mode = "device" if isinstance(site.fleet.charge, UnsetType) else site.fleet.charge
    if mode == "device":
        return Charge(used=used, spares=site.spares - used, stranded=frozenset())
    domains = site.domains(mode)
    taken = [devices for devices in (domains or {}).values() if devices & held]
    whole: frozenset[str] = frozenset().union(*taken)
    outside = sorted(device for device in held - whole if device in site.hardware.devices)
    return Charge(
        used=used,
        spares=site.spares - used,
        stranded=whole - held,
        undefined=f"Device {outside[0]} stands in no {mode} that the contract declares." if outside else None,
    )


def device_types(site: Site, devices: frozenset[str]) -> Mapping[str, int]:
    """Count devices by their type, in order of the types; one that the contract does not have is in none."""
    known = site.hardware.devices
    return dict(sorted(Counter(known[device].type for device in devices if device in known).items()))


def usd_per_hour(site: Site, charged: Charge) -> Fraction | None:
    """Return the price of all charged devices; None where the charge or the price of a device is not known."""
    prices = site.fleet.usd_per_device_hour
    if isinstance(prices, UnsetType) or charged.undefined is not None:
        return None
    counts = device_types(site, charged.devices)
    if sum(counts.values()) < len(charged.devices) or not prices.keys() >= counts.keys():
        return None
    return sum((exact(prices[kind]) * count for kind, count in counts.items()), Fraction(0))


def unpriced(site: Site, charged: Charge) -> str:
    """Say why the charged devices have no price, where ``usd_per_hour`` gives none."""
    if charged.undefined:
        return charged.undefined
    prices = site.fleet.usd_per_device_hour
    known = {} if isinstance(prices, UnsetType) else prices
    types = device_types(site, charged.devices)
    without = sorted(types.keys() - known.keys())
    if not without:
        strangers = sorted(charged.devices - site.hardware.devices.keys())
        return f"The contract has no device {strangers[0]}."
    return f"The contract has no price for device type {without[0]}."
