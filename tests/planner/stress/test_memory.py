"""More memory in use on the fullest device."""

from typing import Any

import pytest

from planner.stress.base import NotInjectable
from tests.planner.documents import ABSENT
from tests.planner.factories import GIB, Changes
from tests.planner.stress.cases import cell, differences, fault, injected, limits, original, summary

PEAK = "/windows/w{}/per_rank/device_used_peak_bytes"
HEADROOM = limits(memory_headroom={"load_point": "saturated"})


def bytes_of(*gib: float) -> list[int]:
    return [int(value * GIB) for value in gib]


def test_the_fullest_rank_grows_by_a_tenth_of_its_device_in_every_window() -> None:
    assert differences(original(), injected("memory_pressure")) == {
        "/windows/w1/per_rank/device_used_peak_bytes/values/3": (53 * GIB, 61 * GIB),
        "/windows/w2/per_rank/device_used_peak_bytes/values/3": (54 * GIB, 62 * GIB),
    }


def test_the_fullest_rank_is_the_one_with_the_least_room_on_its_own_device() -> None:
    changes = Changes(contract=(("/identity/hardware/devices/a0/memory_bytes", 60 * GIB),))
    assert injected("memory_pressure", None, changes)["windows"]["w1"]["per_rank"]["device_used_peak_bytes"][
        "values"
    ] == tuple(bytes_of(56, 51, 52, 53))


def test_activations_grow_with_the_peak_so_that_no_memory_is_unexplained() -> None:
    parts: dict[str, Any] = {
        f"/windows/w1/per_rank/{name}": {"values": bytes_of(9, 9, 9, 9)}
        for name in ("weights_bytes", "activations_bytes")
    }
    changed = injected("memory_pressure", None, Changes(trial=tuple(parts.items())))["windows"]["w1"]["per_rank"]
    assert changed["activations_bytes"]["values"] == tuple(bytes_of(9, 9, 9, 17))
    assert changed["weights_bytes"]["values"] == tuple(bytes_of(9, 9, 9, 9))


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        pytest.param(0.125, ("WITHIN_LIMIT", "memory_headroom", 54 * GIB, 64 * GIB), id="up to the reserve"),
        pytest.param(0.15, ("CAUGHT", "memory_headroom", 54 * GIB, 66 * GIB), id="into the reserve"),
        pytest.param(0, ("NOT_DECLARED", None, None, None), id="a fault of no size"),
    ],
)
def test_the_contract_says_how_large_the_fault_is(share: float, expected: tuple[object, ...]) -> None:
    changes = Changes(contract=(("/stress", {"memory_added_share": share}),))
    assert summary(cell("memory_pressure", HEADROOM, changes)) == expected


def test_a_peak_that_was_over_the_ceiling_before_masks_the_fault() -> None:
    changes = Changes(trial=((PEAK.format(2) + "/values/3", 70 * GIB),))
    assert summary(cell("memory_pressure", HEADROOM, changes)) == ("MASKED", "memory_headroom", 70 * GIB, 78 * GIB)


def test_without_a_recorded_peak_there_is_nothing_to_grow() -> None:
    changes = Changes(trial=tuple((PEAK.format(window), ABSENT) for window in (1, 2)))
    assert fault("memory_pressure", None, changes)[1] == NotInjectable(
        sentence="No peak memory is recorded for any rank."
    )
