"""What a placement takes of a fleet: devices by type, and their price by the hour, as the cost gate charges them.

Rules kept: charged are the devices of the rank map, all spares, and what ``charge`` leaves stranded beside them; a
price that the contract does not declare is missing and never guessed. Not handled: what was measured there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from planner.records.base import UnsetType
from planner.records.contract import Contract, Fleet
from planner.site import Site, charge, device_types, unpriced, usd_per_hour

__all__ = ["HOURS_A_MONTH", "Footprint", "footprint"]

HOURS_A_MONTH = 730
"""365 days of 24 hours, by twelve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footprint:
    """Devices charged: ``used`` by ranks, ``spares`` and ``stranded`` beside them; ``types`` counts all of them.

    ``charge`` is what is charged for: ``device``, ``node`` or ``rack``. ``usd_per_hour`` is None where a price or the
    charge itself is not known, and ``unpriced`` then says why.
    """

    charge: str
    used: int
    spares: int
    stranded: int
    types: Mapping[str, int]
    usd_per_hour: Fraction | None
    unpriced: str = ""

    @property
    def devices(self) -> int:
        """All devices charged."""
        return self.used + self.spares + self.stranded

    @property
    def usd_per_month(self) -> Fraction | None:
        """The price of a month of 730 hours."""
        return None if self.usd_per_hour is None else self.usd_per_hour * HOURS_A_MONTH


def footprint(contract: Contract, devices: Iterable[str]) -> Footprint:
    """Return what a rank map on these devices takes under a contract."""
    fleet = Fleet() if isinstance(contract.fleet, UnsetType) else contract.fleet
    site = Site(hardware=contract.identity.hardware, fleet=fleet)
    charged = charge(site, frozenset(devices))
    hourly = usd_per_hour(site, charged)
    return Footprint(
        charge="device" if isinstance(fleet.charge, UnsetType) else fleet.charge,
        used=len(charged.used),
        spares=len(charged.spares),
        stranded=len(charged.stranded),
        types=device_types(site, charged.devices),
        usd_per_hour=hourly,
        unpriced=unpriced(site, charged) if hourly is None else "",
    )
